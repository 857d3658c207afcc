-- Operators that users make.
CREATE FUNCTION near(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1 - $2) <= 1';
CREATE OPERATOR ~~~ (leftarg = int, rightarg = int, function = near, commutator = ~~~);
SELECT 1 ~~~ 2, 1 ~~~ 3, 1 ~~~ NULL;
SELECT g, g ~~~ 3 FROM generate_series(1, 5) g WHERE g ~~~ 3;
CREATE FUNCTION half(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
CREATE OPERATOR |/| (rightarg = int, procedure = half);
SELECT |/| 7, |/| |/| 9, - |/| 8;
CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 || ''+'' || $2';
CREATE OPERATOR + (leftarg = text, rightarg = text, function = joined);
SELECT 'a'::text + 'b'::text, 1 + 2, 'a'::text + 'b';
SELECT 'a' + 'b';
CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq, commutator = ===, negator = !==, restrict = eqsel, join = eqjoinsel, hashes, merges);
SELECT 1 === 1, 1 === 2;
SELECT 1 !== 2;
CREATE OPERATOR !== (leftarg = int, rightarg = int, function = int4ne, commutator = !==, negator = ===, restrict = neqsel, join = neqjoinsel);
SELECT 1 !== 2;
SELECT oprname, oprkind, oprcanhash, oprcanmerge, oprleft::regtype, oprright::regtype, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin FROM pg_operator WHERE oid >= 16384 ORDER BY oprname, oprleft;
SELECT 1 OPERATOR(public.===) 1, 1 OPERATOR(public.+) 1;
SELECT 1 OPERATOR(pg_catalog.===) 1;
SELECT 1 OPERATOR(nowhere.===) 1;
SELECT 'a'::text OPERATOR(pg_catalog.+) 'b'::text;

-- Over types that users made.
CREATE TYPE complex AS (r float8, i float8);
CREATE FUNCTION complex_add(complex, complex) RETURNS complex LANGUAGE sql IMMUTABLE AS 'SELECT ROW($1.r + $2.r, $1.i + $2.i)::complex';
CREATE OPERATOR + (leftarg = complex, rightarg = complex, function = complex_add, commutator = +);
SELECT (ROW(1, 2)::complex + ROW(3, 4)::complex);
SELECT (ROW(1, 2)::complex + '(3,4)');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE FUNCTION better(mood, mood) RETURNS mood LANGUAGE sql IMMUTABLE AS 'SELECT greatest($1, $2)';
CREATE OPERATOR @@@ (leftarg = mood, rightarg = mood, function = better);
SELECT 'sad'::mood @@@ 'ok', 'happy'::mood @@@ 'ok'::mood;
CREATE FUNCTION within(anyelement, anyarray) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 = ANY ($2)';
CREATE OPERATOR ?? (leftarg = anyelement, rightarg = anyarray, function = within);
SELECT 1 ?? ARRAY[1, 2], 'x'::text ?? ARRAY['y'];
SELECT 1 ?? ARRAY['a'];

-- In what is kept.
CREATE TABLE t (a int CHECK (a ~~~ 5), b int DEFAULT (|/| 10), c int GENERATED ALWAYS AS (|/| a) STORED);
INSERT INTO t (a) VALUES (5), (6);
INSERT INTO t (a) VALUES (9);
SELECT * FROM t ORDER BY a;
CREATE INDEX t_half ON t ((|/| a));
CREATE VIEW v AS SELECT a, a ~~~ 6 AS close FROM t WHERE a === 5 OR a ~~~ 6;
SELECT * FROM v ORDER BY a;
CREATE FUNCTION half(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2 + 1000';
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass ORDER BY adnum;
SELECT pg_get_indexdef('t_half'::regclass);

-- Used in joins, grouping, PL/pgSQL.
-- differs: PostgreSQL has no function to hash with, and nobody asked for one
SELECT x.n, y.n FROM generate_series(1, 3) x(n) JOIN generate_series(2, 4) y(n) ON x.n === y.n ORDER BY 1;
SELECT count(*) FROM generate_series(1, 10) g WHERE NOT g ~~~ 5;
DO $$ BEGIN IF 3 ~~~ 4 THEN RAISE NOTICE 'near %', |/| 12; END IF; END $$;
PREPARE p(int) AS SELECT $1 ~~~ 3;
EXECUTE p(2);
EXECUTE p(9);

-- What is wrong.
CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = nowhere);
CREATE OPERATOR #? (leftarg = int, rightarg = text, function = int4eq);
CREATE OPERATOR #? (leftarg = int, rightarg = int);
CREATE OPERATOR #? (function = int4eq);
CREATE OPERATOR #? (leftarg = int, function = half);
CREATE OPERATOR #? (leftarg = SETOF int, rightarg = int, function = int4eq);
CREATE OPERATOR #? (leftarg = nothing, rightarg = int, function = int4eq);
CREATE OPERATOR #? (rightarg = int, function = half, commutator = #?);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = int4pl, negator = #!);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = int4pl, hashes);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = int4pl, restrict = eqsel);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = int4eq, restrict = nowhere);
CREATE OPERATOR #? (leftarg = int, rightarg = int, function = int4eq, foo = 1);
SELECT 1 #? 1;
SELECT 1 #? 'x'::text;
SELECT #? 1;
SELECT 1 <<<>>> 1;

-- Changed, commented, dropped.
ALTER OPERATOR #? (int, int) SET (restrict = NONE, join = NONE);
ALTER OPERATOR #? (int, int) SET (restrict = contsel);
ALTER OPERATOR #? (int, int) SET (function = int4ne);
ALTER OPERATOR #? (int, int) SET (foo = int4ne);
ALTER OPERATOR #? (int, text) SET (restrict = NONE);
COMMENT ON OPERATOR #? (int, int) IS 'what it is';
SELECT obj_description(oid, 'pg_operator') FROM pg_operator WHERE oprname = '#?';
COMMENT ON OPERATOR #! (int, int) IS 'what it is';
COMMENT ON OPERATOR |/| (NONE, int) IS 'half';
CREATE SCHEMA other;
ALTER OPERATOR #? (int, int) SET SCHEMA other;
SELECT 1 #? 1;
SELECT 1 OPERATOR(other.#?) 1;
SET search_path = other, public;
SELECT 1 #? 1;
RESET search_path;
DROP OPERATOR #? (int, int);
DROP OPERATOR IF EXISTS #? (int, int);
DROP OPERATOR IF EXISTS #? (int, nothing);
DROP OPERATOR other.#? (int, int);
DROP OPERATOR ~~~ (int, int);
DROP OPERATOR |/| (NONE, int);
DROP FUNCTION near(int, int);
DROP FUNCTION near(int, int) CASCADE;
DROP OPERATOR |/| (NONE, int) CASCADE;
SELECT * FROM t ORDER BY a;
DROP OPERATOR + (int, int);
DROP OPERATOR === (int, int);
SELECT oprname, oprcom::regoperator, oprnegate FROM pg_operator WHERE oprname = '!==';
DROP TYPE mood;
DROP TYPE mood CASCADE;
DROP SCHEMA other;

-- Rights.
CREATE ROLE user_operators_guest;
REVOKE ALL ON FUNCTION joined(text, text) FROM PUBLIC;
SET ROLE user_operators_guest;
SELECT 'a'::text + 'b'::text;
DROP OPERATOR + (text, text);
ALTER OPERATOR + (text, text) SET (restrict = NONE);
COMMENT ON OPERATOR + (text, text) IS 'x';
CREATE OPERATOR #?? (leftarg = int, rightarg = int, function = int4eq);
RESET ROLE;
DROP ROLE user_operators_guest;
