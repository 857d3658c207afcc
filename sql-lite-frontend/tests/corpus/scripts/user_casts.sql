-- Casts that users make.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE m (id int PRIMARY KEY, feels mood);
INSERT INTO m VALUES (1, 'sad'::varchar);
CREATE CAST (varchar AS mood) WITH INOUT AS ASSIGNMENT;
INSERT INTO m VALUES (1, 'sad'::varchar);
PREPARE put(int, varchar) AS INSERT INTO m VALUES ($1, $2);
EXECUTE put(2, 'happy');
EXECUTE put(3, 'nothing');
SELECT * FROM m ORDER BY id;
SELECT 'ok'::varchar::mood;
UPDATE m SET feels = 'ok'::varchar WHERE id = 1;
SELECT * FROM m WHERE feels = 'ok'::varchar;
SELECT * FROM m ORDER BY id;

-- By a function.
CREATE FUNCTION mood_of(int) RETURNS mood LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (ARRAY[''sad'', ''ok'', ''happy''])[$1]::mood';
SELECT 2::mood;
CREATE CAST (int AS mood) WITH FUNCTION mood_of(int);
SELECT 2::mood, CAST(3 AS mood), NULL::int::mood;
INSERT INTO m VALUES (4, 2);
DROP CAST (int AS mood);
CREATE CAST (int AS mood) WITH FUNCTION mood_of(int) AS ASSIGNMENT;
INSERT INTO m VALUES (4, 2);
SELECT feels FROM m WHERE id = 4;
CREATE FUNCTION likes(mood) RETURNS text LANGUAGE sql AS 'SELECT ''likes '' || $1';
SELECT likes(2);
DROP CAST (int AS mood);
CREATE CAST (int AS mood) WITH FUNCTION mood_of(int) AS IMPLICIT;
SELECT likes(2);
SELECT 'ok'::mood = 2, 2 = 'ok'::mood;
CREATE TYPE point2 AS (x int, y int);
CREATE FUNCTION norm(point2) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN sqrt($1.x ^ 2 + $1.y ^ 2); END $$;
CREATE CAST (point2 AS float8) WITH FUNCTION norm(point2) AS IMPLICIT;
SELECT ROW(3, 4)::point2::float8, sqrt(ROW(3, 4)::point2);
SELECT ROW(3, 4)::point2 + 1::float8;

-- A function that is told the modifier, and whether it was said.
CREATE FUNCTION told(mood, int, bool) RETURNS varchar LANGUAGE sql IMMUTABLE AS 'SELECT format(''%s %s %s'', $1, $2, $3)::varchar';
CREATE CAST (mood AS varchar) WITH FUNCTION told(mood, int, bool) AS ASSIGNMENT;
SELECT 'ok'::mood::varchar, 'ok'::mood::varchar(20);
CREATE TABLE told_table (v varchar);
INSERT INTO told_table VALUES ('sad'::mood);
SELECT * FROM told_table;

-- In what is kept.
CREATE TABLE kept (n int, f mood GENERATED ALWAYS AS (n::mood) STORED, CHECK (n::mood <> 'happy'));
INSERT INTO kept VALUES (1);
INSERT INTO kept VALUES (3);
SELECT * FROM kept;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'kept'::regclass;
CREATE VIEW kept_view AS SELECT n::mood AS f FROM kept;
SELECT * FROM kept_view;

-- What is in the catalog.
SELECT castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod FROM pg_cast WHERE oid >= 16384 ORDER BY 1, 2;
COMMENT ON CAST (int AS mood) IS 'by number';
SELECT obj_description(oid, 'pg_cast') FROM pg_cast WHERE castsource = 'int'::regtype AND casttarget = 'mood'::regtype;
COMMENT ON CAST (text AS mood) IS 'none';

-- What is wrong.
CREATE CAST (int AS mood) WITH FUNCTION mood_of(int);
CREATE CAST (int AS bigint) WITH INOUT;
CREATE CAST (text AS mood) WITH FUNCTION mood_of(int);
CREATE CAST (text AS mood) WITH FUNCTION nowhere(text);
CREATE CAST (mood AS int) WITH FUNCTION likes(mood);
CREATE CAST (mood AS text) WITHOUT FUNCTION;
CREATE CAST (point2 AS text) WITHOUT FUNCTION;
CREATE CAST (int AS text) WITHOUT FUNCTION;
CREATE CAST (int AS anyelement) WITH INOUT;
CREATE CAST (nothing AS int) WITH INOUT;
CREATE CAST (mood AS mood) WITH FUNCTION likes(mood);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE CAST (positive AS mood) WITH FUNCTION mood_of(int);
DROP CAST (positive AS mood);
CREATE FUNCTION four(mood, int, bool, int) RETURNS text LANGUAGE sql AS 'SELECT ''x''';
CREATE CAST (mood AS text) WITH FUNCTION four(mood, int, bool, int);
CREATE FUNCTION several(mood) RETURNS SETOF text LANGUAGE sql AS 'SELECT ''x''';
CREATE CAST (mood AS text) WITH FUNCTION several(mood);

-- Dropped.
DROP CAST (text AS mood);
DROP CAST IF EXISTS (text AS mood);
DROP CAST IF EXISTS (nothing AS mood);
DROP CAST (int AS bigint);
DROP FUNCTION mood_of(int);
DROP FUNCTION mood_of(int) CASCADE;
SELECT 2::mood;
SELECT * FROM kept;
DROP TYPE mood;
DROP TYPE mood CASCADE;
SELECT count(*) FROM pg_cast WHERE oid >= 16384;

-- Rights.
CREATE ROLE user_casts_guest;
CREATE TYPE color AS ENUM ('red', 'green');
SET ROLE user_casts_guest;
CREATE CAST (text AS color) WITH INOUT;
RESET ROLE;
CREATE CAST (text AS color) WITH INOUT AS IMPLICIT;
SET ROLE user_casts_guest;
SELECT 'red'::text::color;
DROP CAST (text AS color);
RESET ROLE;
DROP CAST (text AS color);
DROP TYPE color;
DROP ROLE user_casts_guest;
