-- What is dropped, or renamed, under others: views over sequences, foreign keys to unique indexes,
-- atomic functions over views, extensions without members, defaults of parameters.
CREATE SEQUENCE s;
CREATE VIEW v AS SELECT last_value AS n FROM s;
DROP SEQUENCE s;
ALTER SEQUENCE s RENAME TO s2;
SELECT * FROM v;
DROP SEQUENCE s2 CASCADE;
SELECT * FROM v;

CREATE TABLE t (a int, b int);
CREATE UNIQUE INDEX u ON t (a);
CREATE TABLE c (a int REFERENCES t (a));
DROP INDEX u;
DROP INDEX u CASCADE;
SELECT count(*) FROM pg_constraint WHERE conrelid = 'c'::regclass;

CREATE VIEW w AS SELECT b FROM t;
CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM w; END;
ALTER TABLE t DROP COLUMN b;
ALTER TABLE t DROP COLUMN b CASCADE;
SELECT f();

CREATE SCHEMA sc;
CREATE EXTENSION btree_gist SCHEMA sc;
DROP SCHEMA sc;
DROP SCHEMA sc CASCADE;
SELECT extname FROM pg_extension WHERE extname = 'btree_gist';

CREATE COLLATION co (provider = icu, locale = 'sv');
CREATE FUNCTION g(x text DEFAULT 'a' COLLATE co) RETURNS text LANGUAGE sql AS 'SELECT x';
DROP COLLATION co;
DROP COLLATION co CASCADE;
SELECT g();
