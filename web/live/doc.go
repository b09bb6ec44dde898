// Package live tells everybody who watches what has changed, by server-sent events: pages of the dashboard get HTML
// fragments, programs get changes as JSON.
//
// A [Hub] holds one subscription to the store and fans out. It never waits for a client: a queue that is full is emptied
// and its client told to begin anew (pages), or served from the store again (programs). Life cycle: [New], then
// [Hub.Run] until its context ends; Run returns when every stream has ended, so end it before the server is shut down.
package live
