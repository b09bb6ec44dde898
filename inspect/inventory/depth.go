package inventory

import "cagenut/node"

// maxDepth is how deep arrays and objects may nest (contract.md §1.5).
const maxDepth = 25

// checkDepth refuses a document that nests too deep. It reads the bytes once and keeps nothing, so the deepest body costs
// no more than the flattest; what is no JSON at all is left to the decoder (G26).
func checkDepth(body []byte) error {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i += textEnd(body[i:]) - 1
		case '[', '{':
			if depth++; depth > maxDepth {
				return node.Invalidf("The JSON document is nested deeper than %d levels.", maxDepth)
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}
