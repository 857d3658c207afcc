-- Functions that know the session are found as all others: by types, names, defaults and schemas.

CREATE TABLE t (id int PRIMARY KEY, v text DEFAULT 'x');
CREATE SEQUENCE s;
CREATE VIEW w AS SELECT CURRENT_USER AS u, CURRENT_ROLE AS r, SESSION_USER AS s, CURRENT_CATALOG AS c, CURRENT_SCHEMA AS p, current_database() AS d;

-- by types
SELECT has_table_privilege('t', 'SELECT'), has_table_privilege('t'::regclass, 'SELECT'), has_table_privilege('t'::regclass::oid, 'SELECT');
SELECT has_table_privilege(current_user, 't', 'SELECT'), has_table_privilege(current_user, 't'::regclass, 'INSERT');
SELECT has_column_privilege('t', 'v', 'UPDATE'), has_column_privilege('t', 2::int2, 'UPDATE'), has_column_privilege('t'::regclass, 'v', 'UPDATE');
SELECT has_table_privilege('t', 1);
SELECT has_table_privilege('t');
SELECT has_table_privilege('t', 'SELECT', 'x', 'y');
SELECT pg_has_role('pg_monitor', 'USAGE'), pg_has_role(current_user, 'pg_monitor', 'MEMBER');
SELECT nextval('s'), nextval('s'::text), nextval('s'::regclass);
SELECT setval('s', 7), setval('s', 9, true), setval('s', 9::smallint, false);
SELECT setval('s', 1.5);
SELECT setval('s', 'x');
SELECT currval('s'::text || ''), lastval();
SELECT nextval(1.0);
SELECT pg_relation_size('t') >= 0, pg_relation_size('t', 'main') >= 0, pg_relation_size('t'::regclass) >= 0;
SELECT pg_relation_size(true);
SELECT pg_sleep(0), pg_sleep(0::int), pg_sleep(0.0::numeric);
SELECT pg_sleep('soon');
SELECT pg_get_viewdef('w'::text) = pg_get_viewdef('w'::regclass), pg_get_viewdef('w'::regclass::oid) = pg_get_viewdef('w'::regclass, false);
SELECT pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) FROM pg_attrdef WHERE adrelid = 't'::regclass;
SELECT obj_description('t'::regclass), obj_description('t'::regclass, 'pg_class'), col_description('t'::regclass, 1);
SELECT pg_advisory_xact_lock(1), pg_advisory_xact_lock(1, 2), pg_try_advisory_lock(3::smallint), pg_advisory_unlock(3);
SELECT pg_advisory_lock('x');
SELECT pg_advisory_lock(1, 2, 3);
SELECT pg_advisory_lock(1.5);
SELECT txid_current(1);
SELECT inet_client_addr('x');

-- by names, and with defaults
SELECT pg_terminate_backend(pid => 0, timeout => 0);
SELECT pg_terminate_backend(timeout => 0, pid => 0);
SELECT pg_terminate_backend(pid => 0, wait => 1);
SELECT pg_terminate_backend(0);
SELECT pg_promote(wait => false);
SELECT pg_promote(false, wait_seconds => 0);

-- by schemas
SELECT pg_catalog.current_schema(), pg_catalog.current_database() = current_database(), pg_catalog.pg_table_is_visible('t'::regclass);
SELECT information_schema.current_database();
SELECT public.current_database();
SELECT nowhere.current_database();
CREATE FUNCTION public.pg_backend_pid() RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
SELECT public.pg_backend_pid(), pg_catalog.pg_backend_pid() > 0, pg_backend_pid()::text <> 'mine';
CREATE FUNCTION public.current_setting(int) RETURNS text LANGUAGE sql AS $$ SELECT 'by number' $$;
SELECT current_setting(1), current_setting('DateStyle'), current_setting('no.such', true);
SET search_path = public, pg_catalog;
SELECT pg_backend_pid();
RESET search_path;

-- what they are not
SELECT DISTINCT current_database(DISTINCT 1);
SELECT pg_backend_pid(*);
SELECT version() OVER ();
SELECT count(*) FILTER (WHERE pg_is_in_recovery()), pg_is_in_recovery() FILTER (WHERE true);
SELECT * FROM current_schemas(false);
SELECT * FROM current_schema() AS c(x);
SELECT current_setting(VARIADIC ARRAY['a']);

-- NULL
SELECT set_config('application_name', 'corpus', false), set_config('application_name', NULL, false), set_config('my.own', 'x', NULL);
SELECT set_config(NULL, 'x', false);
SELECT current_setting(NULL), has_table_privilege(NULL, 'SELECT'), pg_get_viewdef(NULL::oid) IS NULL;
SELECT pg_get_userbyid(NULL), nextval(NULL);

-- window functions, too
SELECT lag(x) OVER w, lag(x, 1) OVER w, lag(x, 1, 0) OVER w, lead(x, 1, 2.5) OVER w, ntile(2::smallint) OVER w FROM (VALUES (1), (2)) v(x) WINDOW w AS (ORDER BY x);
SELECT pg_typeof(lead(x, 1, 2.5) OVER ()), pg_typeof(lag(x) OVER ()), pg_typeof(first_value(x) OVER ()) FROM (VALUES (1)) v(x);
SELECT lag('a') OVER ();
SELECT lag(x, 'b') OVER () FROM (VALUES (1)) v(x);
SELECT lag(x, 1, 'c') OVER () FROM (VALUES (1)) v(x);
SELECT lag(x, 1, true) OVER () FROM (VALUES (1)) v(x);
SELECT ntile(1.5) OVER ();
SELECT rank(1) OVER ();
SELECT rank();
SELECT lag(1);
SELECT nth_value(x) OVER () FROM (VALUES (1)) v(x);
SELECT pg_catalog.row_number() OVER ();
SELECT public.row_number() OVER ();

-- in pg_proc
SELECT proname, pg_get_function_arguments(oid), provolatile, proisstrict FROM pg_proc WHERE proname IN ('nextval', 'setval', 'set_config', 'pg_promote', 'lag', 'row_number', 'pg_get_viewdef') ORDER BY oid;
SELECT 'setval'::regproc;
SELECT 'nextval'::regproc, 'setval(regclass, bigint)'::regprocedure, 'lag(anyelement)'::regprocedure;
