package ui

import (
	"fmt"
	"strings"

	"cagenut/node"
)

// curls show how a program does what the page does.
func curls(base, user string, n node.Node) []string {
	sign := ""
	if user != "" {
		sign = "-u " + shellQuote(user) + " "
	}
	call := func(how, path string) string {
		return "curl " + sign + "-H 'X-OpenStack-Ironic-API-Version: 1.41' " + how + base + path + n.UUID
	}
	out := []string{call("", "/v1/nodes/")}
	for _, v := range []node.Event{node.Inspect, node.Abort} {
		out = append(out, call(fmt.Sprintf("-X PUT -H 'Content-Type: application/json' -d '{\"target\":\"%s\"}' \\\n  ", v), "/v1/nodes/")+"/states/provision")
	}
	return append(out, call("", "/cagenut/v1/nodes/")+"/attempts", call("", "/cagenut/v1/nodes/")+"/health")
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
