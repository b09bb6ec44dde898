package ui

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cagenut/conductor"
	"cagenut/node"
)

const (
	// listLimit is how large a list may be, in bytes.
	listLimit = 2 << 20
	// fieldLimit is how long one field of it may be, in characters.
	fieldLimit = 4000
	// resumes is how often reading goes on behind a quote that is never closed.
	resumes = 20
)

// importColumn is one that a list may have: its name in our template first, then what else it is called.
type importColumn struct {
	key   string
	names []string
}

var importColumns = []importColumn{
	{"name", []string{"name", "node", "node_name", "hostname", "server"}},
	{"driver", []string{"driver", "protocol", "type"}},
	{"address", []string{"bmc_address", "address", "bmc", "bmc_ip", "ip", "redfish_address", "ipmi_address"}},
	{"port", []string{"bmc_port", "port", "ipmi_port"}},
	{"user", []string{"bmc_user", "user", "username", "bmc_username", "redfish_username", "ipmi_username"}},
	{"password", []string{"bmc_password", "password", "redfish_password", "ipmi_password"}},
	{"fingerprint", []string{"certificate_sha256", "fingerprint", "redfish_certificate_sha256"}},
	{"verify", []string{"verify_ca", "redfish_verify_ca", "verify"}},
	{"system", []string{"system_id", "redfish_system_id"}},
	{"rack", []string{"rack"}},
	{"unit", []string{"rack_unit", "unit", "u"}},
	{"height", []string{"rack_units", "height", "units"}},
	{"macs", []string{"macs", "mac", "mac_address", "mac_addresses"}},
	{"interface", []string{"inspect_interface", "interface"}},
	{"description", []string{"description", "comment", "notes"}},
}

// importLine is one line of a list as it was read.
type importLine struct {
	number int // in the file, the first is 1
	values map[string]string
	wrong  string // why it cannot be read; "" where it can
}

// errList is why a list as a whole cannot be read, as a sentence.
type errList struct{ text string }

func (e *errList) Error() string { return e.text }

func listErrorf(format string, a ...any) error { return &errList{fmt.Sprintf(format, a...)} }

// readList reads a list as spreadsheets write them: apart by commas, semicolons or tabs, with quotes, with or without a byte
// order mark, the columns named in the first line, in any order. A line that cannot be read costs no other line.
func readList(body []byte) ([]importLine, error) {
	if len(body) > listLimit {
		return nil, listErrorf("The list is larger than %d MiB. Split it.", listLimit>>20)
	}
	if bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff}) {
		return nil, listErrorf("The list is in UTF-16. Save it as CSV in UTF-8.")
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) {
		return nil, listErrorf("The list is not in UTF-8. Save it as CSV in UTF-8.")
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	blank := len(body) - len(bytes.TrimLeft(body, "\n\t ,;"))
	first := bytes.Count(body[:blank], []byte("\n"))
	if blank == len(body) {
		return nil, listErrorf("The list is empty.")
	}
	body = body[bytes.LastIndexByte(body[:blank], '\n')+1:]
	r := &listReader{rest: body, line: first, comma: separator(body)}
	header, err := r.next()
	if err != nil {
		return nil, listErrorf("The first line cannot be read: %s.", err)
	}
	keys, err := columnsOf(header.fields)
	if err != nil {
		return nil, err
	}
	var out []importLine
	for {
		rec, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && blankRecord(rec.fields) {
			continue
		}
		if len(out) == conductor.MostEnrolled {
			return nil, listErrorf("The list has more than %d lines. Split it.", conductor.MostEnrolled)
		}
		l := importLine{number: rec.line}
		if err != nil {
			l.wrong = fmt.Sprintf("The line cannot be read: %s.", err)
		} else {
			l.values, l.wrong = valuesOf(keys, rec.fields)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, listErrorf("The list has a first line with names of columns and nothing below it.")
	}
	return out, nil
}

// separator is what the first line is parted by most.
func separator(body []byte) rune {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// columnsOf finds out which column is which.
func columnsOf(header []string) ([]string, error) {
	keys := make([]string, len(header))
	for i, name := range header {
		word := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
		if word == "" {
			continue
		}
		at := slices.IndexFunc(importColumns, func(c importColumn) bool { return slices.Contains(c.names, word) })
		if at < 0 {
			return nil, listErrorf("The first line names a column %q that is not known. Known are: %s.", node.Shorten(name, 60), strings.Join(knownColumns(), ", "))
		}
		if slices.Contains(keys, importColumns[at].key) {
			return nil, listErrorf("The first line names the column %s twice.", importColumns[at].names[0])
		}
		keys[i] = importColumns[at].key
	}
	if !slices.Contains(keys, "address") {
		return nil, listErrorf("The first line has to name the columns, and bmc_address among them.")
	}
	return keys, nil
}

func knownColumns() (names []string) {
	for _, c := range importColumns {
		names = append(names, c.names[0])
	}
	return names
}

func blankRecord(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" })
}

// valuesOf are the fields of a line by column; wrong says why they cannot be taken.
func valuesOf(keys, fields []string) (values map[string]string, wrong string) {
	values = map[string]string{}
	for i, v := range fields {
		if i >= len(keys) || keys[i] == "" {
			if strings.TrimSpace(v) != "" {
				return values, "The line has more fields than the first line has names."
			}
			continue
		}
		if keys[i] != "password" { // blanks may belong to it
			v = strings.TrimSpace(v)
		}
		if utf8.RuneCountInString(v) > fieldLimit {
			return values, fmt.Sprintf("The field %s is longer than %d characters.", keys[i], fieldLimit)
		}
		if strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }) {
			return values, fmt.Sprintf("The field %s holds control characters.", keys[i])
		}
		if v != "" {
			values[keys[i]] = v
		}
	}
	return values, ""
}

// listReader reads records and survives lines that are none.
type listReader struct {
	rest  []byte
	line  int // lines before rest
	comma rune
	csv   *csv.Reader
	tries int
}

type record struct {
	line   int
	fields []string
}

// next is the next record. Its error is in words, for the line that it names; io.EOF at the end.
func (r *listReader) next() (record, error) {
	if r.csv == nil {
		r.csv = csv.NewReader(bytes.NewReader(r.rest))
		r.csv.Comma, r.csv.FieldsPerRecord, r.csv.TrimLeadingSpace = r.comma, -1, r.comma != '\t'
	}
	fields, err := r.csv.Read()
	if err == nil {
		at, _ := r.csv.FieldPos(0)
		return record{line: r.line + at, fields: fields}, nil
	}
	var bad *csv.ParseError
	if !errors.As(err, &bad) {
		return record{}, err
	}
	at := record{line: r.line + bad.StartLine}
	open := errors.Is(bad.Err, csv.ErrQuote) && bad.Line > bad.StartLine || errors.Is(bad.Err, csv.ErrQuote) && r.csv.InputOffset() == int64(len(r.rest))
	if open {
		r.resume(bad.StartLine)
		return at, errors.New("a quote that begins there is never closed, or is followed by other text")
	}
	return at, errors.New("it has a quote in the middle of a field; put the field into quotes, and double those within")
}

// resume goes on in the line behind one whose quote has swallowed the rest.
func (r *listReader) resume(bad int) {
	r.csv = nil
	if r.tries++; r.tries > resumes {
		r.rest = nil
		return
	}
	for range bad {
		_, after, _ := bytes.Cut(r.rest, []byte("\n"))
		r.rest = after
	}
	r.line += bad
}
