// Package auth decides who may send which request: nobody signs in (`none`), or everybody does with HTTP Basic (`basic`,
// contract.md §7.1), known from the appliance's own users, an htpasswd file, or both.
package auth
