package boot

import "strings"

// parameters are what a ramdisk has to find on its kernel's command line.
func parameters(callback string) string {
	return "ipa-inspection-callback-url=" + callback + " ipa-inspection-collectors=default,logs,pci-devices,lldp ipa-collect-lldp=1"
}

// plain tells whether a script takes the text as it is: no blanks, no line ends, nothing that iPXE would expand.
func plain(s string) bool {
	return !strings.Contains(s, "${") && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// literal tells whether a boot loader takes the text as it is: nothing that GRUB or ISOLINUX would read as more than a word.
func literal(s string) bool {
	return plain(s) && !strings.ContainsAny(s, "\\'\"$`;|&<>{}()*#")
}
