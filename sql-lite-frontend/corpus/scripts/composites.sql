-- Types that users make: composite types.
CREATE TYPE pair AS (a int, b text);
CREATE TYPE pair AS (x int);
-- differs: a composite type is no relation
CREATE TABLE pair (a int);
CREATE TYPE nested AS (id int, p pair, l pair[]);
CREATE TYPE empty AS ();
CREATE TYPE twice AS (a int, a text);
-- differs: the error's position
CREATE TYPE bad AS (a missing);
CREATE TYPE bad AS (a anyelement);
CREATE TYPE bad AS (a record);
CREATE TYPE nowhere.x AS (a int);
CREATE TYPE sized AS (v varchar(3), n numeric(4,1), t timestamp(0));
CREATE DOMAIN posi AS int CHECK (VALUE > 0);
CREATE TYPE checked AS (p posi, q text);
SELECT ROW(1, 'x')::pair, (2, 'y')::pair, '(3,z)'::pair, CAST(ROW(4, NULL) AS pair), pair '(5,)';
SELECT ROW(1)::pair;
SELECT ROW(1, 'x', 2)::pair;
SELECT ROW('a', 'x')::pair;
SELECT ROW(now(), 'x')::pair;
SELECT ROW('7', 8)::pair;
SELECT '(1)'::pair;
SELECT '(1,2,3)'::pair;
SELECT '1,2'::pair;
SELECT '(1,2'::pair;
SELECT '(1,2) x'::pair;
SELECT '(x,2)'::pair;
SELECT ' ( 1 ,a b) '::pair;
SELECT '(1,"a,b")'::pair, '(1,"a""b")'::pair, '(1,a\,b)'::pair, '(,)'::pair, '(1,"")'::pair, '(1,"a\"b\\c")'::pair;
SELECT '()'::empty, ROW()::empty;
SELECT NULL::pair, ROW(NULL, NULL)::pair, NULL::pair IS NULL, ROW(NULL, NULL)::pair IS NULL, ROW(1, NULL)::pair IS NULL, ROW(1, NULL)::pair IS NOT NULL;
SELECT (ROW(1, 'x')::pair).a, (ROW(1, 'x')::pair).b, ('(3,z)'::pair).b || '!';
-- differs: the error's position
SELECT (ROW(1, 'x')::pair).c;
SELECT (ROW(1, 'x')::pair).*;
SELECT ('(3,z)'::pair).*, 5;
SELECT (NULL::pair).a, (NULL::pair).*;
SELECT (5).a;
SELECT pg_typeof(ROW(1, 'x')::pair), pg_typeof((ROW(1, 'x')::pair).a), pg_typeof(ARRAY[ROW(1, 'x')::pair]), pg_typeof(('(3,z)'::pair).b);
SELECT ROW(1, ROW(2, 'x'), ARRAY[ROW(3, 'y')::pair])::nested;
SELECT (ROW(1, ROW(2, 'x'), NULL)::nested).p.b, ((ROW(1, ROW(2, 'x'), NULL)::nested).p).a;
SELECT '(1,"(2,x)","{""(3,y)"",""(4,z)""}")'::nested;
SELECT ('(1,"(2,x)","{""(3,y)"",""(4,z)""}")'::nested).l[2].b;
SELECT ROW('abcd', 1.25, '2024-01-01 10:00:00.7')::sized;
SELECT ROW('abc', 1.25, '2024-01-01 10:00:00.7')::sized;
SELECT '(abcd,1,2024-01-01)'::sized;
SELECT '(abc,1.25,2024-01-01 10:00:00.7)'::sized;
SELECT ROW('abc', 12345, NULL)::sized;
SELECT ROW(1, 'x')::checked, '(2,y)'::checked;
SELECT ROW(0, 'x')::checked;
SELECT '(0,y)'::checked;
SELECT ROW(1, 'x')::pair = ROW(1, 'x')::pair, ROW(1, 'x')::pair < ROW(1, 'y')::pair, ROW(1, 'x')::pair <> '(1,x)', ROW(2, 'a')::pair > ROW(1, 'z')::pair;
-- differs: anonymous rows of untyped literals can be compared
SELECT ROW(1, 'x')::pair = ROW(1, 'x'), ROW(1, 'x')::pair IS DISTINCT FROM NULL;
SELECT ROW(1, 'x')::pair = 5;
SELECT ROW(1, 'x')::pair IN (ROW(1, 'x')::pair, ROW(2, 'y')::pair), ROW(1, 'x')::pair = ANY (ARRAY[ROW(1, 'x')::pair]);
SELECT ROW(1, 'x')::pair::text, '(1,x)'::text::pair, ROW(1, 'x')::pair::varchar(3), ROW(1,'x')::pair || 'a';
SELECT ROW(1, 'x')::pair::int;
SELECT 1::pair;
SELECT ROW(1, 'x')::pair::nested;
SELECT ROW(1, 'x')::pair + 1;
SELECT to_json(ROW(1, 'x')::pair), to_jsonb('(2,y)'::pair), row_to_json(ROW(1, 'x')::pair), json_build_object('p', ROW(1, 'x')::pair), to_json(ARRAY[ROW(1, 'x')::pair]);
SELECT ARRAY[ROW(1, 'x'), ROW(2, 'y')]::pair[], '{"(1,x)","(2,\"a b\")"}'::pair[], ARRAY['(1,x)']::pair[];
SELECT (ARRAY[ROW(1, 'x'), ROW(2, 'y')]::pair[])[2].b, ('{"(1,x)"}'::pair[])[1].a;
SELECT array_length('{"(1,x)","(2,y)"}'::pair[], 1), '{"(1,x)"}'::pair[] || ROW(2, 'y')::pair, '{"(1,x)"}'::pair[] = ARRAY[ROW(1, 'x')::pair];
-- differs: a whole row has the type record
SELECT u, u.a, u.b FROM unnest('{"(1,x)","(2,y)"}'::pair[]) u;
SELECT (x).a FROM (SELECT unnest('{"(1,x)","(2,y)"}'::pair[]) x) s ORDER BY 1;
SELECT COALESCE(NULL, ROW(1, 'x')::pair), CASE WHEN true THEN ROW(1, 'x')::pair END, COALESCE(ROW(1, 'x')::pair, '(2,y)');
SELECT ROW(1, 'x')::pair UNION SELECT ROW(1, 'x')::pair;
SELECT x FROM (VALUES (ROW(2, 'x')::pair), (ROW(1, 'y')::pair), (NULL)) v(x) ORDER BY x;
SELECT x, count(*) FROM (VALUES (ROW(2, 'x')::pair), (ROW(2, 'x')::pair)) v(x) GROUP BY x;
SELECT count(DISTINCT x), array_agg(x ORDER BY x) FROM (VALUES (ROW(2, 'x')::pair), (ROW(2, 'x')::pair), (ROW(1, 'x')::pair)) v(x);
CREATE TABLE t (id int PRIMARY KEY, c pair, n nested, l pair[], d pair DEFAULT ROW(9, 'def'));
INSERT INTO t VALUES (1, ROW(1, 'one'), NULL, NULL);
INSERT INTO t VALUES (2, '(2,two)', ROW(1, ROW(2, 'x'), '{}'), ARRAY[ROW(1, 'x')::pair, '(2,y)']);
INSERT INTO t VALUES (3, (3, 'three'), NULL, '{"(5,five)",NULL}', NULL);
INSERT INTO t VALUES (4, ROW(1), NULL, NULL);
INSERT INTO t VALUES (4, 5, NULL, NULL);
INSERT INTO t VALUES (4, 'x', NULL, NULL);
INSERT INTO t (id, c.a, c.b) VALUES (4, 4, 'four'), (5, 5, 'five');
INSERT INTO t (id, c.a) VALUES (6, 6);
INSERT INTO t (id, c.b, n.p.a, n.id) SELECT 7, 'seven', 70, 71;
INSERT INTO t (id, c.z) VALUES (8, 6);
INSERT INTO t (id, id.z) VALUES (8, 6);
INSERT INTO t (id, c.a, c.a) VALUES (8, 6, 7);
INSERT INTO t (id, c.a) VALUES (8, 'x');
INSERT INTO t (id, c.a) VALUES (8, now());
SELECT * FROM t ORDER BY id;
SELECT id, (c).a, (c).b, (t.c).a, (n).p, (n).p.a, (l[1]).b, (l)[1].a FROM t ORDER BY id;
SELECT (c).* FROM t ORDER BY id;
SELECT (t.c).*, id FROM t WHERE (c).a < 3 ORDER BY id;
SELECT c.a FROM t;
SELECT t.c.a FROM t;
SELECT (c).z FROM t;
SELECT id FROM t WHERE c = ROW(1, 'one')::pair;
SELECT id FROM t WHERE c = '(2,two)';
-- differs: anonymous rows of untyped literals can be compared
SELECT id FROM t WHERE c = ROW(3, 'three');
SELECT id FROM t WHERE c > '(3,)' ORDER BY c DESC;
SELECT id FROM t WHERE (c).b LIKE 'f%' ORDER BY (c).b;
SELECT id FROM t WHERE c IS NULL OR n IS NULL ORDER BY id;
SELECT c, count(*) FROM t GROUP BY c ORDER BY c;
SELECT a.id, b.id FROM t a JOIN t b ON a.c = b.c ORDER BY 1;
SELECT max((c).a), string_agg((c).b, ',' ORDER BY id) FROM t;
UPDATE t SET c.a = 100 WHERE id = 1 RETURNING c;
UPDATE t SET c.a = (c).a + 1, c.b = 'uno' WHERE id = 1 RETURNING c;
UPDATE t SET c = ROW(7, 'sept') WHERE id = 1 RETURNING c;
UPDATE t SET c = NULL WHERE id = 1 RETURNING c;
UPDATE t SET c.b = 'from null' WHERE id = 1 RETURNING c, (c).a IS NULL;
UPDATE t SET n.p.b = 'deep', n.id = 5 WHERE id = 1 RETURNING n;
UPDATE t SET n.p = ROW(1, 'q') WHERE id = 1 RETURNING n;
UPDATE t SET l[1].a = 50 WHERE id = 2 RETURNING l;
UPDATE t SET l[3].b = 'new' WHERE id = 2 RETURNING l;
UPDATE t SET n.l[1].b = 'very deep' WHERE id = 2 RETURNING n;
UPDATE t SET l[1] = ROW(0, 'zero') WHERE id = 2 RETURNING l;
UPDATE t SET c.z = 1 WHERE id = 1;
UPDATE t SET id.z = 1 WHERE id = 1;
UPDATE t SET c.a = 'x' WHERE id = 1;
UPDATE t SET c.a = now() WHERE id = 1;
UPDATE t SET c.a = 1, c.a = 2 WHERE id = 1;
-- differs: the error's text
UPDATE t SET c.a = DEFAULT WHERE id = 1;
UPDATE t SET c[1] = 1 WHERE id = 1;
INSERT INTO t VALUES (1, ROW(0, 'conf')) ON CONFLICT (id) DO UPDATE SET c.b = (excluded.c).b RETURNING c;
DELETE FROM t WHERE c = '(4,four)' RETURNING id, (c).b;
CREATE TABLE ck (c checked CHECK ((c).p < 10));
INSERT INTO ck VALUES (ROW(1, 'a')), ('(2,b)');
INSERT INTO ck VALUES (ROW(0, 'a'));
INSERT INTO ck VALUES ('(11,a)');
UPDATE ck SET c.p = -1;
UPDATE ck SET c.p = 5 WHERE (c).p = 1;
SELECT * FROM ck ORDER BY c;
-- parameters: (1,x)
SELECT $1::pair, ($1::pair).b;
-- parameters: 20 | (20,par)
INSERT INTO t (id, c) VALUES ($1, $2) RETURNING c;
-- parameters: 21 | 5 | par
INSERT INTO t (id, c.a, c.b) VALUES ($1, $2, $3) RETURNING c;
-- parameters: (20,par)
-- differs: the error's context
SELECT id FROM t WHERE c = $1;
-- parameters: x
-- differs: the error's context
SELECT $1::pair;
COPY t (id, c, l) FROM STDIN;
30	(30,"thirty, yes")	{"(1,a)","(2,\\"b c\\")"}
31	\N	\N
\.
COPY t (id, c) FROM STDIN WITH (FORMAT csv);
32,"(32,""x y"")"
\.
COPY t (id, c) FROM STDIN;
33	(x,y)
\.
COPY (SELECT id, c, l FROM t WHERE id >= 30 ORDER BY id) TO STDOUT;
COPY (SELECT id, c, l FROM t WHERE id >= 30 ORDER BY id) TO STDOUT WITH (FORMAT csv);
DELETE FROM t WHERE id >= 20;
CREATE VIEW v AS SELECT id, c, (c).a AS ca, ROW(1, 'v')::pair AS r FROM t;
SELECT * FROM v ORDER BY id LIMIT 3;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'v'::regclass ORDER BY attnum;
CREATE TABLE made AS SELECT id, c, l FROM t WHERE id < 4;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum;
SELECT (c).b FROM made ORDER BY id;
CREATE INDEX ON t (((c).a));
SELECT id FROM t WHERE (c).a = 3;
ALTER TABLE t ADD COLUMN e pair DEFAULT '(0,e)';
SELECT id, (e).b FROM t WHERE id = 3;
ALTER TABLE t ADD COLUMN f pair, DROP COLUMN e;
ALTER TABLE t ALTER COLUMN f TYPE text;
ALTER TABLE t ALTER COLUMN f TYPE pair USING ROW(id, f)::pair;
SELECT f FROM t WHERE id = 3;
ALTER TABLE t DROP COLUMN f;
CREATE FUNCTION first_of(p pair) RETURNS int LANGUAGE sql AS 'SELECT p.a';
SELECT first_of(ROW(3, 'x')), first_of('(4,y)'), first_of(c) FROM t WHERE id = 2;
CREATE FUNCTION second_of(pair) RETURNS text LANGUAGE sql AS 'SELECT ($1).b';
SELECT second_of(ROW(3, 'x')::pair), second_of(NULL);
SELECT second_of(5);
CREATE FUNCTION make_pair(int, text) RETURNS pair LANGUAGE sql AS 'SELECT $1, $2';
SELECT make_pair(1, 'm'), (make_pair(2, 'n')).b, pg_typeof(make_pair(1, 'm'));
SELECT (make_pair(2, 'n')).*;
SELECT * FROM make_pair(3, 'o');
SELECT a, b FROM make_pair(3, 'o') AS q;
CREATE FUNCTION whole_pair(int) RETURNS pair LANGUAGE sql AS 'SELECT ROW($1, ''w'')::pair';
SELECT whole_pair(5), (whole_pair(6)).a;
CREATE FUNCTION pairs(int) RETURNS SETOF pair LANGUAGE sql AS 'SELECT i, ''s'' || i FROM generate_series(1, $1) i';
SELECT * FROM pairs(3);
SELECT pairs(2);
-- differs: a whole row has the type record
SELECT p.b, p FROM pairs(2) p;
CREATE FUNCTION pl_pair(p pair, n int) RETURNS pair LANGUAGE plpgsql AS 'DECLARE v pair; BEGIN v := p; v.a := v.a + n; v.b := p.b || ''!''; RETURN v; END';
SELECT pl_pair(ROW(1, 'x'), 5), (pl_pair('(2,y)', 1)).b;
CREATE FUNCTION pl_row(n int) RETURNS pair LANGUAGE plpgsql AS 'BEGIN RETURN ROW(n, ''r''); END';
-- differs: an untyped literal in a returned row is read as the attribute's type
SELECT pl_row(4), (pl_row(5)).a;
CREATE FUNCTION pl_into(i int) RETURNS text LANGUAGE plpgsql AS 'DECLARE v pair; w pair; BEGIN SELECT (c).a, (c).b INTO v FROM t WHERE id = i; SELECT c INTO w FROM t WHERE id = i; RETURN v.b || w.a::text || v::text; END';
-- differs: one composite value is the row that INTO takes
SELECT pl_into(3);
CREATE FUNCTION pl_wrong() RETURNS pair LANGUAGE plpgsql AS 'BEGIN RETURN 5; END';
-- differs: the error's context
SELECT pl_wrong();
CREATE FUNCTION pl_few() RETURNS pair LANGUAGE plpgsql AS 'BEGIN RETURN ROW(1); END';
SELECT pl_few();
PREPARE p AS SELECT (c).a FROM t WHERE c = $1;
EXECUTE p('(3,three)');
-- differs: anonymous rows of untyped literals can be compared
EXECUTE p(ROW(3, 'three'));
ALTER TYPE pair RENAME ATTRIBUTE b TO bb;
SELECT (c).bb FROM t WHERE id = 3;
SELECT (c).b FROM t WHERE id = 3;
EXECUTE p('(3,three)');
ALTER TYPE pair RENAME ATTRIBUTE bb TO a;
ALTER TYPE pair RENAME ATTRIBUTE nope TO x;
ALTER TYPE pair RENAME ATTRIBUTE bb TO b;
CREATE TYPE free AS (a int, b int);
ALTER TYPE free ADD ATTRIBUTE c text, DROP ATTRIBUTE b;
SELECT ROW(1, 'x')::free, (ROW(1, 'x')::free).c;
ALTER TYPE free ADD ATTRIBUTE a int;
ALTER TYPE free DROP ATTRIBUTE nope;
ALTER TYPE free DROP ATTRIBUTE IF EXISTS nope;
ALTER TYPE free ALTER ATTRIBUTE a TYPE text;
SELECT ROW('q', 'x')::free;
ALTER TYPE free ALTER ATTRIBUTE nope TYPE text;
ALTER TYPE free ALTER ATTRIBUTE a TYPE missing;
ALTER TYPE free ADD ATTRIBUTE self free;
ALTER TYPE free ADD ATTRIBUTE self free[];
ALTER TYPE nope ADD ATTRIBUTE a int;
ALTER TYPE free RENAME TO freed;
SELECT ROW('q', 'x')::freed;
SELECT ROW('q', 'x')::free;
ALTER TYPE freed ADD VALUE 'x';
ALTER DOMAIN freed SET NOT NULL;
COMMENT ON TYPE freed IS 'free at last';
SELECT obj_description('freed'::regtype, 'pg_type');
CREATE DOMAIN goodpair AS pair CHECK ((VALUE).a > 0);
SELECT ROW(1, 'x')::goodpair, (ROW(1, 'x')::goodpair).b, '(2,y)'::goodpair;
SELECT ROW(0, 'x')::goodpair;
CREATE TABLE gp (g goodpair);
INSERT INTO gp VALUES (ROW(1, 'x'));
INSERT INTO gp VALUES ('(0,x)');
UPDATE gp SET g.a = 0;
UPDATE gp SET g.a = 5 RETURNING g;
SELECT (g).a FROM gp;
SELECT typname, typtype, typcategory, typlen, typrelid <> 0, typarray <> 0, typelem <> 0, typinput, typoutput, typreceive, typsend FROM pg_type WHERE typname IN ('pair', 'nested', '_pair') ORDER BY typname;
-- differs: attributes that were dropped are not counted
SELECT relname, relkind, relnatts, reltype::regtype FROM pg_class WHERE relname IN ('pair', 'nested', 'freed') ORDER BY 1;
SELECT a.attname, a.attnum, a.atttypid::regtype, a.atttypmod, a.attnotnull FROM pg_attribute a JOIN pg_type t ON t.typrelid = a.attrelid WHERE t.typname IN ('nested', 'sized') ORDER BY t.typname, a.attnum;
SELECT column_name, data_type, udt_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position;
-- differs: the order of dependents
DROP TYPE pair;
DROP TYPE freed;
DROP TYPE nested RESTRICT;
DROP TYPE checked, posi;
DROP DOMAIN pair;
BEGIN;
CREATE TYPE gone AS (a int);
SELECT ROW(1)::gone;
ROLLBACK;
SELECT ROW(1)::gone;
DROP TYPE nested CASCADE;
SELECT * FROM t WHERE id = 3;
-- differs: refused: ALTER TYPE ADD ATTRIBUTE where a column has the type
ALTER TYPE pair ADD ATTRIBUTE z int;
-- differs: the order of dependents
DROP TYPE pair CASCADE;
SELECT * FROM t WHERE id = 3;
CREATE TYPE hue AS ENUM ('red', 'green');
CREATE TYPE spot AS (at int, tint hue);
CREATE TABLE kept (id int, one spot DEFAULT ROW(1, 'red')::spot, many spot[] DEFAULT ARRAY[ROW(2, 'green')::spot, NULL], text_form spot[] DEFAULT '{"(3,red)","(,green)"}', none spot[] DEFAULT '{}', made spot[] DEFAULT ARRAY[ROW(length('abcd'), 'red')::spot]);
INSERT INTO kept VALUES (1);
SELECT * FROM kept;
ALTER TYPE hue RENAME VALUE 'red' TO 'crimson';
INSERT INTO kept VALUES (2);
SELECT * FROM kept ORDER BY id;
SELECT (many[1]).tint, (made[1]).at FROM kept ORDER BY id;
CREATE VIEW spots AS SELECT id, ARRAY[ROW(id, 'green')::spot] AS made FROM kept;
SELECT * FROM spots ORDER BY id;
ALTER TABLE kept ADD CHECK (one <> ROW(9, 'green')::spot);
INSERT INTO kept VALUES (3, ROW(9, 'green'));
DROP TABLE kept CASCADE;
