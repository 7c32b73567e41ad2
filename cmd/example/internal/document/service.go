package document

import (
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// What holds where the document does not say.
const (
	defaultStop          = 5 * time.Second
	defaultRestartDelay  = 250 * time.Millisecond
	defaultRestartMax    = 10 * time.Second
	defaultCheckInterval = 2 * time.Second
	defaultCheckTimeout  = time.Second
	defaultCheckFailures = 3
	defaultCheckGrace    = 10 * time.Second

	longest = time.Hour
)

var (
	serviceName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// placed is a service and where its parts stand, for the checks that look at several services at once.
type placed struct {
	Service

	name, port     value
	command, needs []value
}

func readServices(list value) []Service {
	var (
		all      []placed
		services []Service
	)

	for _, item := range list.list() {
		if o, ok := item.object("name", "kind", "command", "env", "needs", "port", "health", "restart", "stop"); ok {
			all = append(all, readService(o))
		}
	}

	checkServices(all)

	for _, s := range all {
		services = append(services, s.Service)
	}

	return services
}

func readService(o object) placed {
	s := placed{
		name: o.field("name"), port: o.field("port"), needs: o.field("needs").list(),
		Service: Service{Kind: Daemon},
	}

	if v, ok := o.required("name"); ok {
		if text, ok := v.text(); ok {
			if serviceName.MatchString(text) {
				s.Name = text
			} else {
				v.refuse("%q is no service name; begin with a lower-case letter and go on with letters, digits and hyphens", text)
			}
		}
	}

	if v := o.field("kind"); v.given() {
		if text, ok := v.text(); ok {
			if s.Kind = Kind(text); s.Kind != Daemon && s.Kind != OneShot {
				v.refuse("%q is no kind of service; write %s or %s", text, Daemon, OneShot)
			}
		}
	}

	if v, ok := o.required("command"); ok {
		s.command = v.list()
		s.Command = texts(s.command, checkWord)

		if v.node.Kind == yaml.SequenceNode && (len(s.command) == 0 || s.command[0].node.Value == "") {
			v.refuse("must begin with a program")
		}
	}

	s.Env = readEnv(o.field("env"))
	s.Needs = texts(s.needs, func(value, string) bool { return true })
	s.Port = readPort(s.port)
	s.Health = readHealth(o.field("health"), s)
	s.Restart = readRestart(o.field("restart"))
	s.Stop = o.field("stop").duration(defaultStop, 10*time.Millisecond, longest)

	return s
}

func readEnv(v value) map[string]string {
	if !v.given() {
		return nil
	}

	if v.node.Kind != yaml.MappingNode {
		v.refuse("must be variables and their values (NAME: value), not %s", what(v.node))

		return nil
	}

	var keys []string

	for i := 0; i < len(v.node.Content); i += 2 {
		keys = append(keys, v.r.value(v.node.Content[i], "").node.Value)
	}

	o, _ := v.object(keys...)

	env := make(map[string]string)

	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		field := o.fields[name]

		switch {
		case !variableName.MatchString(name):
			field.refuse("%q is no name for a variable", name)
		case slices.Contains(provided, name) || strings.HasSuffix(name, addressSuffix):
			field.refuse("%q is set by the control plane", name)
		default:
			if text, ok := field.scalar("a text"); ok && checkWord(field, text) {
				env[name] = text
			}
		}
	}

	if len(env) == 0 {
		return nil
	}

	return env
}

// checkWord accepts what the system lets pass from one program to another.
func checkWord(v value, text string) bool {
	if strings.ContainsRune(text, 0) {
		v.refuse("%q holds a zero byte, where the system ends a text", text)

		return false
	}

	return true
}

func readPort(v value) int {
	if !v.given() {
		return 0
	}

	text, ok := v.scalar("auto or a port number")
	if !ok || text == "auto" {
		return PortAuto
	}

	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		v.refuse("%q is no port; write auto or a number from 1 to 65535", text)

		return 0
	}

	return port
}

func readHealth(v value, s placed) Health {
	if !v.given() {
		return Health{}
	}

	o, ok := v.object("path", "interval", "timeout", "failures", "grace")
	if !ok {
		return Health{}
	}

	h := Health{
		Interval: o.field("interval").duration(defaultCheckInterval, 10*time.Millisecond, longest),
		Timeout:  o.field("timeout").duration(defaultCheckTimeout, 10*time.Millisecond, longest),
		Grace:    o.field("grace").duration(defaultCheckGrace, 10*time.Millisecond, longest),
		Failures: defaultCheckFailures,
	}

	if path, ok := o.required("path"); ok {
		if text, ok := path.text(); ok {
			h.Path = text

			_, err := url.ParseRequestURI(text)
			if err != nil || !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " #") {
				path.refuse("%q is no path of an HTTP request; begin with a slash, and write other characters as %%XX", text)
			}
		}
	}

	if failures := o.field("failures"); failures.given() {
		if text, ok := failures.scalar("a number"); ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 1000 {
				failures.refuse("%q is out of range; from 1 to 1000", text)
			}

			h.Failures = n
		}
	}

	if s.Kind == OneShot {
		v.refuse("a oneshot is ready when it has ended with code 0; it takes no health check")
	} else if !s.port.given() {
		v.refuse("a health check needs the service to have a port")
	}

	return h
}

func readRestart(v value) Restart {
	restart := Restart{Delay: defaultRestartDelay, Max: defaultRestartMax}

	if !v.given() {
		return restart
	}

	o, ok := v.object("delay", "max")
	if !ok {
		return restart
	}

	restart.Delay = o.field("delay").duration(restart.Delay, 10*time.Millisecond, longest)
	restart.Max = o.field("max").duration(max(restart.Max, restart.Delay), 10*time.Millisecond, longest)

	if restart.Max < restart.Delay {
		v.refuse("max (%s) is below delay (%s)", restart.Max, restart.Delay)
	}

	return restart
}

// The variables that the control plane puts into the environment of every service, and of every service with a port.
const (
	// VarSelf is the path of the control plane's own program.
	VarSelf = "SELF"
	// VarRoot is the root directory of the machine.
	VarRoot = "ROOT"
	// VarName is the name of the service.
	VarName = "NAME"
	// VarPort is the port the service shall listen on.
	VarPort = "PORT"
	// VarAddress is the loopback address with the port.
	VarAddress = "ADDR"

	addressSuffix = "_ADDR"
)

var provided = []string{VarSelf, VarRoot, VarName, VarPort, VarAddress}

// AddressVariable names the variable that holds the address of a needed service: web-ui becomes WEB_UI_ADDR.
func AddressVariable(service string) string {
	return strings.ToUpper(strings.ReplaceAll(service, "-", "_")) + addressSuffix
}

// Expand replaces $NAME and ${NAME} in a word of a command; $$ is a dollar sign.
func Expand(word string, lookup func(name string) string) string {
	return os.Expand(word, func(name string) string {
		if name == "$" {
			return "$"
		}

		return lookup(name)
	})
}
