// lib/pq through database/sql: no parameter types are sent, results are text.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lib/pq"
)

var failures int

func step(name string, body func() error) {
	if err := body(); err != nil {
		fmt.Printf("FAIL %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		failures++
		return
	}
	fmt.Println("ok " + name)
}

func expect(got, want any) error {
	if got != want {
		return fmt.Errorf("%v instead of %v", got, want)
	}
	return nil
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(4)
	step("connect", db.Ping)
	step("create", func() error {
		_, err := db.Exec("DROP TABLE IF EXISTS lp; CREATE TABLE lp (k int PRIMARY KEY, t text, b bytea, d timestamptz, a int[])")
		return err
	})
	step("round trip", func() error {
		when := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
		if _, err := db.Exec("INSERT INTO lp VALUES ($1, $2, $3, $4, $5)", 1, "text \u20ac",
			[]byte{0, 1, 255}, when, pq.Array([]int64{1, 2})); err != nil {
			return err
		}
		var t string
		var b []byte
		var d time.Time
		var a []int64
		if err := db.QueryRow("SELECT t, b, d, a FROM lp WHERE k = $1", 1).Scan(&t, &b, &d, pq.Array(&a)); err != nil {
			return err
		}
		return expect(fmt.Sprint(t, b, d.Equal(when), a), "text \u20ac[0 1 255] true [1 2]")
	})
	step("null", func() error {
		var n sql.NullString
		if err := db.QueryRow("SELECT $1::text", nil).Scan(&n); err != nil {
			return err
		}
		return expect(n.Valid, false)
	})
	step("prepared", func() error {
		statement, err := db.Prepare("SELECT $1::int + 1")
		if err != nil {
			return err
		}
		defer statement.Close()
		for i := 0; i < 20; i++ {
			var n int
			if err := statement.QueryRow(i).Scan(&n); err != nil {
				return err
			}
			if n != i+1 {
				return expect(n, i+1)
			}
		}
		return nil
	})
	step("unique violation", func() error {
		_, err := db.Exec("INSERT INTO lp (k) VALUES (1)")
		problem, is := err.(*pq.Error)
		if !is {
			return fmt.Errorf("no error of the server: %v", err)
		}
		return expect(string(problem.Code)+problem.Constraint, "23505lp_pkey")
	})
	step("rollback", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM lp"); err != nil {
			return err
		}
		if err := tx.Rollback(); err != nil {
			return err
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM lp").Scan(&n); err != nil {
			return err
		}
		return expect(n, 1)
	})
	step("isolation level", func() error {
		tx, err := db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSerializable, ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var level string
		if err := tx.QueryRow("SHOW transaction_isolation").Scan(&level); err != nil {
			return err
		}
		return expect(level, "serializable")
	})
	step("copy in", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		statement, err := tx.Prepare(pq.CopyIn("lp", "k", "t"))
		if err != nil {
			return err
		}
		for i := 10; i < 110; i++ {
			if _, err := statement.Exec(i, "copied"); err != nil {
				return err
			}
		}
		if _, err := statement.Exec(); err != nil {
			return err
		}
		if err := statement.Close(); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM lp WHERE t = 'copied'").Scan(&n); err != nil {
			return err
		}
		return expect(n, 100)
	})
	step("cancel by context", func() error {
		ctx, cancel := withTimeout(200 * time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(ctx, "SELECT pg_sleep(10)")
		if err == nil {
			return fmt.Errorf("not cancelled")
		}
		return nil
	})
	step("any of an array", func() error {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM lp WHERE k = ANY($1)", pq.Array([]int{1, 10, 9999})).Scan(&n); err != nil {
			return err
		}
		return expect(n, 2)
	})
	step("drop", func() error {
		_, err := db.Exec("DROP TABLE lp")
		return err
	})
	os.Exit(failures)
}
