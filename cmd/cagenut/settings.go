package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"

	"cagenut/node"
	"cagenut/web"
	"cagenut/web/auth"
	"cagenut/web/ui"
)

// settings are those of `serve` (design.md §7). Each is a flag, an environment variable and a key of the --config file,
// in this order of precedence.
type settings struct {
	Config kong.ConfigFlag `help:"YAML file with settings by the names of the flags."`

	Listen          string `default:"127.0.0.1:6385" env:"CAGENUT_LISTEN" help:"REST API, dashboard and streams."`
	InspectorListen string `default:"127.0.0.1:5050" env:"CAGENUT_INSPECTOR_LISTEN" help:"The embedded inspector's own API; empty: not served."`
	InspectorURL    string `env:"CAGENUT_INSPECTOR_URL" name:"inspector-url" help:"An external inspector service to delegate to; empty: the embedded one."`
	InspectorUser   string `env:"CAGENUT_INSPECTOR_USER" help:"User at an external inspector with basic authentication."`
	InspectorPwFile string `env:"CAGENUT_INSPECTOR_PASSWORD_FILE" name:"inspector-password-file" type:"path" help:"File with that user's password."`
	PublicURL       string `env:"CAGENUT_PUBLIC_URL" name:"public-url" help:"Base of links in answers; empty: taken from the request."`
	RamdiskURL      string `env:"CAGENUT_RAMDISK_URL" name:"ramdisk-url" help:"Base of the ramdisk's callback and boot files, as the servers reach it; empty: the listen address, unless that is loopback or a wildcard."`
	KernelURL       string `env:"CAGENUT_KERNEL_URL" name:"kernel-url" help:"Kernel of the ramdisk; empty: the file ipa.kernel in data-dir/boot."`
	InitrdURL       string `env:"CAGENUT_INITRD_URL" name:"initrd-url" help:"Initrd of the ramdisk; empty: the file ipa.initramfs in data-dir/boot."`
	ISOURL          string `env:"CAGENUT_ISO_URL" name:"iso-url" help:"ISO that servers with the boot interface redfish-virtual-media boot; empty: ipa.iso, or the only *.iso, in data-dir/boot."`

	APIMaxVersion  string   `default:"1.96" env:"CAGENUT_API_MAX_VERSION" name:"api-max-version" help:"Lowers the API ceiling."`
	TrustedProxies []string `env:"CAGENUT_TRUSTED_PROXIES" help:"Addresses or networks whose X-Forwarded headers are believed."`

	DataDir  string `default:"./cagenut-data" env:"CAGENUT_DATA_DIR" help:"Database, keys and boot files."`
	Database string `default:"sqlite" env:"CAGENUT_DATABASE" help:"sqlite: a file in the data folder."`

	Auth           string `default:"basic" enum:"basic,none" env:"CAGENUT_AUTH" help:"basic or none."`
	HTPasswd       string `env:"CAGENUT_HTPASSWD" name:"htpasswd" type:"path" help:"File with further users, bcrypt only; all of them are admins."`
	InsecureNoAuth bool   `env:"CAGENUT_INSECURE_NO_AUTH" name:"insecure-no-auth" help:"Allow --auth none on other addresses than loopback."`

	SessionIdle time.Duration `default:"8h" env:"CAGENUT_SESSION_IDLE" help:"How long a sign-in at the dashboard lasts unused; 0: the default."`
	SessionMax  time.Duration `default:"168h" env:"CAGENUT_SESSION_MAX" help:"How long a sign-in at the dashboard lasts altogether; 0: the default."`

	InspectTimeout        time.Duration `default:"30m" env:"CAGENUT_INSPECT_TIMEOUT" help:"How long a node waits for its ramdisk; 0: for ever."`
	StartTimeout          time.Duration `default:"60s" env:"CAGENUT_START_TIMEOUT" help:"How long a server may take until it boots the ramdisk."`
	PowerSyncInterval     time.Duration `default:"60s" env:"CAGENUT_POWER_SYNC_INTERVAL" help:"How old a node's power state may get; 0: it is never read."`
	InspectorSyncInterval time.Duration `default:"15s" env:"CAGENUT_INSPECTOR_SYNC_INTERVAL" help:"How often an external inspector is asked."`

	InspectionsKept int `default:"10" env:"CAGENUT_INSPECTIONS_KEPT" help:"How many inspections are kept of each node, with reports and ramdisk logs."`
	AuditKept       int `default:"365" env:"CAGENUT_AUDIT_KEPT" help:"For how many days lines of the audit are kept; 0: for ever."`

	hookSettings

	Discovery bool `env:"CAGENUT_DISCOVERY" help:"Let unknown machines that report wait for somebody to accept them; otherwise they are turned away."`

	LogLevel  string `default:"info" enum:"debug,info,warn,error" env:"CAGENUT_LOG_LEVEL" help:"debug, info, warn or error."`
	LogFormat string `default:"text" enum:"text,json" env:"CAGENUT_LOG_FORMAT" help:"text or json."`

	ramdiskOnLoopback bool              // the demo's servers are on this machine
	searchDefaults    ui.SearchDefaults // where the demo's BMCs are
}

// yamlSettings reads the --config file.
func yamlSettings(r io.Reader) (kong.Resolver, error) {
	values := map[string]any{}
	if err := yaml.NewDecoder(r).Decode(&values); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the settings file: %w", err)
	}
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		v, ok := values[flag.Name]
		if !ok {
			return nil, nil
		}
		if list, ok := v.([]any); ok {
			words := make([]string, len(list))
			for i := range list {
				words[i] = fmt.Sprint(list[i])
			}
			return strings.Join(words, ","), nil
		}
		return fmt.Sprint(v), nil
	}), nil
}

// Validate is kong's: a wrong value stops the start with a sentence that names it.
func (s *settings) Validate() error {
	for name, value := range map[string]string{"listen": s.Listen, "inspector-listen": s.InspectorListen} {
		if value == "" && name == "inspector-listen" {
			continue
		}
		if _, _, err := net.SplitHostPort(value); err != nil {
			return fmt.Errorf("--%s=%s: it must be an address with a port, such as 127.0.0.1:6385", name, value)
		}
	}
	for name, value := range map[string]string{"inspector-url": s.InspectorURL, "public-url": s.PublicURL, "ramdisk-url": s.RamdiskURL, "kernel-url": s.KernelURL, "initrd-url": s.InitrdURL, "iso-url": s.ISOURL} {
		if u, err := url.Parse(value); value != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
			return fmt.Errorf("--%s=%s: it must be a URL such as http://192.0.2.1:6385", name, value)
		}
	}
	if _, err := s.maxMinor(); err != nil {
		return err
	}
	if s.Database != "sqlite" {
		return fmt.Errorf("--database=%s: this version keeps its data in SQLite only; leave the setting out", s.Database)
	}
	if _, err := web.ParseProxies(s.TrustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies: %w", err)
	}
	for name, d := range map[string]time.Duration{"inspect-timeout": s.InspectTimeout, "power-sync-interval": s.PowerSyncInterval, "inspector-sync-interval": s.InspectorSyncInterval, "start-timeout": s.StartTimeout, "session-idle": s.SessionIdle, "session-max": s.SessionMax} {
		if d < 0 {
			return fmt.Errorf("--%s=%s: it must not be negative", name, d)
		}
	}
	if s.AuditKept < 0 {
		return fmt.Errorf("--audit-kept=%d: that is no number of days", s.AuditKept)
	}
	if s.InspectionsKept < 1 {
		return fmt.Errorf("--inspections-kept=%d: at least the last inspection is kept", s.InspectionsKept)
	}
	if _, _, err := s.hookSettings.lists(); err != nil {
		return err
	}
	if s.Auth == auth.None && !s.InsecureNoAuth && !(isLoopback(s.Listen) && (s.InspectorListen == "" || isLoopback(s.InspectorListen))) {
		return fmt.Errorf("--auth=none is refused because the appliance listens on more than loopback; use --auth=basic, or --insecure-no-auth if everybody may do everything")
	}
	return nil
}

func (s *settings) maxMinor() (int, error) {
	var minor int
	if n, err := fmt.Sscanf(s.APIMaxVersion, "1.%d", &minor); n != 1 || err != nil || minor < 1 || minor > 96 || fmt.Sprintf("1.%d", minor) != s.APIMaxVersion {
		return 0, fmt.Errorf("--api-max-version=%s: it must be between 1.1 and 1.96", s.APIMaxVersion)
	}
	return minor, nil
}

func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// ramdiskBase is where servers reach the appliance; "" when nobody has said and the listen address does not tell.
func (s *settings) ramdiskBase() string {
	if s.RamdiskURL != "" {
		return strings.TrimSuffix(s.RamdiskURL, "/")
	}
	if s.ramdiskOnLoopback {
		return "http://" + s.Listen
	}
	host, _, _ := net.SplitHostPort(s.Listen)
	if a, err := netip.ParseAddr(host); host == "" || isLoopback(s.Listen) || (err == nil && a.IsUnspecified()) {
		return ""
	}
	return "http://" + s.Listen
}

const (
	kernelFile = "ipa.kernel"
	initrdFile = "ipa.initramfs"
)

func (s *settings) bootDir() string { return filepath.Join(s.DataDir, "boot") }

// bootURL is the address of a boot file: the setting, or the file that the appliance serves itself.
func (s *settings) bootURL(setting, file string) string {
	if setting != "" {
		return setting
	}
	return s.ramdiskBase() + "/boot/" + file
}

func (s *settings) bootSource(setting, file string) string {
	if setting != "" {
		return setting
	}
	return filepath.Join(s.bootDir(), file)
}

func (s *settings) inspectorPassword() (node.Secret, error) {
	return secretIn("--inspector-password-file", s.InspectorPwFile)
}

// secretIn reads a secret from the file that a flag names; "" without one.
func secretIn(flag, path string) (node.Secret, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return node.Secret(strings.TrimRight(string(b), "\r\n")), nil
}

func (s *settings) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong's enum lets only levels pass
	o := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
