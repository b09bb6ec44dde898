package ipmi

import (
	"context"
	"slices"

	"github.com/bougou/go-ipmi/pkg/command/storage"
)

// Layout of FRU information, by the platform management FRU information storage definition.
const (
	fruHeaderLength = 8
	fruVersion      = 0x01
	fruUnit         = 8 // offsets and lengths count in these bytes
	endOfFields     = 0xc1
	mostFields      = 32
)

// fru is what the FRU of the server itself says of it; "" for what it does not say.
type fru struct {
	chassisSerial                                          string
	boardManufacturer, board, boardSerial                  string
	manufacturer, product, part, version, serial, assetTag string
}

// readFRU reads the FRU of the server itself, number 0. The library's reader never comes back from a BMC that answers with no
// data, and trusts the lengths that it reads.
func readFRU(ctx context.Context, s *session) (f fru, err error) {
	size, err := s.GetFRUInventoryAreaInfo(ctx, 0)
	if err != nil {
		return f, err
	}
	r := fruReader{size: int(size.AreaSizeBytes), chunk: firstChunk, words: size.DeviceAccessedByWords}
	header, err := r.read(ctx, s, 0, fruHeaderLength)
	if err != nil || len(header) < fruHeaderLength || header[0]&0x0f != fruVersion {
		return f, err
	}
	for _, area := range []struct {
		at   byte
		skip int // bytes before the first field
		to   []*string
	}{
		{header[2], 3, []*string{nil, &f.chassisSerial}},
		{header[3], 6, []*string{&f.boardManufacturer, &f.board, &f.boardSerial}},
		{header[4], 3, []*string{&f.manufacturer, &f.product, &f.part, &f.version, &f.serial, &f.assetTag}},
	} {
		if area.at == 0 {
			continue
		}
		data, err := r.area(ctx, s, int(area.at)*fruUnit)
		if err != nil {
			return f, err
		}
		for i, field := range fields(data, area.skip) {
			if i < len(area.to) && area.to[i] != nil {
				*area.to[i] = field
			}
		}
	}
	return f, nil
}

// fields decodes the texts of an area, up to its end.
func fields(data []byte, at int) []string {
	var all []string
	for at < len(data) && data[at] != endOfFields && len(all) < mostFields {
		kind := data[at]
		all = append(all, text(kind, data[at+1:]))
		at += 1 + int(kind&0x3f)
	}
	return all
}

// fruReader reads pieces as large as the BMC sends them.
type fruReader struct {
	size  int
	chunk int
	words bool // offsets and counts are in words of two bytes
}

// area reads an area, or as much of it as there is; nil for one of another version. Checksums are not looked at: people change
// asset tags with tools that leave them wrong.
func (r *fruReader) area(ctx context.Context, s *session, at int) ([]byte, error) {
	head, err := r.read(ctx, s, at, fruUnit)
	if err != nil || len(head) < fruUnit || head[0]&0x0f != fruVersion {
		return nil, err
	}
	rest, err := r.read(ctx, s, at+fruUnit, int(head[1])*fruUnit-fruUnit)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, rest), nil
}

// read reads bytes, or as many as there are.
func (r *fruReader) read(ctx context.Context, s *session, at, count int) ([]byte, error) {
	var data []byte
	for count = min(count, r.size-at); len(data) < count; {
		want := min(r.chunk, count-len(data))
		q := &storage.ReadFRUDataRequest{ReadOffset: uint16(at + len(data)), ReadCount: uint8(want)}
		if r.words {
			q.ReadOffset, q.ReadCount = q.ReadOffset/2, uint8(want/2)
		}
		a := &storage.ReadFRUDataResponse{}
		err := s.Exchange(ctx, q, a)
		if r.chunk > leastChunk && refusedLength(err) {
			r.chunk /= 2
			continue
		}
		if err != nil || len(a.Data) == 0 {
			return data, err
		}
		data = append(data, a.Data[:min(len(a.Data), want)]...)
	}
	return data, nil
}
