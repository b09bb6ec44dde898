package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"cagenut/web/ui"
)

// shown is a list as it was read, in one line for each of its.
func shown(lines []ui.ListLine) string {
	var out []string
	for _, l := range lines {
		if l.Wrong != "" {
			out = append(out, fmt.Sprintf("%d!", l.Number))
			continue
		}
		out = append(out, fmt.Sprintf("%d %s %s %s", l.Number, l.Values["name"], l.Values["address"], l.Values["password"]))
	}
	return strings.Join(out, " | ")
}

func TestAListIsReadAsSpreadsheetsWriteIt(t *testing.T) {
	for name, c := range map[string]struct{ list, want string }{
		"commas":                              {"name,bmc_address,bmc_password\na,192.0.2.1,x\nb,192.0.2.2,y\n", "2 a 192.0.2.1 x | 3 b 192.0.2.2 y"},
		"semicolons and CRLF":                 {"Name;BMC Address;Password\r\na;192.0.2.1;x,y\r\n", "2 a 192.0.2.1 x,y"},
		"tabs":                                {"name\tbmc_address\tpassword\na\t192.0.2.1\tx y\n", "2 a 192.0.2.1 x y"},
		"a lone CR at the end of lines":       {"name,ip\ra,192.0.2.1\r", "2 a 192.0.2.1 "},
		"a byte order mark":                   {"\ufeffname,address\na,192.0.2.1", "2 a 192.0.2.1 "},
		"any order, other names":              {"ip,hostname\n192.0.2.1,a\n", "2 a 192.0.2.1 "},
		"quotes, doubled quotes":              {"name,address,password\n\"a\",192.0.2.1,\"x,\"\"y\"\"; \"\n", `2 a 192.0.2.1 x,"y"; `},
		"a quoted line break":                 {"name,address,description\na,192.0.2.1,\"two\nlines\"\nb,192.0.2.2,\n", "2 a 192.0.2.1  | 4 b 192.0.2.2 "},
		"blank lines":                         {"\n\nname,address\n\na,192.0.2.1\n , \n\nb,192.0.2.2\n", "5 a 192.0.2.1  | 8 b 192.0.2.2 "},
		"blanks around fields":                {"name , address\n a , 192.0.2.1 \n", "2 a 192.0.2.1 "},
		"a short line":                        {"address,name\n192.0.2.1\n", "2  192.0.2.1 "},
		"empty columns at the end":            {"address,name,,\n192.0.2.1,a,,\n", "2 a 192.0.2.1 "},
		"a line with too many fields":         {"address,name\n192.0.2.1,a,more\n192.0.2.2,b\n", "2! | 3 b 192.0.2.2 "},
		"a quote in the middle of a field":    {"name,address\na\"b,192.0.2.1\nc,192.0.2.2\n", "2! | 3 c 192.0.2.2 "},
		"text behind a quote":                 {"name,address\n\"a\"b,192.0.2.1\nc,192.0.2.2\n", "2! | 3 c 192.0.2.2 "},
		"a quote that is never closed":        {"name,address\n\"a,192.0.2.1\nc,192.0.2.2\nd,192.0.2.3\n", "2! | 3 c 192.0.2.2  | 4 d 192.0.2.3 "},
		"two quotes that are never closed":    {"name,address\n\"a,192.0.2.1\nc,192.0.2.2\n\"d,192.0.2.3\ne,192.0.2.4\n", "2! | 3 c 192.0.2.2  | 4! | 5 e 192.0.2.4 "},
		"a NUL":                               {"name,address\na\x00,192.0.2.1\nb,192.0.2.2\n", "2! | 3 b 192.0.2.2 "},
		"a field of ten thousand characters":  {"name,address\n" + strings.Repeat("x", 10000) + ",192.0.2.1\nb,192.0.2.2\n", "2! | 3 b 192.0.2.2 "},
		"right-to-left, emoji and a script":   {"name,address\n\u202eא🦆<script>,192.0.2.1\n", "2 \u202eא🦆<script> 192.0.2.1 "},
		"formulas are text and nothing else":  {"name,address\n=cmd|' /C calc'!A0,192.0.2.1\n", "2 =cmd|' /C calc'!A0 192.0.2.1 "},
		"a password with blanks, when quoted": {"name,address,password\na,192.0.2.1,\" x \"\n", "2 a 192.0.2.1  x "},
		"a numeric password (G38)":            {"name,address,password\na,192.0.2.1,007\n", "2 a 192.0.2.1 007"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := ui.ReadList([]byte(c.list))
			if got := shown(lines); got != c.want || err != nil {
				t.Errorf("read as %q, %v\nwant      %q", got, err, c.want)
			}
		})
	}
}

func TestAListThatCannotBeReadIsRefusedInWords(t *testing.T) {
	for name, c := range map[string]struct{ list, want string }{
		"nothing":                     {"", "empty"},
		"blanks":                      {" \n\n,,\n", "empty"},
		"names of columns alone":      {"name,address\n\n", "nothing below it"},
		"no names of columns":         {"a,192.0.2.1\n", `names a column "a"`},
		"no address":                  {"name,rack\na,R1\n", "bmc_address among them"},
		"a column twice":              {"name,hostname,address\na,b,192.0.2.1\n", "names the column name twice"},
		"an unknown column":           {"name,address,<script>\n", `"<script>"`},
		"UTF-16":                      {"\xff\xfea\x00,\x00", "UTF-16"},
		"Latin 1":                     {"name,address\nm\xfcller,192.0.2.1\n", "UTF-8"},
		"a picture":                   {"\x89PNG\r\n\x1a\n\x00", "UTF-8"},
		"too many lines":              {"address\n" + strings.Repeat("192.0.2.1\n", 5001), "more than 5000"},
		"too large":                   {"address\n" + strings.Repeat("x", 3<<20), "larger than 2 MiB"},
		"a first line that is broken": {"\"name,address\na,192.0.2.1\n", "first line cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if lines, err := ui.ReadList([]byte(c.list)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("read as %.200q, %v", shown(lines), err)
			}
		})
	}
}

func TestAListOfTheLargestSizeIsRead(t *testing.T) {
	lines, err := ui.ReadList([]byte("address\n" + strings.Repeat("192.0.2.1\n", 5000)))
	if len(lines) != 5000 || err != nil {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{
		"name,bmc_address\na,192.0.2.1\n", "\ufeffname;address\r\n\"a\";\"b\"\"\"\r\n", "name\taddress\n\"\n\"\n\"", "address\n\"a\"b\n\"\n\"\"\n", "address\n\x00\n\"a\n\nb\"c\n",
		"\n\n address , name\n\"1\n2\n3\",x\n\"", "ip,u\n1,99999999999999999999\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, err := ui.ReadList(body)
		if err != nil && (lines != nil || err.Error() == "") {
			t.Errorf("%v beside %d lines", err, len(lines))
		}
		last := 0
		for _, l := range lines {
			if l.Number <= last || l.Number > strings.Count(strings.ReplaceAll(string(body), "\r", "\n"), "\n")+1 {
				t.Errorf("line %d behind line %d of %q", l.Number, last, body)
			}
			last = l.Number
			if l.Wrong == "" && len(l.Values) == 0 {
				t.Errorf("line %d of %q is neither good nor bad", l.Number, body)
			}
		}
	})
}
