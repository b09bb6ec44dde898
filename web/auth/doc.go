// Package auth decides who may send which request: nobody signs in (`none`), or everybody does (`basic`): programs with HTTP
// Basic (contract.md §7.1), people at the dashboard with a session. Known are the appliance's own users, those of an
// htpasswd file, or both. [Gate] is the middleware and makes sessions, [People] is what admins and people themselves do to
// users. What is refused is told to the audit, and guessing is made slow.
//
// Users and sessions are kept by whoever implements [Book] and [Sessions]; nothing here runs in the background.
package auth
