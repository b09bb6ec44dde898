package finder

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"strconv"
	"time"

	"cagenut/node"
)

// The two questions that need no session: Get Channel Authentication Capabilities (IPMI 2.0 §22.13) in a packet of IPMI 1.5,
// as every BMC takes it, and the presence ping of RMCP (§13.2.3), which a few answer that keep silent to the other.
var (
	askCapabilities = []byte{
		0x06, 0x00, 0xff, 0x07, // RMCP: version 1.0, no acknowledgement, IPMI
		0x00, 0, 0, 0, 0, 0, 0, 0, 0, // no authentication, no session
		0x09,             // bytes of message
		0x20, 0x18, 0xc8, // to the BMC, application, checksum
		0x81, 0x00, 0x38, // from a console, the command
		0x8e, 0x04, // this channel, also what is new in 2.0; administrator
		0xb5, // checksum
	}
	askPresence = []byte{
		0x06, 0x00, 0xff, 0x06, // RMCP: ASF
		0x00, 0x00, 0x11, 0xbe, // of ASF's own
		0x80, 0x2a, 0x00, 0x00, // ping, tag, no data
	}
)

// Where things are in the answers.
const (
	classAt         = 3
	classASF        = 0x06
	classIPMI       = 0x07
	messageAt       = 14 // of an IPMI 1.5 packet without authentication
	functionAt      = messageAt + 1
	commandAt       = messageAt + 5
	codeAt          = messageAt + 6
	authAt          = codeAt + 2
	extendedAt      = codeAt + 4
	pongKindAt      = 8
	pongEntitiesAt  = 20
	pong            = 0x40
	appAnswer       = 0x1c
	bitExtended     = 0x80
	bitSpeaksTwo    = 0x02
	bitSupportsIPMI = 0x80
	largestDatagram = 1024
)

// askIPMI sends both questions until one is answered; nil where nobody does.
func (f *Finder) askIPMI(ctx context.Context, at netip.Addr, port int) *node.FoundIPMI {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", net.JoinHostPort(at.String(), strconv.Itoa(port)))
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for ctx.Err() == nil {
		for _, question := range [][]byte{askCapabilities, askPresence} {
			if _, err := conn.Write(question); err != nil {
				return nil // nobody listens there
			}
		}
		version, answered := f.hear(ctx, conn)
		if answered {
			if version == "" {
				return nil
			}
			return &node.FoundIPMI{Port: port, Version: version}
		}
	}
	return nil
}

// hear waits for an answer until the questions are to be asked again. An answer without a version is that nobody is there.
// A pong alone says that there is IPMI, but not which: the other answer may be on its way and is waited for.
func (f *Finder) hear(ctx context.Context, conn net.Conn) (version string, answered bool) {
	until := time.Now().Add(f.o.Again)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	_ = conn.SetReadDeadline(until) // it fails on a closed socket alone
	if ctx.Err() != nil {
		return "", true
	}
	packet := make([]byte, largestDatagram)
	for {
		n, err := conn.Read(packet)
		if timeout, ok := err.(net.Error); err != nil && (!ok || !timeout.Timeout()) {
			return "", true // nobody listens there
		}
		if err != nil {
			return version, version != ""
		}
		said, final := understand(packet[:n])
		if final {
			return said, true
		}
		if said != "" {
			version = said
		}
	}
}

// understand reads a datagram: "" for one that is no answer. final says that no better one will come.
func understand(b []byte) (version string, final bool) {
	if len(b) <= classAt || b[0] != 0x06 {
		return "", false
	}
	switch b[classAt] & 0x1f {
	case classASF:
		if len(b) > pongEntitiesAt && bytes.Equal(b[4:8], askPresence[4:8]) && b[pongKindAt] == pong && b[pongEntitiesAt]&bitSupportsIPMI != 0 {
			return "1.5", false
		}
	case classIPMI:
		if len(b) <= codeAt || b[functionAt] != appAnswer || b[commandAt] != askCapabilities[commandAt] {
			return "", false
		}
		if b[codeAt] == 0 && len(b) > extendedAt && b[authAt]&bitExtended != 0 && b[extendedAt]&bitSpeaksTwo != 0 {
			return "2.0", true
		}
		return "1.5", true // also where it refuses the question: it understood that much
	}
	return "", false
}
