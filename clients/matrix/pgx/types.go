// Values of every kind of type: their bytes as they come, sent back, and as Go has them.
package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

var definitions = []string{
	"CREATE TYPE mood_pgx AS ENUM ('sad', 'happy')",
	"CREATE DOMAIN price_pgx AS numeric(8,2) CHECK (value >= 0)",
	"CREATE TYPE pair_pgx AS (a int, b text)",
}

var texts = [][2]string{
	{"mood_pgx", "happy"}, {"mood_pgx[]", "{sad,NULL}"}, {"price_pgx", "12.50"}, {"pair_pgx", `(1,"a b")`},
	{"pair_pgx[]", `{"(1,a)"}`}, {"int4range", "[1,5)"}, {"int4range", "empty"}, {"numrange", "(1.5,2.25]"},
	{"tstzrange", `["2024-02-29 12:00:00+00",)`}, {"int4range[]", `{"[1,2)",empty}`},
	{"int4multirange", "{[1,3),[5,7)}"}, {"jsonb", `{"a": [1, 2.50, null]}`}, {"jsonpath", `$."a"[*]`}, {"bit(4)", "1010"},
	{"varbit", "10101"}, {"macaddr", "08:00:2b:01:02:03"}, {"macaddr8", "08:00:2b:01:02:03:04:05"}, {"money", "-1234.50"},
	{"xml", `<a b="1">c</a>`}, {"point", "(1,-2.5)"}, {"line", "{1,-1,0}"}, {"lseg", "[(0,0),(1,1)]"}, {"box", "(2,2),(0,0)"},
	{"path", "[(0,0),(1,1)]"}, {"polygon", "((0,0),(1,1),(2,0))"}, {"circle", "<(0.5,0),2>"}, {"tsvector", "'a':1A,3 'b':2"},
	{"tsquery", "'a' & !'b'"}, {"inet", "10.1.2.3/16"}, {"cidr", "fe80::/10"}, {"interval", "1 mon -2 days"},
	{"timetz", "12:30:00.5+02"}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {"pg_lsn", "16/B374D848"},
}

func bytesAndBack(ctx context.Context, conn *pgx.Conn) error {
	for _, t := range texts {
		kind := t[0]
		text := []byte(t[1])
		sent := conn.PgConn().ExecParams(ctx, "SELECT $1::text::"+kind, [][]byte{text}, nil, nil, []int16{1}).Read()
		if sent.Err != nil {
			return fmt.Errorf("%s: %w", kind, sent.Err)
		}
		field := sent.FieldDescriptions[0]
		if field.Format != 1 {
			return fmt.Errorf("%s: not in its binary form", kind)
		}
		back := conn.PgConn().ExecParams(ctx, fmt.Sprintf("SELECT $1::%s::text, $2::text::%s::text", kind, kind),
			[][]byte{sent.Rows[0][0], text}, []uint32{field.DataTypeOID, 25}, []int16{1, 0}, nil).Read()
		if back.Err != nil {
			return fmt.Errorf("%s: %w", kind, back.Err)
		}
		if !bytes.Equal(back.Rows[0][0], back.Rows[0][1]) {
			return fmt.Errorf("%s: %s is not %s", kind, back.Rows[0][0], back.Rows[0][1])
		}
	}
	return nil
}

type pair struct {
	A int32
	B string
}

// Scans what comes back into a value of the same type, and compares.
func same[T any](ctx context.Context, conn *pgx.Conn, kind string, value T) error {
	var got T
	if err := conn.QueryRow(ctx, "SELECT $1::"+kind, value).Scan(&got); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if !reflect.DeepEqual(got, value) {
		return fmt.Errorf("%s: %v is not %v", kind, got, value)
	}
	return nil
}

func asObjects(ctx context.Context, conn *pgx.Conn) error {
	for _, name := range []string{"mood_pgx", "_mood_pgx", "price_pgx", "pair_pgx", "_pair_pgx"} {
		made, err := conn.LoadType(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		conn.TypeMap().RegisterType(made)
	}
	number := func(n int32) pgtype.Int4 { return pgtype.Int4{Int32: n, Valid: true} }
	ranged := func(low, high int32) pgtype.Range[pgtype.Int4] {
		return pgtype.Range[pgtype.Int4]{Lower: number(low), Upper: number(high), LowerType: pgtype.Inclusive,
			UpperType: pgtype.Exclusive, Valid: true}
	}
	for _, err := range []error{
		same(ctx, conn, "mood_pgx", "happy"),
		same(ctx, conn, "mood_pgx[]", []string{"happy", "sad"}),
		same(ctx, conn, "pair_pgx", pair{1, "a b"}),
		same(ctx, conn, "pair_pgx[]", []pair{{1, "a"}, {2, "b,c"}}),
		same(ctx, conn, "int4range", ranged(1, 5)),
		same(ctx, conn, "int4multirange", pgtype.Multirange[pgtype.Range[pgtype.Int4]]{ranged(1, 3), ranged(5, 7)}),
		same(ctx, conn, "jsonb", map[string]any{"a": []any{1.0, nil, "€"}}),
		same(ctx, conn, "bit(4)", pgtype.Bits{Bytes: []byte{0xa0}, Len: 4, Valid: true}),
		same(ctx, conn, "varbit", pgtype.Bits{Bytes: []byte{0xa8}, Len: 5, Valid: true}),
		same(ctx, conn, "point", pgtype.Point{P: pgtype.Vec2{X: 1, Y: -2.5}, Valid: true}),
		same(ctx, conn, "box", pgtype.Box{P: [2]pgtype.Vec2{{X: 2, Y: 2}, {X: 0, Y: 0}}, Valid: true}),
		same(ctx, conn, "circle", pgtype.Circle{P: pgtype.Vec2{X: 1, Y: 2}, R: 3, Valid: true}),
		same(ctx, conn, "line", pgtype.Line{A: 1, B: -1, C: 0, Valid: true}),
		same(ctx, conn, "path", pgtype.Path{P: []pgtype.Vec2{{X: 0, Y: 0}, {X: 1, Y: 1}}, Closed: true, Valid: true}),
		same(ctx, conn, "polygon", pgtype.Polygon{P: []pgtype.Vec2{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 0}}, Valid: true}),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func everyType(ctx context.Context, conn *pgx.Conn) {
	step("types of ours", func() error {
		for _, definition := range definitions {
			if _, err := conn.Exec(ctx, definition); err != nil {
				return err
			}
		}
		return nil
	})
	step("bytes of every type", func() error { return bytesAndBack(ctx, conn) })
	step("enums, composites, ranges, geometry, jsonb as objects", func() error { return asObjects(ctx, conn) })
	step("types dropped", func() error {
		_, err := conn.Exec(ctx, "DROP TYPE pair_pgx, mood_pgx; DROP DOMAIN price_pgx")
		return err
	})
}
