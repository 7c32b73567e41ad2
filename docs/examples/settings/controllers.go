package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/operator"
)

// forms are the same operator in three forms.
var forms = map[string]func() *operator.Controller[*Settings]{"scope": scope, "stages": stages, "cases": cases}

// scope makes a ConfigMap of each Settings and reports the checksum of what it reads back. Settings that are suspended, or have
// no message, are left as they are.
func scope() *operator.Controller[*Settings] {
	c := operator.For[*Settings]("settings")
	status := operator.Status[Checksum, settingsStatusExtension](c)
	operator.Owns[*ConfigMap](c)

	configuration := c.Scope("configuration", "ConfigurationReady")

	suspended := configuration.Case("Suspended", func(s *Settings) bool { return s.TypedSpec().Suspended },
		func(context.Context, *Settings, *operator.StageContext) error {
			return operator.Wait("Suspended", operator.After(5*time.Minute))
		})

	configuration.Case("MissingMessage", func(s *Settings) bool { return strings.TrimSpace(s.TypedSpec().Message) == "" },
		func(context.Context, *Settings, *operator.StageContext) error {
			return operator.Wait("InputMissing", operator.Message("set the message to some text"))
		}, suspended)

	configuration.Otherwise(func(ctx context.Context, s *Settings, c *operator.StageContext) error {
		return operator.EnsureSpec(ctx, c, &ConfigMap{}, ConfigMapSpec{Data: map[string]string{"message": s.TypedSpec().Message}})
	})

	c.Stage("ChecksumReady", func(ctx context.Context, s *Settings, c *operator.StageContext) error {
		config, err := operator.Get[*ConfigMap](ctx, c, s.Metadata().ID())
		if err == nil {
			sum := sha256.Sum256(fmt.Appendf(nil, "%q", config.TypedSpec().Data))
			status.Set(c, func(data *Checksum) { data.SHA256 = hex.EncodeToString(sum[:]) })
		}

		return err
	}, configuration)

	return c
}

// stages is the same in two stages: there is nothing to tell apart but what is suspended.
func stages() *operator.Controller[*Settings] {
	c := operator.For[*Settings]("settings")
	status := operator.Status[Checksum, settingsStatusExtension](c)
	operator.Owns[*ConfigMap](c)

	configure := c.Stage("ConfigurationReady", func(ctx context.Context, s *Settings, c *operator.StageContext) error {
		if s.TypedSpec().Suspended {
			return operator.Wait("Suspended", operator.After(5*time.Minute))
		}

		return operator.EnsureSpec(ctx, c, &ConfigMap{}, ConfigMapSpec{Data: map[string]string{"message": s.TypedSpec().Message}})
	})

	c.Stage("ChecksumReady", func(ctx context.Context, s *Settings, c *operator.StageContext) error {
		config, err := operator.Get[*ConfigMap](ctx, c, s.Metadata().ID())
		if err == nil {
			sum := sha256.Sum256(fmt.Appendf(nil, "%q", config.TypedSpec().Data))
			status.Set(c, func(data *Checksum) { data.SHA256 = hex.EncodeToString(sum[:]) })
		}

		return err
	}, configure)

	return c
}

// cases has no stages, so that its one condition is Ready, and nothing runs after it.
func cases() *operator.Controller[*Settings] {
	c := operator.For[*Settings]("settings")
	operator.Status[Checksum, settingsStatusExtension](c)
	operator.Owns[*ConfigMap](c)

	c.Case("Suspended", func(s *Settings) bool { return s.TypedSpec().Suspended },
		func(context.Context, *Settings, *operator.Context[*Settings]) error {
			return operator.Wait("Suspended", operator.After(5*time.Minute))
		})

	c.Otherwise(func(ctx context.Context, s *Settings, c *operator.Context[*Settings]) error {
		return operator.EnsureSpec(ctx, c, &ConfigMap{}, ConfigMapSpec{Data: map[string]string{"message": s.TypedSpec().Message}})
	})

	return c
}
