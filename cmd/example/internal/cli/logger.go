package cli

import (
	"io"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger writes one line an event, for people.
func newLogger(out io.Writer, level zapcore.Level) *zap.Logger {
	config := zap.NewDevelopmentEncoderConfig()
	config.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	config.EncodeLevel = zapcore.CapitalLevelEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	config.ConsoleSeparator = " "

	core := zapcore.NewCore(zapcore.NewConsoleEncoder(config), zapcore.Lock(zapcore.AddSync(out)), level)

	if level > zapcore.DebugLevel {
		core = terse{core}
	}

	return zap.New(core)
}

// terse leaves out what a reader of states, not of passes, can do without: the coordinates that the engine adds to
// every line about a resource, and fields that say nothing.
type terse struct{ zapcore.Core }

// With implements [zapcore.Core].
func (t terse) With(fields []zapcore.Field) zapcore.Core {
	return terse{t.Core.With(shorten(fields))}
}

// Check implements [zapcore.Core].
func (t terse) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if t.Enabled(entry.Level) {
		return checked.AddCore(entry, t)
	}

	return checked
}

// Write implements [zapcore.Core].
func (t terse) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	return t.Core.Write(entry, shorten(fields))
}

func shorten(fields []zapcore.Field) []zapcore.Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f zapcore.Field) bool {
		return f.Key == "namespace" || f.Key == "type" || f.Key == "id" || f.Type == zapcore.StringType && f.String == ""
	})
}
