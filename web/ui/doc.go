// Package ui serves the dashboard below /ui: it turns nodes into the view structs of templates, and form posts into
// calls of the conductor, the same methods that the REST API calls. It decides nothing itself but who may press a button.
//
// Every page is complete without a script, and every action is a form that redirects back. A request with the header
// X-Requested-With: fetch gets fragments instead: what changed, or the reason why nothing did.
package ui
