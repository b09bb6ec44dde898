package inventory

import "cagenut/node"

// maxDepth is how deep arrays and objects may nest (contract.md §1.5).
const maxDepth = 25

// checkDepth refuses a document that nests too deep. It reads the bytes once and keeps nothing, so the deepest body costs
// no more than the flattest; what is no JSON at all is left to the decoder (G26).
func checkDepth(body []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return node.Invalidf("The JSON document is nested deeper than %d levels.", maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}
