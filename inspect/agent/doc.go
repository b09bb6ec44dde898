// Package agent is the inspect interface `agent`: the appliance boots the server into the ramdisk itself, and the report
// comes to its own door. Nothing outside the database knows of an attempt, so an abort needs nobody's consent.
package agent
