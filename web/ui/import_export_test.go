package ui

// ListLine is a line of a list as tests see it.
type ListLine struct {
	Number int
	Values map[string]string
	Wrong  string
}

// ReadList reads a list of servers.
func ReadList(body []byte) ([]ListLine, error) {
	lines, err := readList(body)
	var out []ListLine
	for _, l := range lines {
		out = append(out, ListLine{Number: l.number, Values: l.values, Wrong: l.wrong})
	}
	return out, err
}
