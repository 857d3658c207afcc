-- What a read-only transaction may do: every kind of command, each in one of its own.

create table rot (a int primary key, b int);

create index roidx on rot (b);

create view rov as select * from rot;

create sequence ros;

create procedure rop() language plpgsql as 'begin insert into rot values (5); end';

create materialized view romv as select 1;

create function rotf() returns trigger language plpgsql as 'begin return null; end';

create type roe as enum ('a');

create domain rod2 as int;

create temp table rotemp (a int);

create temp sequence rotemps;

prepare rop_select as select 1;

prepare rop_insert as insert into rot values (4);

begin read only;

ANALYZE rot;

rollback;

begin read only;

ANALYZE;

rollback;

begin read only;

-- differs: refused: REINDEX in a read-only transaction
REINDEX TABLE rot;

rollback;

begin read only;

-- differs: refused: REINDEX in a read-only transaction
REINDEX INDEX rot_pkey;

rollback;

begin read only;

-- differs: refused: REINDEX in a read-only transaction
REINDEX SCHEMA public;

rollback;

begin read only;

LOCK TABLE rot IN ACCESS SHARE MODE;

rollback;

begin read only;

LOCK TABLE rot IN ROW SHARE MODE;

rollback;

begin read only;

LOCK TABLE rot IN ROW EXCLUSIVE MODE;

rollback;

begin read only;

LOCK TABLE rot;

rollback;

begin read only;

LISTEN a;

rollback;

begin read only;

UNLISTEN a;

rollback;

begin read only;

NOTIFY a;

rollback;

begin read only;

SET work_mem = '4MB';

rollback;

begin read only;

RESET work_mem;

rollback;

begin read only;

SHOW work_mem;

rollback;

begin read only;

SET TRANSACTION READ ONLY;

rollback;

begin read only;

SET TRANSACTION READ WRITE;

rollback;

begin read only;

SET CONSTRAINTS ALL DEFERRED;

rollback;

begin read only;

DECLARE c CURSOR FOR SELECT * FROM rot;

rollback;

begin read only;

DECLARE c CURSOR WITH HOLD FOR SELECT * FROM rot;

rollback;

begin read only;

DECLARE c CURSOR FOR SELECT * FROM rot FOR UPDATE;

rollback;

begin read only;

PREPARE p AS SELECT 1;

rollback;

begin read only;

PREPARE p AS INSERT INTO rot VALUES (1);

rollback;

begin read only;

DO $$ BEGIN NULL; END $$;

rollback;

begin read only;

DO $$ BEGIN INSERT INTO rot VALUES (9); END $$;

rollback;

begin read only;

CALL rop();

rollback;

begin read only;

SELECT nextval('ros');

rollback;

begin read only;

SELECT setval('ros', 3);

rollback;

begin read only;

SELECT currval('ros');

rollback;

begin read only;

SELECT * FROM rot FOR UPDATE;

rollback;

begin read only;

SELECT * FROM rot FOR SHARE;

rollback;

begin read only;

SELECT * FROM rot FOR KEY SHARE;

rollback;

begin read only;

WITH w AS (INSERT INTO rot VALUES (8) RETURNING *) SELECT * FROM w;

rollback;

begin read only;

SELECT 1 INTO rox;

rollback;

begin read only;

INSERT INTO rot VALUES (7);

rollback;

begin read only;

UPDATE rot SET b = 1;

rollback;

begin read only;

DELETE FROM rot;

rollback;

begin read only;

TRUNCATE rot;

rollback;

begin read only;

CREATE TABLE roy (a int);

rollback;

begin read only;

CREATE TEMP TABLE roy (a int);

rollback;

begin read only;

CREATE TABLE roy AS SELECT 1;

rollback;

begin read only;

CREATE TEMP TABLE roy AS SELECT 1;

rollback;

begin read only;

CREATE VIEW rov2 AS SELECT 1;

rollback;

begin read only;

CREATE INDEX ON rot (b);

rollback;

begin read only;

CREATE SEQUENCE ros2;

rollback;

begin read only;

CREATE TEMP SEQUENCE ros2;

rollback;

begin read only;

CREATE SCHEMA roz;

rollback;

begin read only;

CREATE TYPE ty AS (a int);

rollback;

begin read only;

CREATE DOMAIN td AS int;

rollback;

begin read only;

CREATE FUNCTION rof() RETURNS int LANGUAGE sql AS 'SELECT 1';

rollback;

begin read only;

CREATE ROLE ror;

rollback;

begin read only;

CREATE USER ror;

rollback;

begin read only;

CREATE DATABASE rod;

rollback;

begin read only;

CREATE TABLESPACE rots LOCATION '/nowhere';

rollback;

begin read only;

CREATE PUBLICATION rop;

rollback;

begin read only;

CREATE SUBSCRIPTION ros CONNECTION 'x' PUBLICATION y;

rollback;

begin read only;

CREATE EXTENSION plpgsql;

rollback;

begin read only;

CREATE COLLATION roc FROM "C";

rollback;

begin read only;

CREATE TRIGGER rotr BEFORE INSERT ON rot EXECUTE FUNCTION rotf();

rollback;

begin read only;

CREATE POLICY ropo ON rot;

rollback;

begin read only;

CREATE STATISTICS rost ON a, b FROM rot;

rollback;

begin read only;

CREATE AGGREGATE roa (int) (sfunc = int4pl, stype = int);

rollback;

begin read only;

CREATE OPERATOR ### (function = int4pl, leftarg = int, rightarg = int);

rollback;

begin read only;

CREATE CAST (int AS text) WITH INOUT;

rollback;

begin read only;

CREATE RULE roru AS ON INSERT TO rot DO NOTHING;

rollback;

begin read only;

CREATE EVENT TRIGGER roe ON ddl_command_start EXECUTE FUNCTION rotf();

rollback;

begin read only;

CREATE FOREIGN DATA WRAPPER rofdw;

rollback;

begin read only;

CREATE SERVER rosrv FOREIGN DATA WRAPPER x;

rollback;

begin read only;

CREATE ACCESS METHOD roam TYPE INDEX HANDLER x;

rollback;

begin read only;

CREATE MATERIALIZED VIEW romv2 AS SELECT 1;

rollback;

begin read only;

CREATE TEXT SEARCH CONFIGURATION rotsc (COPY = simple);

rollback;

begin read only;

CREATE CONVERSION rocon FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;

rollback;

begin read only;

CREATE LANGUAGE rolang;

rollback;

begin read only;

REFRESH MATERIALIZED VIEW romv;

rollback;

begin read only;

ALTER TABLE rot ADD c int;

rollback;

begin read only;

ALTER TABLE rot RENAME TO rou;

rollback;

begin read only;

ALTER TABLE rot OWNER TO CURRENT_USER;

rollback;

begin read only;

ALTER TABLE rot SET SCHEMA public;

rollback;

begin read only;

ALTER INDEX rot_pkey RENAME TO rox;

rollback;

begin read only;

ALTER SEQUENCE ros RESTART;

rollback;

begin read only;

ALTER VIEW rov RENAME TO roq;

rollback;

begin read only;

ALTER FUNCTION rotf() IMMUTABLE;

rollback;

begin read only;

ALTER ROLE CURRENT_USER SET work_mem = '4MB';

rollback;

begin read only;

ALTER SYSTEM SET work_mem = '4MB';

rollback;

begin read only;

ALTER SYSTEM RESET ALL;

rollback;

begin read only;

ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;

rollback;

begin read only;

ALTER TYPE roe ADD VALUE 'z';

rollback;

begin read only;

ALTER DOMAIN rod2 SET NOT NULL;

rollback;

begin read only;

ALTER EXTENSION plpgsql UPDATE;

rollback;

begin read only;

ALTER PUBLICATION rop SET (publish = 'insert');

rollback;

begin read only;

ALTER POLICY ropo ON rot USING (true);

rollback;

begin read only;

ALTER TRIGGER rotr ON rot RENAME TO x;

rollback;

begin read only;

DROP TABLE rot;

rollback;

begin read only;

DROP TABLE IF EXISTS nothere;

rollback;

begin read only;

DROP VIEW rov;

rollback;

begin read only;

DROP INDEX roidx;

rollback;

begin read only;

DROP SEQUENCE ros;

rollback;

begin read only;

DROP SCHEMA roz;

rollback;

begin read only;

DROP TYPE roe;

rollback;

begin read only;

DROP FUNCTION rotf();

rollback;

begin read only;

DROP ROLE ror;

rollback;

begin read only;

DROP DATABASE rod;

rollback;

begin read only;

DROP TABLESPACE rots;

rollback;

begin read only;

DROP PUBLICATION rop;

rollback;

begin read only;

DROP SUBSCRIPTION ros;

rollback;

begin read only;

DROP EXTENSION plpgsql;

rollback;

begin read only;

DROP OWNED BY CURRENT_USER;

rollback;

begin read only;

REASSIGN OWNED BY CURRENT_USER TO CURRENT_USER;

rollback;

begin read only;

DROP TRIGGER rotr ON rot;

rollback;

begin read only;

DROP POLICY ropo ON rot;

rollback;

begin read only;

GRANT SELECT ON rot TO PUBLIC;

rollback;

begin read only;

REVOKE SELECT ON rot FROM PUBLIC;

rollback;

begin read only;

GRANT pg_monitor TO CURRENT_USER;

rollback;

begin read only;

COMMENT ON TABLE rot IS 'x';

rollback;

begin read only;

COMMENT ON TABLE rot IS NULL;

rollback;

begin read only;

SAVEPOINT a;

rollback;

begin read only;

COMMIT AND CHAIN;

rollback;

begin read only;

SELECT pg_notify('a', 'b');

rollback;

begin read only;

SELECT set_config('work_mem', '4MB', false);

rollback;

begin read only;

SELECT pg_advisory_xact_lock(1);

rollback;

begin read only;

INSERT INTO rotemp VALUES (1);

rollback;

begin read only;

UPDATE rotemp SET a = 2;

rollback;

begin read only;

DELETE FROM rotemp;

rollback;

begin read only;

TRUNCATE rotemp;

rollback;

begin read only;

DROP TABLE rotemp;

rollback;

begin read only;

ALTER TABLE rotemp ADD b int;

rollback;

begin read only;

CREATE INDEX ON rotemp (a);

rollback;

begin read only;

ANALYZE rotemp;

rollback;

begin read only;

SELECT nextval('rotemps');

rollback;

begin read only;

SELECT * FROM rotemp FOR UPDATE;

rollback;

begin read only;

EXECUTE rop_select;

rollback;

begin read only;

EXECUTE rop_insert;

rollback;

begin read only;

FETCH 1 FROM nocursor;

rollback;

begin read only;

CLOSE ALL;

rollback;

begin read only;

EXPLAIN (COSTS OFF) SELECT 1;

rollback;

begin read only;

EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) INSERT INTO rot VALUES (9);

rollback;

begin read only;

COPY rot TO STDOUT;

rollback;

begin read only;

COPY (DELETE FROM rot RETURNING *) TO STDOUT;

rollback;

begin read only;

CHECKPOINT;

rollback;

begin read only;

VACUUM rot;

rollback;

begin read only;

DISCARD ALL;

rollback;

begin read only;

DISCARD TEMP;

rollback;
