package boot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"cagenut/node"
)

// DefaultISO is the name of the image that is taken where the folder of boot files holds several.
const DefaultISO = "ipa.iso"

// ISOs know which image a node's server boots from its virtual drive, and where its BMC finds it: the node's deploy_iso,
// else the address of the settings, else an image in the folder of boot files. Images in that folder are served at an
// address of the attempt's own, with its kernel parameters in them. Safe for concurrent use.
type ISOs struct {
	// RamdiskURL is the base of what BMCs fetch from this appliance; "" where they cannot reach it.
	RamdiskURL string
	// URL is the image of nodes that name none; "" takes the one of the folder.
	URL string
	// CallbackURL is where the ramdisk of an attempt reports, with its token; see [Callback].
	CallbackURL func(n node.Node, a node.Attempt) string

	root *os.Root

	mu    sync.Mutex
	known map[string]*image
}

// image is one file, as far as it has been looked through.
type image struct {
	size    int64
	changed time.Time
	turn    chan struct{} // holds one token: whoever has it reads
	scan    scan
}

// OpenISOs opens the folder of boot files, which is made when missing.
func OpenISOs(dir string) (*ISOs, error) {
	root, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	return &ISOs{root: root, known: map[string]*image{}}, nil
}

// Close closes the folder.
func (i *ISOs) Close() error { return i.root.Close() }

// source is where an image comes from.
type source struct {
	file    string // in the folder of boot files, or
	address string // elsewhere
}

// isoURL is what the setting of ISOs.URL is called.
const isoURL = "--iso-url"

// source finds it; *node.Invalid says what is missing or wrong.
func (i *ISOs) source(n node.Node) (source, error) {
	address, what := i.URL, isoURL
	if own := n.DriverInfo["deploy_iso"]; own != nil && own != "" {
		text, ok := node.Text(own)
		if !ok {
			return source{}, node.Invalidf("Invalid value set in driver_info['deploy_iso'] on node %s: it must be a string.", n.UUID)
		}
		address, what = strings.TrimSpace(text), "driver_info['deploy_iso'] on node "+n.UUID
	}
	if address == "" {
		file, err := i.pick()
		if err == nil && i.RamdiskURL == "" {
			err = node.Invalidf("BMCs cannot fetch the ISO %s from this appliance: set --ramdisk-url to the address under which they reach it.", file)
		}
		return source{file: file}, err
	}
	m, err := node.ParseMedium(node.MediumCD, address)
	if err != nil {
		return source{}, node.Invalidf("Invalid value in %s: the ISO has to have an address with http or https.", what)
	}
	if what != isoURL && (m.User != "" || m.Password != "") { // everybody who may read the node reads its driver_info
		return source{}, node.Invalidf("Invalid value in %s: the ISO's address must hold no user and no password, which everybody could read there. --iso-url may.", what)
	}
	if file, ours := strings.CutPrefix(address, i.RamdiskURL+"/boot/"); ours && i.RamdiskURL != "" && !strings.ContainsAny(file, "/?#") {
		if file, err := url.PathUnescape(file); err == nil {
			if _, err := i.stat(file); err != nil {
				return source{}, node.Invalidf("There is no ISO %s in the boot folder of the data directory, which %s names.", file, what)
			}
			return source{file: file}, nil
		}
	}
	return source{address: address}, nil
}

// pick chooses the image of the folder.
func (i *ISOs) pick() (string, error) {
	entries, err := fs.ReadDir(i.root.FS(), ".")
	if err != nil {
		return "", fmt.Errorf("boot: list the folder of boot files: %w", err)
	}
	var found []string
	for _, e := range entries {
		if e.Name() == DefaultISO {
			return DefaultISO, nil
		}
		if strings.EqualFold(path.Ext(e.Name()), ".iso") && !e.IsDir() {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", node.Invalidf("There is no ISO for inspected servers to boot from their virtual drive: set deploy_iso in the node's driver_info, or --iso-url, or put an ISO into the boot folder of the data directory.")
	case 1:
		return found[0], nil
	}
	return "", node.Invalidf("There are several ISOs in the boot folder of the data directory (%s), and none of them is %s, which would be taken: rename one, or set deploy_iso in the node's driver_info, or --iso-url.", strings.Join(found, ", "), DefaultISO)
}

func (i *ISOs) stat(file string) (fs.FileInfo, error) {
	info, err := i.root.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	return info, err
}

// Validate tells whether there is an image for a node. None is read.
func (i *ISOs) Validate(n node.Node) error {
	_, err := i.source(n)
	return err
}

// ISO is the address at which the BMC finds the image of an attempt. An image of the folder is looked through for its
// placeholders first, which is remembered; context.DeadlineExceeded asks for another call, which goes on there. An error says
// why the image will not do; a note says where it cannot carry the attempt's token, so that its report will be "not proven".
func (i *ISOs) ISO(ctx context.Context, n node.Node, a node.Attempt) (address string, notes []string, err error) {
	from, err := i.source(n)
	if err != nil {
		return "", nil, err
	}
	if from.address != "" {
		return from.address, []string{fmt.Sprintf("The ISO %s is not this appliance's and carries no token of this inspection: its report will be %s.", node.PublicAddress(from.address), node.NotProven)}, nil
	}
	s, err := i.scanned(ctx, from.file)
	if err != nil {
		return "", nil, fmt.Errorf("the ISO %s: %w", from.file, err)
	}
	if len(s.places) == 0 {
		notes = append(notes, fmt.Sprintf("The ISO %s has no placeholder for kernel parameters and carries no token of this inspection: its report will be %s.", from.file, node.NotProven))
	} else if _, err := i.text(n, a, s); err != nil {
		return "", nil, fmt.Errorf("the ISO %s: %w", from.file, err)
	}
	return i.RamdiskURL + a.MediumPath(from.file), notes, nil
}

// text is what an attempt's placeholders are overwritten with.
func (i *ISOs) text(n node.Node, a node.Attempt, s scan) (string, error) {
	callback := i.CallbackURL(n, a)
	if !literal(callback) {
		return "", errors.New("the address that the ramdisk reports to cannot stand in a boot configuration")
	}
	text := parameters(callback)
	if room, _ := s.room(); int64(len(text)) > room {
		return "", fmt.Errorf("its placeholder has %d bytes, and the kernel parameters need %d: make it longer", room, len(text))
	}
	return text, nil
}

// scanned looks through a file, unless that has been done since it changed.
func (i *ISOs) scanned(ctx context.Context, file string) (scan, error) {
	f, err := i.root.Open(file)
	if err != nil {
		return scan{}, errors.New("it is not in the boot folder of the data directory")
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return scan{}, errors.New("it is no file")
	}
	k := i.image(file, info)
	select {
	case <-k.turn:
	case <-ctx.Done():
		return scan{}, ctx.Err()
	}
	defer func() { k.turn <- struct{}{} }()
	err = k.scan.run(ctx, f)
	return k.scan, err
}

func (i *ISOs) image(file string, info fs.FileInfo) *image {
	i.mu.Lock()
	defer i.mu.Unlock()
	k := i.known[file]
	if k == nil || k.size != info.Size() || !k.changed.Equal(info.ModTime()) {
		k = &image{size: info.Size(), changed: info.ModTime(), turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		i.known[file] = k
	}
	return k
}
