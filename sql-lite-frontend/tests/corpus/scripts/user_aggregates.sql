-- Aggregates that users make.
CREATE TABLE t (id int PRIMARY KEY, g text, v int, w numeric, s text);
INSERT INTO t VALUES (1, 'a', 10, 1.5, 'x'), (2, 'a', 20, 2.5, 'y'), (3, 'b', NULL, 3.5, NULL), (4, 'b', 5, NULL, 'z'), (5, 'c', NULL, NULL, NULL);

-- Over built-in functions, in both syntaxes.
CREATE AGGREGATE my_sum (int) (sfunc = int4pl, stype = int, initcond = '0');
SELECT my_sum(v) FROM t;
SELECT g, my_sum(v) FROM t GROUP BY g ORDER BY g;
SELECT my_sum(v) FROM t WHERE false;
CREATE AGGREGATE old_sum (basetype = int, sfunc = int4pl, stype = int, initcond = '0');
SELECT old_sum(v), old_sum(DISTINCT v), old_sum(v) FILTER (WHERE v > 5) FROM t;
CREATE AGGREGATE first_sum (int) (sfunc = int4pl, stype = int);
SELECT first_sum(v) FROM t;
SELECT g, first_sum(v) FROM t GROUP BY g ORDER BY g;
SELECT first_sum(v) FROM t WHERE false;
CREATE AGGREGATE biggest (anyelement) (sfunc = larger_of, stype = anyelement);
CREATE FUNCTION larger_of(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE STRICT AS 'SELECT CASE WHEN $1 > $2 THEN $1 ELSE $2 END';
CREATE AGGREGATE biggest (anyelement) (sfunc = larger_of, stype = anyelement);
SELECT biggest(v), biggest(w), biggest(s) FROM t;

-- Over SQL and PL/pgSQL.
CREATE FUNCTION add_text(text, text) RETURNS text LANGUAGE sql AS 'SELECT coalesce($1 || '','', '''') || coalesce($2, ''-'')';
CREATE AGGREGATE listed (text) (sfunc = add_text, stype = text);
SELECT listed(s ORDER BY id) FROM t;
SELECT listed(s ORDER BY id DESC) FROM t;
SELECT listed(DISTINCT s ORDER BY s) FROM t;
SELECT listed(s) FROM t WHERE false;
SELECT g, listed(s ORDER BY id) FROM t GROUP BY g ORDER BY g;
SELECT id, listed(s) OVER (ORDER BY id) FROM t ORDER BY id;
SELECT id, listed(s) OVER (PARTITION BY g ORDER BY id ROWS 1 PRECEDING) FROM t ORDER BY id;
SELECT id, my_sum(v) FILTER (WHERE v < 15) OVER (ORDER BY id) FROM t ORDER BY id;
CREATE FUNCTION avg_step(state numeric[], value numeric) RETURNS numeric[] LANGUAGE plpgsql AS $$ BEGIN IF value IS NULL THEN RETURN state; END IF; RETURN ARRAY[state[1] + value, state[2] + 1]; END $$;
CREATE FUNCTION avg_end(state numeric[]) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN IF state[2] = 0 THEN RETURN NULL; END IF; RETURN round(state[1] / state[2], 3); END $$;
CREATE AGGREGATE my_avg (numeric) (sfunc = avg_step, stype = numeric[], finalfunc = avg_end, initcond = '{0,0}');
SELECT my_avg(w) FROM t;
SELECT g, my_avg(w) FROM t GROUP BY g ORDER BY g;
SELECT my_avg(v) FROM t;
SELECT my_avg(w) OVER (ORDER BY id) FROM t ORDER BY id;
SELECT my_avg(w) FROM t HAVING my_avg(w) > 1;
SELECT g FROM t GROUP BY g HAVING my_sum(v) > 5 ORDER BY my_sum(v);
SELECT my_sum(my_sum(v)) FROM t;
SELECT * FROM t WHERE my_sum(v) > 1;
SELECT my_sum(v), v FROM t;
SELECT my_sum(*) FROM t;
SELECT my_sum() FROM t;
SELECT my_sum('x'::text) FROM t;
SELECT my_sum(v) WITHIN GROUP (ORDER BY v) FROM t;

-- Two arguments, none, and as many as there are.
CREATE FUNCTION weigh(numeric, numeric, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 + coalesce($2, 0) * coalesce($3, 0)';
CREATE AGGREGATE weighted (v numeric, weight numeric) (sfunc = weigh, stype = numeric, initcond = 0);
SELECT weighted(v, w) FROM t;
SELECT weighted(v, w ORDER BY id) FROM t;
CREATE FUNCTION one_more(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE AGGREGATE my_count (*) (sfunc = one_more, stype = int, initcond = '0');
SELECT my_count(*) FROM t;
SELECT g, my_count(*) FROM t GROUP BY g ORDER BY g;
CREATE AGGREGATE old_count (basetype = 'ANY', sfunc = one_more, stype = int, initcond = '0');
SELECT old_count(*) FROM t;
CREATE FUNCTION spread(int[], VARIADIC int[]) RETURNS int[] LANGUAGE sql AS 'SELECT $1 || $2';
CREATE AGGREGATE all_of (VARIADIC int[]) (sfunc = spread, stype = int[], initcond = '{}');
SELECT all_of(id, v ORDER BY id) FROM t WHERE v IS NOT NULL;
CREATE FUNCTION pushed(anyarray, anyelement) RETURNS anyarray LANGUAGE sql AS 'SELECT array_append($1, $2)';
CREATE AGGREGATE collected (anyelement) (sfunc = pushed, stype = anyarray, initcond = '{}');
SELECT collected(id ORDER BY id DESC) FROM t;
SELECT collected(s ORDER BY id) FROM t;
CREATE FUNCTION with_type(anyelement, anyelement) RETURNS text LANGUAGE sql AS 'SELECT pg_typeof($2)::text';
CREATE AGGREGATE typed (anyelement) (sfunc = larger_of, stype = anyelement, finalfunc = with_type, finalfunc_extra);
SELECT typed(v), typed(w) FROM t;

-- In subqueries and from them.
SELECT (SELECT my_sum(v) FROM t u WHERE u.g = t.g) FROM t ORDER BY id;
SELECT g, (SELECT my_sum(t.v)) FROM t GROUP BY g ORDER BY g;
SELECT my_sum(n) FROM generate_series(1, 100) n;
SELECT count(*), my_sum(v), sum(v) FROM t;
CREATE VIEW sums AS SELECT g, my_sum(v) AS total FROM t GROUP BY g;
SELECT * FROM sums ORDER BY g;

-- A function that fails, and one that gives NULL.
CREATE FUNCTION fails(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF $2 = 20 THEN RAISE EXCEPTION 'no % here', $2; END IF; RETURN 0; END $$;
CREATE AGGREGATE failing (int) (sfunc = fails, stype = int, initcond = '0');
SELECT failing(v) FROM t;
CREATE FUNCTION gives_null(int, int) RETURNS int LANGUAGE sql STRICT AS 'SELECT CASE WHEN $2 = 20 THEN NULL ELSE $1 + $2 END';
CREATE AGGREGATE nulling (int) (sfunc = gives_null, stype = int, initcond = '0');
SELECT nulling(v ORDER BY id) FROM t;

-- What is wrong.
CREATE AGGREGATE bad (int) (stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = text);
CREATE AGGREGATE bad (int) (sfunc = nowhere, stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, initcond = 'x');
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, foo = 1);
SELECT bad(v) FROM t;
DROP AGGREGATE bad(int);
CREATE AGGREGATE bad (text) (sfunc = int4pl, stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, basetype = int);
CREATE AGGREGATE bad (sfunc = int4pl, stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, finalfunc = nowhere);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, combinefunc = avg_end);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, mstype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, mstype = int, msfunc = int4pl);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, msfunc = int4pl);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, parallel = maybe);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = int, finalfunc_modify = 'sometimes');
CREATE AGGREGATE bad (int, int) (sfunc = weigh, stype = int, sortop = >);
CREATE AGGREGATE bad (numeric) (sfunc = add_text, stype = text);
-- differs: the error's position
CREATE AGGREGATE bad (SETOF int) (sfunc = int4pl, stype = int);
CREATE AGGREGATE bad (OUT int) (sfunc = int4pl, stype = int);
CREATE AGGREGATE bad (int) (sfunc = int4pl, stype = anyelement);
CREATE AGGREGATE my_sum (int) (sfunc = int4pl, stype = int);
CREATE AGGREGATE nowhere.bad (int) (sfunc = int4pl, stype = int);
CREATE OR REPLACE AGGREGATE my_sum (int) (sfunc = int4pl, stype = int, initcond = '100');
SELECT my_sum(v) FROM t;
CREATE OR REPLACE AGGREGATE my_sum (int) (sfunc = int4pl, stype = int, finalfunc = to_hex);
CREATE OR REPLACE AGGREGATE one_more (int) (sfunc = int4pl, stype = int);
CREATE OR REPLACE FUNCTION my_sum(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT one_more(1), one_more(DISTINCT 1);
-- differs: refused: ordered-set aggregates of users
CREATE AGGREGATE pctl (float8 ORDER BY anyelement) (sfunc = int4pl, stype = int);

-- Kept as they were said.
CREATE AGGREGATE whole (int) (sfunc = int4pl, stype = int, sspace = 100, initcond = '0', combinefunc = int4pl, parallel = safe, sortop = <, msfunc = int4pl, minvfunc = int4mi, mstype = int, minitcond = '0', msspace = 8);
SELECT aggfnoid, aggkind, aggnumdirectargs, aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggfinalextra, aggfinalmodify, aggsortop::regoperator, aggtranstype::regtype, aggtransspace, aggmtranstype::regtype, aggmtransspace, agginitval, aggminitval FROM pg_aggregate WHERE aggfnoid = 'whole'::regproc;
SELECT whole(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY id;
SELECT proname, prokind, provolatile, proisstrict, proparallel, prosrc, prorettype::regtype, pronargs FROM pg_proc WHERE proname IN ('whole', 'my_avg', 'listed', 'my_count') ORDER BY 1;
SELECT pg_get_functiondef('whole(int)'::regprocedure);
SELECT 'my_avg'::regproc, 'my_avg(numeric)'::regprocedure, pg_get_function_arguments('weighted'::regproc), pg_get_function_result('weighted'::regproc);

-- Changed, commented, dropped.
COMMENT ON AGGREGATE my_sum (int) IS 'a sum';
SELECT obj_description('my_sum(int)'::regprocedure, 'pg_proc');
COMMENT ON AGGREGATE my_count (*) IS 'a count';
COMMENT ON AGGREGATE nowhere (int) IS 'x';
COMMENT ON AGGREGATE one_more (int) IS 'x';
ALTER AGGREGATE old_sum (int) RENAME TO older_sum;
SELECT older_sum(v) FROM t;
SELECT old_sum(v) FROM t;
CREATE SCHEMA other;
ALTER AGGREGATE older_sum (int) SET SCHEMA other;
SELECT other.older_sum(v) FROM t;
ALTER AGGREGATE older_sum (int) RENAME TO x;
ALTER FUNCTION my_sum(int) STRICT;
ALTER FUNCTION my_sum(int) RENAME TO my_total;
ALTER AGGREGATE my_total(int) RENAME TO my_sum;
DROP FUNCTION my_sum(int);
DROP AGGREGATE one_more(int);
DROP AGGREGATE nowhere(int);
DROP AGGREGATE IF EXISTS nowhere(int);
DROP AGGREGATE IF EXISTS nowhere(nothing);
DROP AGGREGATE my_sum(int);
DROP AGGREGATE my_sum(int) CASCADE;
SELECT * FROM sums;
DROP FUNCTION add_text(text, text);
DROP FUNCTION add_text(text, text) CASCADE;
SELECT listed(s) FROM t;
DROP AGGREGATE my_count(*), other.older_sum(int);

-- Rights.
CREATE ROLE user_aggregates_guest;
CREATE AGGREGATE guarded (int) (sfunc = int4pl, stype = int, initcond = '0');
REVOKE ALL ON FUNCTION guarded(int) FROM PUBLIC;
GRANT SELECT ON t TO user_aggregates_guest;
SET ROLE user_aggregates_guest;
SELECT guarded(v) FROM t;
DROP AGGREGATE guarded(int);
RESET ROLE;
GRANT EXECUTE ON FUNCTION guarded(int) TO user_aggregates_guest;
SET ROLE user_aggregates_guest;
SELECT guarded(v) FROM t;
CREATE AGGREGATE mine (int) (sfunc = int4pl, stype = int);
RESET ROLE;
DROP OWNED BY user_aggregates_guest;
DROP ROLE user_aggregates_guest;
