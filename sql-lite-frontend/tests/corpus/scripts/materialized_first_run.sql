-- What functions may do in the query of a materialized view when it is made: what they may do in REFRESH.
CREATE FUNCTION makes() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'CREATE TEMP TABLE left_behind (a int)'; RETURN 1; END $$;
-- differs: the error's context
CREATE MATERIALIZED VIEW m AS SELECT makes() AS a;
CREATE TABLE m AS SELECT makes() AS a;
DROP TABLE m, left_behind;
CREATE FUNCTION sets() RETURNS text LANGUAGE sql AS $$ SELECT set_config('work_mem', '77MB', false) $$;
CREATE MATERIALIZED VIEW m AS SELECT sets() AS a;
SHOW work_mem;
SELECT * FROM m;
DROP MATERIALIZED VIEW m;
CREATE MATERIALIZED VIEW m AS SELECT sets() AS a WITH NO DATA;
REFRESH MATERIALIZED VIEW m;
SHOW work_mem;
DROP MATERIALIZED VIEW m;
CREATE FUNCTION takes_role() RETURNS text LANGUAGE plpgsql AS $$ BEGIN SET ROLE pg_monitor; RETURN current_user; END $$;
-- differs: the context has the function's schema
CREATE MATERIALIZED VIEW m AS SELECT takes_role() AS a;
SELECT current_user;
CREATE FUNCTION defers() RETURNS int LANGUAGE plpgsql AS $$ BEGIN SET CONSTRAINTS ALL DEFERRED; RETURN 1; END $$;
CREATE MATERIALIZED VIEW m AS SELECT defers() AS a;
DROP MATERIALIZED VIEW IF EXISTS m;
CREATE FUNCTION opens() RETURNS int LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1'; RETURN 1; END $$;
BEGIN;
-- differs: the context has the function's schema
CREATE MATERIALIZED VIEW m AS SELECT opens() AS a;
ROLLBACK;
CREATE MATERIALIZED VIEW m AS SELECT current_user AS a, session_user AS b;
SELECT a = current_user, b = session_user FROM m;
SET work_mem = '5MB';
CREATE MATERIALIZED VIEW m2 AS SELECT current_setting('work_mem') AS a;
SELECT * FROM m2;
SHOW work_mem;
