// Package templates draws the dashboard: templ components, the view structs that they take, all texts that people read,
// and the static files (one style sheet, one script).
//
// View structs are made of strings and bools; web/ui fills them. Of our own rooms the package imports node alone, for
// states and verbs: buttons are drawn from [node.State.Verbs], so that the table of the domain is the only one.
// Nothing here does I/O. Every value is escaped by templ where it is drawn; no text is trusted.
//
// The generated *_templ.go files are committed. After changing a .templ file run
//
//	go tool -modfile=tools.mod templ generate -path templates
package templates
