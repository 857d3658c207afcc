// pgx v5: named statements, binary, batches, COPY, simple protocol.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var failures int

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %v\n", name, err)
		failures++
		return
	}
	fmt.Printf("ok %s\n", name)
}

func expect(fine bool) error {
	if fine {
		return nil
	}
	return errors.New("wrong answer")
}

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	conn, err := pgx.Connect(ctx, "sslmode=disable")
	if err != nil {
		fmt.Printf("FAIL connect: %v\n", err)
		os.Exit(1)
	}
	step("create", func() error {
		_, err := conn.Exec(ctx, "CREATE TEMP TABLE m (k int PRIMARY KEY, t text, n numeric, d timestamptz, b bytea)")
		return err
	})
	when := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	step("round trip", func() error {
		if _, err := conn.Exec(ctx, "INSERT INTO m VALUES ($1, $2, $3, $4, $5)", 1, "text €", "12.50", when, []byte{0, 255}); err != nil {
			return err
		}
		var k int
		var t string
		var d time.Time
		var b []byte
		if err := conn.QueryRow(ctx, "SELECT k, t, d, b FROM m WHERE k = $1", 1).Scan(&k, &t, &d, &b); err != nil {
			return err
		}
		return expect(k == 1 && t == "text €" && d.Equal(when) && len(b) == 2)
	})
	step("null", func() error {
		var v *int
		if err := conn.QueryRow(ctx, "SELECT NULL::int").Scan(&v); err != nil {
			return err
		}
		return expect(v == nil)
	})
	step("unique violation", func() error {
		_, err := conn.Exec(ctx, "INSERT INTO m (k) VALUES (1)")
		var pg *pgconn.PgError
		return expect(errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "m_pkey")
	})
	step("rollback", func() error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM m"); err != nil {
			return err
		}
		if err := tx.Rollback(ctx); err != nil {
			return err
		}
		var n int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM m").Scan(&n); err != nil {
			return err
		}
		return expect(n == 1)
	})
	step("batch", func() error {
		batch := &pgx.Batch{}
		for i := 0; i < 50; i++ {
			batch.Queue("SELECT $1::int8", i)
		}
		results := conn.SendBatch(ctx, batch)
		for i := 0; i < 50; i++ {
			var n int
			if err := results.QueryRow().Scan(&n); err != nil || n != i {
				results.Close()
				return fmt.Errorf("%d: %v", i, err)
			}
		}
		return results.Close()
	})
	step("copy", func() error {
		rows := make([][]any, 0, 500)
		for i := 100; i < 600; i++ {
			rows = append(rows, []any{i, fmt.Sprint(i)})
		}
		n, err := conn.CopyFrom(ctx, pgx.Identifier{"m"}, []string{"k", "t"}, pgx.CopyFromRows(rows))
		if err != nil {
			return err
		}
		return expect(n == 500)
	})
	step("arrays", func() error {
		var a []int32
		if err := conn.QueryRow(ctx, "SELECT $1::int[]", []int32{1, 2, 3}).Scan(&a); err != nil {
			return err
		}
		return expect(len(a) == 3 && a[2] == 3)
	})
	step("simple protocol", func() error {
		var n int
		if err := conn.QueryRow(ctx, "SELECT $1::int + 1", pgx.QueryExecModeSimpleProtocol, 41).Scan(&n); err != nil {
			return err
		}
		return expect(n == 42)
	})
	step("many statements", func() error {
		for i := 0; i < 1000; i++ {
			var n int
			if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT %d + $1::int", i), 1).Scan(&n); err != nil {
				return err
			}
		}
		return nil
	})
	everyType(ctx, conn)
	conn.Close(ctx)
	os.Exit(failures)
}
