package main

import (
	"context"
	"time"

	"github.com/switchyard-run/switchyard/operator"
)

// Provider keeps records elsewhere. Both calls may be made again, whatever came of the last one: to put what is there, or to
// delete what is not, is no error.
type Provider interface {
	Put(ctx context.Context, uid, value string) error
	Delete(ctx context.Context, uid string) error
}

// records has the provider keep a record of each ExternalRecord. It looks again each minute, since nobody tells it when the
// provider has lost one. The name at the provider is the uid: an ExternalRecord that is created again is another one there.
func records(provider Provider) *operator.Controller[*ExternalRecord] {
	c := operator.For[*ExternalRecord]("external-records").Every(time.Minute).Timeout(10 * time.Second).Workers(4)
	operator.Status[operator.NoData, recordStatusExtension](c)

	c.Reconcile(func(ctx context.Context, record *ExternalRecord, _ *operator.Context[*ExternalRecord]) error {
		return provider.Put(ctx, operator.Incarnation(record), record.TypedSpec().Value)
	})

	c.Finalize("example.com/external-record", func(ctx context.Context, record *ExternalRecord, _ *operator.StageContext) error {
		return provider.Delete(ctx, operator.Incarnation(record))
	})

	return c
}
