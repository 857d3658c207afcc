// Migrations: up, down, up again, with statements that goose must not cut, and its lock.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

var files = fstest.MapFS{
	"00001_accounts.sql": {Data: []byte(`-- +goose Up
CREATE TABLE accounts (id bigserial PRIMARY KEY, owner text NOT NULL UNIQUE, cents bigint NOT NULL DEFAULT 0 CHECK (cents >= 0));
CREATE INDEX accounts_cents ON accounts (cents) WHERE cents > 0;
-- +goose Down
DROP TABLE accounts;
`)},
	"00002_transfer.sql": {Data: []byte(`-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION transfer(a bigint, b bigint, amount bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  UPDATE accounts SET cents = cents - amount WHERE id = a;
  UPDATE accounts SET cents = cents + amount WHERE id = b;
  RETURN (SELECT sum(cents) FROM accounts);
END;
$$;
-- +goose StatementEnd
-- +goose Down
DROP FUNCTION transfer(bigint, bigint, bigint);
`)},
	"00003_concurrently.sql": {Data: []byte(`-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY accounts_owner ON accounts (lower(owner));
-- +goose Down
DROP INDEX CONCURRENTLY accounts_owner;
`)},
	"00004_fails.sql": {Data: []byte(`-- +goose Up
ALTER TABLE accounts ADD COLUMN note text;
SELECT nothing FROM nowhere;
-- +goose Down
`)},
}

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", name)
}

func expect(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: %v instead of %v", what, got, want)
	}
	return nil
}

func main() {
	ctx := context.Background()
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	provider := func() *goose.Provider {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			panic(err)
		}
		made, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
		if err != nil {
			panic(err)
		}
		return made
	}
	step("up, two at a time", func() error {
		var wait sync.WaitGroup
		failures := make([]error, 2)
		for i := range failures {
			wait.Add(1)
			go func() {
				defer wait.Done()
				_, failures[i] = provider().UpTo(ctx, 3)
			}()
		}
		wait.Wait()
		for _, failure := range failures {
			if failure != nil {
				return failure
			}
		}
		version, err := provider().GetDBVersion(ctx)
		if err != nil {
			return err
		}
		return expect("version", version, int64(3))
	})
	step("what they made", func() error {
		var sum int64
		if _, err := db.Exec("INSERT INTO accounts (owner, cents) VALUES ('Ada', 100), ('Bo', 0)"); err != nil {
			return err
		}
		if err := db.QueryRow("SELECT transfer(1, 2, 30)").Scan(&sum); err != nil {
			return err
		}
		return expect("sum", sum, int64(100))
	})
	step("one that fails leaves nothing", func() error {
		if _, err := provider().Up(ctx); err == nil {
			return fmt.Errorf("it did not fail")
		}
		var columns int
		if err := db.QueryRow("SELECT count(*) FROM information_schema.columns WHERE table_name = 'accounts' AND table_schema = 'public'").Scan(&columns); err != nil {
			return err
		}
		return expect("columns", columns, 3)
	})
	step("down", func() error {
		if _, err := provider().DownTo(ctx, 0); err != nil {
			return err
		}
		var left sql.NullString
		if err := db.QueryRow("SELECT to_regclass('accounts')::text").Scan(&left); err != nil {
			return err
		}
		return expect("accounts", left.Valid, false)
	})
	step("status", func() error {
		if _, err := provider().UpTo(ctx, 2); err != nil {
			return err
		}
		status, err := provider().Status(ctx)
		if err != nil {
			return err
		}
		applied := 0
		for _, one := range status {
			if one.State == goose.StateApplied {
				applied++
			}
		}
		return expect("applied", applied, 2)
	})
}
