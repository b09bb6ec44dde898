package sim

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// drive is one virtual drive and what is in it.
type drive struct {
	id, name string
	types    []string
	console  int // for the web console alone: the status that an insert is answered with; 0: for everybody
	image    string
	inserted bool
	protect  bool
	user     string
	password string
	shownOld time.Time // until then the drive looks as if the old image were in it
}

// boots tells whether a server can boot from the drive as from a CD.
func (d drive) boots() bool { return slices.Contains(d.types, "CD") }

func newDrives() []drive {
	return []drive{
		{id: "1", name: "Virtual CD", types: []string{"CD", "DVD"}},
		{id: "2", name: "Virtual USB", types: []string{"USBStick", "Floppy"}},
	}
}

// drives are what the BMC has at the moment, with those that it has for its web console alone.
func (s *Server) drives() []drive {
	s.machine.mu.Lock()
	real := slices.Clone(s.machine.drives)
	s.machine.mu.Unlock()
	var first []drive
	if s.has(FaultMediaConsole) {
		first = []drive{
			{id: "Console1", name: "Console CD", types: []string{"CD", "DVD"}, console: http.StatusMethodNotAllowed},
			{id: "Console2", name: "Console CD", types: []string{"CD", "DVD"}, console: http.StatusBadRequest},
		}
	}
	if s.has(FaultMediaPatch) {
		first = append(first, drive{id: "RDOC1", name: "Remote Disc On Card", types: []string{"CD", "DVD"}, console: http.StatusBadRequest})
	}
	return append(first, real...)
}

func (s *Server) drive(id string) (drive, bool) {
	for _, d := range s.drives() {
		if d.id == id {
			return d, true
		}
	}
	return drive{}, false
}

// changeDrive replaces one drive's state.
func (s *Server) changeDrive(d drive) {
	s.machine.mu.Lock()
	for i := range s.machine.drives {
		if s.machine.drives[i].id == d.id {
			s.machine.drives[i] = d
		}
	}
	s.machine.mu.Unlock()
	s.news.tell()
}

// Media are the addresses of the images that are inserted, by the drive's id.
func (s *Server) Media() map[string]string {
	all := map[string]string{}
	for _, d := range s.drives() {
		if d.inserted {
			all[d.id] = d.image
		}
	}
	return all
}

// mediaPlaces are the resources that list the drives.
func (s *Server) mediaPlaces() []string {
	switch {
	case s.has(FaultNoMedia):
		return nil
	case s.has(FaultMediaAtSystem):
		return []string{systemPath}
	case s.has(FaultMediaBoth):
		return []string{systemPath, managerPath}
	}
	return []string{managerPath}
}

func (s *Server) mediaDocument(place string, rest []string) map[string]any {
	if !slices.Contains(s.mediaPlaces(), place) {
		return nil
	}
	var docs []map[string]any
	for _, d := range s.drives() {
		docs = append(docs, s.driveDocument(place, d))
	}
	return pick("VirtualMediaCollection", place+"/VirtualMedia", docs, rest)
}

func (s *Server) driveDocument(place string, d drive) map[string]any {
	path := place + "/VirtualMedia/" + d.id
	types := any(d.types)
	if s.has(FaultMediaDVDOnly) && d.boots() {
		types = []string{"DVD"}
	}
	if s.has(FaultMediaNoTypes) {
		types = []string{}
	}
	doc := resource("VirtualMedia.v1_6_3.VirtualMedia", path, map[string]any{
		"Id": d.id, "Name": d.name, "MediaTypes": types, "Inserted": d.inserted, "WriteProtected": d.protect, "ConnectedVia": "NotConnected", "Image": nil, "ImageName": nil,
		"Status": healthy(),
	})
	if d.inserted {
		doc["Image"], doc["ImageName"], doc["ConnectedVia"] = d.image, imageName(d.image), "URI"
	}
	if !d.inserted && d.image != "" { // it was ejected
		switch {
		case time.Now().Before(d.shownOld):
			doc["Image"], doc["Inserted"], doc["ConnectedVia"] = d.image, true, "URI"
		case s.has(FaultMediaImageStays):
			doc["Image"] = d.image
		}
	}
	if !s.has(FaultMediaPatch) {
		doc["Actions"] = map[string]any{
			"#VirtualMedia.InsertMedia": map[string]any{"target": path + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  map[string]any{"target": path + "/Actions/VirtualMedia.EjectMedia"},
		}
	}
	return doc
}

func imageName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path[lastSlash(u.Path)+1:]
}

func lastSlash(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}

// mediumBody is what an insert may say.
type mediumBody struct {
	Image                                *string
	Inserted, WriteProtected             *bool
	UserName, Password                   *string
	MediaType                            *string
	TransferProtocolType, TransferMethod *string
}

func (s *Server) insertMedium(w http.ResponseWriter, r *http.Request) {
	d, ok := s.driveAsked(w, r)
	if !ok {
		return
	}
	var body mediumBody
	if !strictly(r, &body) {
		refuse(w, http.StatusBadRequest, "ActionParameterUnknown", "The action was submitted with a parameter that it does not know.")
		return
	}
	s.insert(w, d, body)
}

func (s *Server) insert(w http.ResponseWriter, d drive, body mediumBody) {
	if status, id, message := s.refuseMedium(d, body); status != 0 {
		refuse(w, status, id, message)
		return
	}
	attached := body.Inserted == nil || *body.Inserted
	if s.has(FaultMediaFullBody) && (body.Inserted == nil || body.WriteProtected == nil) {
		attached = false
	}
	d.image, d.inserted, d.shownOld = *body.Image, attached, time.Time{}
	d.protect = body.WriteProtected == nil || *body.WriteProtected
	d.user, d.password = text(body.UserName), text(body.Password)
	switch fails, late := s.delayOf(FaultMediaTaskFails), s.delayOf(FaultMediaLate); {
	case s.strikes(FaultMediaTaskFails):
		s.failLater(w, fails, errUnreadable)
	case s.strikes(FaultMediaLate):
		w.WriteHeader(http.StatusNoContent)
		s.later(late, func() { s.changeDrive(d) })
	default:
		s.finish(w, FaultMediaTask, func() { s.changeDrive(d) })
	}
}

// errUnreadable is what a BMC says of an image that it cannot fetch.
const errUnreadable = "The image cannot be read from the given address."

// refuseMedium is why an image is not taken; status 0 when it is.
func (s *Server) refuseMedium(d drive, body mediumBody) (status int, id, message string) {
	u, err := url.Parse(text(body.Image))
	switch {
	case d.console != 0:
		return d.console, "ActionNotSupported", "The drive serves the web console alone."
	case s.has(FaultLicence):
		return http.StatusForbidden, "OemLicenseNotPassed", "Not licensed to perform this request. The following licenses DCMS were needed."
	case s.strikes(FaultMediaBusy):
		return http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable. Retry in 1 seconds."
	case s.strikes(FaultMediaRefused):
		return http.StatusBadRequest, "ActionParameterValueError", errUnreadable
	case s.has(FaultMediaTransfer) && (body.TransferProtocolType == nil || body.TransferMethod == nil):
		return http.StatusBadRequest, "ActionParameterMissing", "The action InsertMedia requires that the parameters TransferProtocolType and TransferMethod be present in the request body."
	case s.has(FaultMediaCredentials) && (text(body.UserName) == "" || text(body.Password) == ""):
		return http.StatusBadRequest, "ActionParameterMissing", "The action InsertMedia requires that the parameters UserName and Password be present in the request body."
	case s.has(FaultMediaImageOnly) && (body.Inserted != nil || body.WriteProtected != nil):
		return http.StatusBadRequest, "ActionParameterUnknown", "The action InsertMedia was submitted with the invalid parameter Inserted."
	case time.Now().Before(d.shownOld):
		return http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error."
	case d.inserted:
		return http.StatusConflict, "ResourceInUse", "A medium is in the drive already."
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return http.StatusBadRequest, "ActionParameterValueFormatError", "Image is not an address of http or https."
	}
	return 0, "", ""
}

func (s *Server) ejectMedium(w http.ResponseWriter, r *http.Request) {
	d, ok := s.driveAsked(w, r)
	if !ok {
		return
	}
	if s.has(FaultEjectBody) && r.ContentLength == 0 {
		refuse(w, http.StatusUnsupportedMediaType, "HeaderInvalid", "The request has no body.")
		return
	}
	s.eject(w, d)
}

func (s *Server) eject(w http.ResponseWriter, d drive) {
	switch {
	case d.console != 0:
		refuse(w, d.console, "ActionNotSupported", "The drive serves the web console alone.")
		return
	case s.has(FaultLicence):
		refuse(w, http.StatusForbidden, "OemLicenseNotPassed", "Not licensed to perform this request. The following licenses DCMS were needed.")
		return
	case !d.inserted && s.has(FaultEjectEmpty):
		refuse(w, http.StatusBadRequest, "NoMediaInserted", "There is no medium in the drive.")
		return
	}
	delay := s.delayOf(FaultMediaStale)
	stale := d.inserted && s.strikes(FaultMediaStale)
	if stale {
		d.shownOld = time.Now().Add(delay)
	}
	if !stale && !s.has(FaultMediaImageStays) {
		d.image = ""
	}
	d.inserted, d.user, d.password = false, "", ""
	s.finish(w, FaultMediaTask, func() { s.changeDrive(d) })
}

// patchMedium changes a drive of a BMC that has no actions for it.
func (s *Server) patchMedium(w http.ResponseWriter, r *http.Request) {
	d, ok := s.driveAsked(w, r)
	if !ok {
		return
	}
	var body mediumBody
	switch {
	case !s.has(FaultMediaPatch):
		refuse(w, http.StatusMethodNotAllowed, "OperationNotAllowed", "The drive is changed by its actions.")
	case !strictly(r, &body):
		refuse(w, http.StatusBadRequest, "PropertyUnknown", "The request body holds properties that cannot be changed.")
	case !s.precondition(w, r, tagOf(s.driveDocument(rootPath+"/"+r.PathValue("family")+"/1", d))):
	case body.Image == nil || *body.Image == "" || (body.Inserted != nil && !*body.Inserted):
		s.eject(w, d)
	default:
		s.insert(w, d, body)
	}
}

// driveAsked finds the drive of a request, and answers where there is none.
func (s *Server) driveAsked(w http.ResponseWriter, r *http.Request) (drive, bool) {
	place := rootPath + "/" + r.PathValue("family") + "/1"
	d, found := s.drive(r.PathValue("id"))
	if !found || !slices.Contains(s.mediaPlaces(), place) {
		refuseMissing(w, r)
		return drive{}, false
	}
	return d, true
}

// finish does what was asked: at once, or with a task where the BMC has that fault.
func (s *Server) finish(w http.ResponseWriter, task Fault, do func()) {
	delay := s.delayOf(task)
	if !s.strikes(task) {
		do()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	id := s.tasks.begin()
	s.later(delay, func() {
		do()
		s.tasks.end(id)
		s.news.tell()
	})
	s.answerTask(w, id)
}

// failLater answers with a task that fails.
func (s *Server) failLater(w http.ResponseWriter, delay time.Duration, why string) {
	id := s.tasks.begin()
	s.later(delay, func() {
		s.tasks.fail(id, why)
		s.news.tell()
	})
	s.answerTask(w, id)
}

func (s *Server) later(delay time.Duration, do func()) {
	s.rack.start(func() {
		if pause(s.ctx, delay) {
			do()
		}
	})
}

func (s *Server) answerTask(w http.ResponseWriter, id string) {
	w.Header().Set("Location", tasksPath+"/"+id+"/Monitor")
	answerJSON(w, http.StatusAccepted, s.taskDocument(id))
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
