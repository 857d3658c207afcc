-- Functions whose names look like what a stored query notes of operators, casts and constants.

CREATE TABLE s (a int);

CREATE FUNCTION "regclass s"(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1';

CREATE FUNCTION "operator @@@"(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 2';

CREATE FUNCTION "cast 23 25"(x int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 3';

CREATE VIEW v AS SELECT "regclass s"(1) AS a, "operator @@@"(1) AS b, "cast 23 25"(1) AS c, 's'::regclass AS d;

SELECT * FROM v;

SELECT regexp_replace(pg_get_viewdef('v'::regclass), '\s+', ' ', 'g');

ALTER TABLE s RENAME TO s2;

SELECT * FROM v;

ALTER FUNCTION "regclass s"(int) RENAME TO "regtype int";

SELECT * FROM v;

SELECT regexp_replace(pg_get_viewdef('v'::regclass), '\s+', ' ', 'g');

DROP FUNCTION "regtype int"(int);

DROP FUNCTION "operator @@@"(int);

DROP FUNCTION "cast 23 25"(int);

DROP TABLE s2;

CREATE FUNCTION f(x int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT "regtype int"(x); END;

SELECT f(1);

DROP FUNCTION "regtype int"(int) CASCADE;

SELECT count(*) FROM pg_proc WHERE proname = 'f';

SELECT * FROM v;
