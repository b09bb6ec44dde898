package node_test

import (
	"strings"
	"testing"

	"cagenut/node"
)

func TestTheRecordOfAMediumIsReadAsItWasWritten(t *testing.T) {
	for _, r := range []node.MediumRecord{{}, {URL: "http://192.0.2.1/a.iso"}, {URL: "https://192.0.2.1/a%20b.iso?sig=x y", In: true}} {
		n := node.Node{DriverInternalInfo: map[string]any{node.BootMediumKey: r.String()}}
		if got := n.BootMedium(); got != r {
			t.Errorf("%q: got %+v, want %+v", r, got, r)
		}
	}
	if r := (node.Node{}).BootMedium(); r != (node.MediumRecord{}) || !node.IsSecretKey(node.BootMediumKey) {
		t.Errorf("without one: %+v", r)
	}
}

func TestTheAddressOfABootMedium(t *testing.T) {
	a := node.Attempt{ID: node.NewUUID(), Token: "t0k3n"}
	path := a.MediumPath("my ipa.iso")
	if !strings.HasSuffix(path, "/my%20ipa.iso") || !strings.Contains(path, a.ID) || strings.Contains(path, "t0k3n") {
		t.Errorf("%s", path)
	}
	for _, other := range []node.Attempt{{ID: a.ID, Token: "another"}, {ID: node.NewUUID(), Token: a.Token}} {
		if other.MediumKey("my ipa.iso") == a.MediumKey("my ipa.iso") || a.MediumKey("other.iso") == a.MediumKey("my ipa.iso") {
			t.Error("a key that fits another attempt, or another file")
		}
	}
	for from, want := range map[string]string{
		path: "/boot/iso/" + a.ID + "/******/my%20ipa.iso", "/boot/ipa.iso": "/boot/ipa.iso", "/boot/iso/x": "/boot/iso/x", "/boot/iso/x/key": "/boot/iso/x/******",
	} {
		if got := node.HideMediumKey(from); got != want {
			t.Errorf("%s became %s, want %s", from, got, want)
		}
	}
	if got := node.PublicAddress("http://u:p@192.0.2.1:6385" + path + "?sig=x#y"); got != "http://192.0.2.1:6385/boot/iso/"+a.ID+"/******/my%20ipa.iso" {
		t.Error(got)
	}
}

func TestAnImageHasAnAddress(t *testing.T) {
	m, err := node.ParseMedium(node.MediumCD, "https://u:p%20q@192.0.2.1/a.iso?x=1")
	if err != nil || m != (node.Medium{Kind: node.MediumCD, URL: "https://192.0.2.1/a.iso?x=1", User: "u", Password: "p q"}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, address := range []string{"", "file:///etc/passwd", "nfs://192.0.2.1/a.iso", "http://", "192.0.2.1/a.iso", "http://[x"} {
		if _, err := node.ParseMedium(node.MediumCD, address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
