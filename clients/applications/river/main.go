// A queue of jobs: its migrations, jobs in transactions, unique jobs, retries, a leader.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

type Sum struct {
	A int `json:"a"`
}

func (Sum) Kind() string { return "sum" }

type Stumble struct{}

func (Stumble) Kind() string { return "stumble" }

type Once struct {
	Key string `json:"key" river:"unique"`
}

func (Once) Kind() string { return "once" }

var total, stumbles, once atomic.Int64

type sumWorker struct{ river.WorkerDefaults[Sum] }

func (sumWorker) Work(_ context.Context, job *river.Job[Sum]) error {
	total.Add(int64(job.Args.A))
	return nil
}

type stumbleWorker struct{ river.WorkerDefaults[Stumble] }

func (stumbleWorker) Work(context.Context, *river.Job[Stumble]) error {
	if stumbles.Add(1) < 3 {
		return errors.New("meant")
	}
	return nil
}
func (stumbleWorker) NextRetry(*river.Job[Stumble]) time.Time { return time.Now() }

type onceWorker struct{ river.WorkerDefaults[Once] }

func (onceWorker) Work(context.Context, *river.Job[Once]) error {
	once.Add(1)
	return nil
}

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", name)
}

func until(what func() bool) error {
	for i := 0; i < 1500; i++ {
		if what() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("not within 15 s")
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	step("migrations", func() error {
		migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			return err
		}
		for _, direction := range []rivermigrate.Direction{rivermigrate.DirectionUp, rivermigrate.DirectionDown, rivermigrate.DirectionUp} {
			target := 0
			if direction == rivermigrate.DirectionDown {
				target = -1
			}
			if _, err := migrator.Migrate(ctx, direction, &rivermigrate.MigrateOpts{TargetVersion: target}); err != nil {
				return err
			}
		}
		result, err := migrator.Validate(ctx, nil)
		if err != nil {
			return err
		}
		if !result.OK {
			return fmt.Errorf("%v", result.Messages)
		}
		return nil
	})
	workers := river.NewWorkers()
	river.AddWorker(workers, sumWorker{})
	river.AddWorker(workers, stumbleWorker{})
	river.AddWorker(workers, onceWorker{})
	client, err := river.NewClient(driver, &river.Config{
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
		Workers:           workers,
		FetchPollInterval: time.Second,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		panic(err)
	}
	step("start", func() error { return client.Start(ctx) })
	time.Sleep(time.Second)
	step("jobs", func() error {
		for i := 1; i <= 10; i++ {
			if _, err := client.Insert(ctx, Sum{A: i}, nil); err != nil {
				return err
			}
		}
		return until(func() bool { return total.Load() == 55 })
	})
	step("jobs of a transaction", func() error {
		tx, err := pool.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := client.InsertTx(ctx, tx, Sum{A: 1000}, nil); err != nil {
			return err
		}
		if err := tx.Rollback(ctx); err != nil {
			return err
		}
		many := []river.InsertManyParams{}
		for i := 0; i < 500; i++ {
			many = append(many, river.InsertManyParams{Args: Sum{A: 1}})
		}
		if tx, err = pool.Begin(ctx); err != nil {
			return err
		}
		if _, err := client.InsertManyFastTx(ctx, tx, many); err != nil {
			return err
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		return until(func() bool { return total.Load() == 555 })
	})
	step("unique jobs", func() error {
		options := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}, ScheduledAt: time.Now().Add(time.Hour)}
		first, err := client.Insert(ctx, Once{Key: "a"}, options)
		if err != nil {
			return err
		}
		second, err := client.Insert(ctx, Once{Key: "a"}, options)
		if err != nil {
			return err
		}
		if first.UniqueSkippedAsDuplicate || !second.UniqueSkippedAsDuplicate {
			return fmt.Errorf("%v, %v", first.UniqueSkippedAsDuplicate, second.UniqueSkippedAsDuplicate)
		}
		_, err = client.JobCancel(ctx, first.Job.ID)
		return err
	})
	step("retries", func() error {
		inserted, err := client.Insert(ctx, Stumble{}, nil)
		if err != nil {
			return err
		}
		return until(func() bool {
			job, err := client.JobGet(ctx, inserted.Job.ID)
			return err == nil && job.State == rivertype.JobStateCompleted && len(job.Errors) == 2
		})
	})
	step("a list, page by page", func() error {
		seen := 0
		params := river.NewJobListParams().States(rivertype.JobStateCompleted).First(100).OrderBy(river.JobListOrderByTime, river.SortOrderAsc)
		for {
			page, err := client.JobList(ctx, params)
			if err != nil {
				return err
			}
			seen += len(page.Jobs)
			if len(page.Jobs) < 100 {
				break
			}
			params = params.After(page.LastCursor)
		}
		if seen != 511 {
			return fmt.Errorf("%d jobs", seen)
		}
		return nil
	})
	step("stop", func() error { return client.Stop(ctx) })
}
