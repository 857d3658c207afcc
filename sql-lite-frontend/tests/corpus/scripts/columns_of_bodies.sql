-- Columns that the atomic body of a routine uses depend on it: they cannot be dropped, nor change their type, without it.
CREATE TABLE kept (a int PRIMARY KEY, b text, c numeric, d int);
CREATE TABLE log (at int, what text, more text);
CREATE VIEW shown AS SELECT a, b AS label FROM kept;
CREATE FUNCTION reads_a() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT a FROM kept WHERE c > 0; END;
CREATE FUNCTION calls() RETURNS int LANGUAGE sql RETURN reads_a() + 1;
CREATE FUNCTION by_view() RETURNS text LANGUAGE sql RETURN (SELECT label FROM shown LIMIT 1);
CREATE PROCEDURE writes(x text) LANGUAGE sql BEGIN ATOMIC INSERT INTO log (at, what) VALUES (1, x); UPDATE log SET what = x WHERE at = 2; END;
CREATE FUNCTION by_text() RETURNS int LANGUAGE sql AS 'SELECT d FROM kept';
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype
FROM pg_depend WHERE classid = 'pg_proc'::regclass AND refclassid = 'pg_class'::regclass AND refobjid >= 16384
ORDER BY objid, refobjid, refobjsubid;
ALTER TABLE kept DROP COLUMN a;
ALTER TABLE kept DROP COLUMN c;
ALTER TABLE kept DROP COLUMN b;
ALTER TABLE log DROP COLUMN what;
ALTER TABLE kept ALTER COLUMN c TYPE int;
ALTER TABLE log ALTER COLUMN at TYPE bigint;
ALTER TABLE kept ALTER COLUMN b TYPE varchar;
-- What no body uses goes, also where a text uses it.
ALTER TABLE kept DROP COLUMN d;
ALTER TABLE log ALTER COLUMN more TYPE varchar(10);
ALTER TABLE log DROP COLUMN more;
CALL writes('x');
SELECT * FROM log;
ALTER TABLE kept DROP COLUMN c CASCADE;
SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1;
ALTER TABLE log DROP COLUMN what CASCADE;
DROP VIEW shown;
DROP VIEW shown CASCADE;
SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1;
