-- CREATE, ALTER and DROP EXTENSION, and what belongs to an extension.
SELECT extname, extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension ORDER BY 1;
CREATE EXTENSION IF NOT EXISTS plpgsql;
CREATE EXTENSION plpgsql;
SELECT digest('abc', 'md5');
CREATE EXTENSION pgcrypto;
SELECT digest('abc', 'md5');
CREATE EXTENSION pgcrypto;
CREATE EXTENSION IF NOT EXISTS pgcrypto;
CREATE EXTENSION "uuid-ossp" WITH SCHEMA public VERSION '1.1' CASCADE;
CREATE EXTENSION unaccent VERSION '7';
CREATE EXTENSION unaccent SCHEMA nowhere;
CREATE EXTENSION unaccent SCHEMA public SCHEMA public;
CREATE EXTENSION btree_gin;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE SCHEMA tools;
CREATE EXTENSION pg_trgm SCHEMA tools;
SELECT similarity('a', 'b');
SELECT tools.similarity('word', 'words');
SELECT 'word' OPERATOR(tools.%) 'words';
SET search_path = public, tools;
SELECT similarity('word', 'words'), 'word' % 'words';
RESET search_path;
-- differs: the extension's version
SELECT extname, extversion, extrelocatable, extnamespace::regnamespace, extconfig, extcondition FROM pg_extension ORDER BY 1;
-- differs: the extension's version
SELECT name, default_version, installed_version, comment FROM pg_available_extensions WHERE name IN ('pgcrypto', 'unaccent', 'plpgsql', 'uuid-ossp', 'pg_trgm') ORDER BY name COLLATE "C";
-- differs: the extension's version
SELECT name, version, installed, superuser, trusted, relocatable, schema, requires FROM pg_available_extension_versions WHERE name IN ('pgcrypto', 'plpgsql', 'pg_stat_statements') AND version IN ('1.3', '1.0', '1.10') ORDER BY name COLLATE "C";
SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'pgcrypto';
COMMENT ON EXTENSION pgcrypto IS 'our own words';
SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'pgcrypto';
COMMENT ON EXTENSION nowhere IS 'x';
SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'uuid-ossp');
SELECT proname, prolang IN (SELECT oid FROM pg_language WHERE lanname = 'c'), provolatile, proisstrict, proparallel FROM pg_proc WHERE proname IN ('digest', 'gen_salt', 'uuid_nil') ORDER BY 1, pronargs;

-- What belongs to it goes with it only.
DROP FUNCTION digest(text, text);
DROP FUNCTION digest(text, text) CASCADE;
DROP OPERATOR tools.% (text, text);
CREATE TABLE t (id uuid DEFAULT uuid_generate_v4() PRIMARY KEY, name text, hash bytea GENERATED ALWAYS AS (digest(name, 'sha1')) STORED);
INSERT INTO t (name) VALUES ('x');
SELECT name, hash, id IS NOT NULL FROM t;
CREATE VIEW hashes AS SELECT digest(name, 'md5') AS h FROM t;
DROP EXTENSION "uuid-ossp";
DROP EXTENSION "uuid-ossp" CASCADE;
INSERT INTO t (name) VALUES ('y');
SELECT uuid_nil();
DROP EXTENSION nowhere;
DROP EXTENSION IF EXISTS nowhere;
DROP EXTENSION IF EXISTS nowhere, btree_gin;
DROP SCHEMA tools;
DROP SCHEMA tools CASCADE;
SELECT extname FROM pg_extension ORDER BY 1;

-- Changed.
-- differs: the extension's version
ALTER EXTENSION pgcrypto UPDATE;
-- differs: the extension's version
ALTER EXTENSION pgcrypto UPDATE TO '1.3';
-- differs: the extension's version
ALTER EXTENSION pgcrypto UPDATE TO '9';
ALTER EXTENSION nowhere UPDATE;
CREATE SCHEMA crypto;
ALTER EXTENSION pgcrypto SET SCHEMA crypto;
SELECT crypto.digest('abc', 'md5');
SELECT digest('abc', 'md5');
SELECT * FROM hashes;
ALTER EXTENSION pgcrypto SET SCHEMA nowhere;

-- In a transaction that is rolled back.
BEGIN;
CREATE EXTENSION unaccent;
SELECT unaccent('Hôtel');
ROLLBACK;
SELECT unaccent('Hôtel');
BEGIN;
DROP EXTENSION pgcrypto CASCADE;
ROLLBACK;
SELECT crypto.digest('abc', 'md5');

-- Rights.
CREATE ROLE extensions_guest;
SET ROLE extensions_guest;
CREATE EXTENSION unaccent;
DROP EXTENSION pgcrypto;
ALTER EXTENSION pgcrypto UPDATE;
COMMENT ON EXTENSION pgcrypto IS 'x';
CREATE EXTENSION pg_stat_statements;
RESET ROLE;
DROP ROLE extensions_guest;

-- LANGUAGE c and internal.
CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'int4pl';
SELECT plus(1, 2), plus(1, NULL);
CREATE FUNCTION plus(int) RETURNS int LANGUAGE internal AS 'nothing_of_that_name';
SELECT pg_get_functiondef('plus(int,int)'::regprocedure);
CREATE AGGREGATE plus_all (int) (sfunc = plus, stype = int);
SELECT plus_all(g) FROM generate_series(1, 4) g;
