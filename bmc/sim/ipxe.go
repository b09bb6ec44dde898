package sim

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// bootPlan is what an iPXE script leads to: a kernel with its parameters, or another script.
type bootPlan struct {
	kernel     string
	initrds    []string
	parameters []string
	chain      string // set when the script hands over to another one
}

// parameter is the value of "name=value" on the kernel line; the last one counts, as in Linux.
func (p bootPlan) parameter(name string) string {
	value := ""
	for _, s := range p.parameters {
		if v, ok := strings.CutPrefix(s, name+"="); ok {
			value = v
		}
	}
	return value
}

// readScript follows an iPXE script as far as a boot script needs: set, kernel, imgfetch, initrd, chain, boot, exit, sanboot.
// Other commands succeed without effect. base is the script's own URL, which relative ones start from.
func readScript(base *url.URL, script, mac string) (bootPlan, error) {
	if !strings.HasPrefix(script, "#!ipxe") {
		return bootPlan{}, errors.New("not an iPXE script: it does not begin with #!ipxe")
	}
	vars := map[string]string{"mac": mac, "net0/mac": mac, "netX/mac": mac, "mac:hexhyp": strings.ReplaceAll(mac, ":", "-"), "net0/mac:hexhyp": strings.ReplaceAll(mac, ":", "-"), "platform": "efi", "buildarch": "x86_64"}
	var p bootPlan
	for line := range strings.Lines(script) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		command, _, _ := strings.Cut(line, "||") // what to do on failure: we give up instead
		words := strings.Fields(expand(command, vars))
		if len(words) == 0 {
			continue
		}
		done, err := p.step(base, words, vars)
		if err != nil {
			return p, fmt.Errorf("iPXE: %s: %w", words[0], err)
		}
		if done {
			return p, nil
		}
	}
	return p, errors.New("the iPXE script boots nothing")
}

// step runs one command; done says that it was the script's last.
func (p *bootPlan) step(base *url.URL, words []string, vars map[string]string) (done bool, err error) {
	args := withoutOptions(words[1:])
	first := func() (string, error) {
		if len(args) == 0 {
			return "", errors.New("no address")
		}
		u, err := base.Parse(args[0])
		if err != nil {
			return "", err
		}
		return u.String(), nil
	}
	switch words[0] {
	case "set":
		if len(args) > 1 {
			vars[args[0]] = strings.Join(args[1:], " ")
		}
	case "kernel":
		if p.kernel, err = first(); err == nil {
			p.parameters = args[1:]
		}
	case "initrd", "imgfetch", "module":
		var u string
		if u, err = first(); err == nil {
			p.initrds = append(p.initrds, u)
		}
	case "chain":
		p.chain, err = first()
		return true, err
	case "boot":
		if p.kernel == "" {
			return true, errors.New("no kernel")
		}
		return true, nil
	case "exit", "sanboot", "poweroff", "reboot", "shell":
		return true, errors.New("the script says not to boot over the network")
	}
	return false, err
}

// withoutOptions drops "--name x", "-n x" and flags before the first argument.
func withoutOptions(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		takesValue := words[0] == "--name" || words[0] == "-n" || words[0] == "--timeout" || words[0] == "-t"
		words = words[1:]
		if takesValue && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// expand puts in ${variables}; unknown ones are empty, as in iPXE.
func expand(s string, vars map[string]string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String() + "${" + rest
		}
		b.WriteString(vars[name])
		s = after
	}
}
