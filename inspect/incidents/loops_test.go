package incidents_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
)

// sets returns something to do that sets the text of a resource to what it was, and more.
func sets(kind resource.Type, text func(before string) string) func(context.Context, controller.QRuntime, resource.ID) error {
	return func(ctx context.Context, r controller.QRuntime, id resource.ID) error {
		time.Sleep(time.Second) // time goes by, although nobody rests

		return r.Modify(ctx, newThing(kind, id, ""), func(res resource.Resource) error {
			res.(*thing).spec.Text = text(res.(*thing).spec.Text)

			return nil
		}, controller.WithModifyNoOwner())
	}
}

// counts returns the number after the one before.
func counts(before string) string {
	var n int

	_, _ = fmt.Sscan(before, &n) // nothing is 0

	return fmt.Sprint(n + 1)
}

// loops are things that do not come to rest.
var loops = []incident{
	{
		name: "two controllers that wake each other",
		root: `PingController writes Balls\(app/one\), which wakes PongController writes Bats\(app/one\), which wakes PingController again`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "PingController", from: "Bats", writes: "Balls", does: sets("Balls", counts)},
				&maker{name: "PongController", from: "Balls", writes: "Bats", does: sets("Bats", counts)},
			).start()
			w.write("Bats", "one", "0")
			w.passes(time.Minute)

			return w.why("Balls", "one")
		},
	},
	{
		name: "a controller that wakes itself",
		root: `StampController keeps waking itself by what it writes`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "StampController", from: "Letters", writes: "Letters", does: sets("Letters", counts)}).start()
			w.write("Letters", "one", "0")
			w.passes(time.Hour)

			return w.blockedController("StampController")
		},
	},
	{
		name: "why a controller runs that wakes itself",
		root: `StampController writes Letters\(app/one\), which wakes it again`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "StampController", from: "Letters", writes: "Letters", does: sets("Letters", counts)}).start()
			w.write("Letters", "one", "0")
			w.passes(time.Hour)

			return w.whyController("StampController")
		},
	},
	{
		name: "a storm of retries",
		root: `FetchController for Feeds\(app/news\) fails, and is tried again: dial tcp 192.0.2.9:443: connection refused`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "FetchController", from: "Feeds", to: "Articles", does: func(_ context.Context, _ controller.QRuntime, id resource.ID) error {
				if id == "news" {
					return errors.New("dial tcp 192.0.2.9:443: connection refused")
				}

				return nil
			}}).start()
			w.write("Feeds", "blog", "https://blog.example")
			w.write("Feeds", "news", "https://news.example")
			w.passes(10 * time.Minute)

			return w.whyController("FetchController")
		},
	},
	{
		name: "a controller that asks to be run again",
		root: `PollController for Feeds\(app/news\) has asked to be run again`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "PollController", from: "Feeds", writes: "Articles", does: func(ctx context.Context, r controller.QRuntime, id resource.ID) error {
				if err := sets("Articles", counts)(ctx, r, id); err != nil {
					return err
				}

				return controller.NewRequeueInterval(10 * time.Second)
			}}).start()
			w.write("Feeds", "news", "https://news.example")
			w.passes(time.Hour)

			return w.why("Articles", "news")
		},
	},
	{
		name: "two rivals on one field",
		root: `(DayController, NightController|NightController, DayController) undo each other on Lamps\(app/hall\): spec.text`,
		happens: func(w *world) string {
			w.with(rival("DayController", "off"), rival("NightController", "on")).start()
			w.passes(10 * time.Minute)

			return w.blocked("Lamps", "hall")
		},
	},
	{
		name: "why a field goes back and forth", circles: true,
		root: `DayController, NightController undo each other on Lamps\(app/hall\)`,
		happens: func(w *world) string {
			w.with(rival("DayController", "off"), rival("NightController", "on")).start()
			w.passes(10 * time.Minute)

			return w.why("Lamps", "hall")
		},
	},
	{
		name: "a storm that is too large to remember",
		root: `and \d+ more changes`,
		happens: func(w *world) string {
			w.with(&classic{
				name: "ReportController", inputs: weak("Sensors"), outputs: exclusive("Reports"),
				pass: func(ctx context.Context, r controller.Runtime) error {
					list, err := r.List(ctx, pointer("Sensors", ""))
					if err != nil {
						return err
					}

					if err := r.Modify(ctx, newThing("Reports", "all", ""), func(res resource.Resource) error {
						res.(*thing).spec.Text = fmt.Sprintf("%d sensors", len(list.Items))

						return nil
					}); err != nil {
						return err
					}

					time.Sleep(time.Minute)

					return nil
				},
			}).start()

			for i := range 40 {
				require.NoError(w.t, w.state.Create(w.t.Context(), newThing("Sensors", fmt.Sprintf("s%02d", i), "21 °C")))
			}

			w.passes(2 * time.Minute)

			return w.why("Reports", "all")
		},
	},
}

// rival is a controller that will have lamps be in a state.
func rival(name, text string) *classic {
	return &classic{
		name: name, inputs: weak("Lamps"), outputs: shared("Lamps"),
		pass: func(ctx context.Context, r controller.Runtime) error {
			return r.Modify(ctx, newThing("Lamps", "hall", ""), func(res resource.Resource) error {
				res.(*thing).spec.Text = text

				return nil
			}, controller.WithModifyNoOwner())
		},
	}
}
