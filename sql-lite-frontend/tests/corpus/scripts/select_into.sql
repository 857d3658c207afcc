-- SELECT … INTO makes a table, as CREATE TABLE … AS does.
CREATE TABLE t (id int PRIMARY KEY, v varchar(3) NOT NULL); INSERT INTO t VALUES (1, 'a'), (2, 'b');
SELECT id, v AS w INTO t2 FROM t WHERE id = 1;
SELECT * FROM t2;
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 't2'::regclass AND attnum > 0 ORDER BY attnum;
SELECT 1 AS x INTO TEMP tt;
SELECT * FROM tt;
SELECT x INTO TEMPORARY TABLE tt2 FROM tt;
SELECT * INTO UNLOGGED TABLE t3 FROM t;
SELECT id INTO t2 FROM t;
SELECT id INTO t5 FROM t UNION SELECT 9 ORDER BY 1;
SELECT * FROM t5 ORDER BY 1;
SELECT id FROM t UNION SELECT 9 INTO t5b;
SELECT id INTO t5c FROM t UNION ALL SELECT id FROM t EXCEPT SELECT 2;
SELECT * FROM t5c ORDER BY 1;
WITH x AS (SELECT 1 AS a) SELECT * INTO t6 FROM x;
SELECT * FROM t6;
SELECT id, count(*) AS n INTO t7 FROM t GROUP BY id HAVING id > 1 ORDER BY id LIMIT 1;
SELECT * FROM t7;
SELECT 1 AS a, 2 AS a INTO t8;
SELECT 1, 2 INTO t8;
SELECT (SELECT 1 INTO t9);
SELECT * FROM (SELECT 1 INTO t9) s;
INSERT INTO t SELECT 5 INTO t9;
WITH x AS (SELECT 1 INTO t9) SELECT * FROM x;
SELECT 1 INTO nowhere.t9;
SELECT nix INTO t9 FROM t;
DO $$ BEGIN EXECUTE 'SELECT 1 AS q INTO t10'; END $$;
DO $$ DECLARE n int; BEGIN SELECT count(*) INTO n FROM t; RAISE NOTICE '%', n; END $$;
-- parameters: 7
SELECT v, $1::int AS p INTO t12 FROM t WHERE id = 1;
SELECT * FROM t12;
BEGIN; SELECT 1 AS one INTO t13; ROLLBACK;
SELECT * FROM t13;
SELECT 1 AS a INTO t14; SELECT a + 1 AS b INTO t15 FROM t14;
SELECT * FROM t15;
BEGIN READ ONLY; SELECT 1 AS one INTO t16;
ROLLBACK;
-- A parameter is no value of a setting, nor a password.
SET enable_seqscan = $1;
SELECT 1; SET enable_seqscan = $1;
-- parameters: off
SET enable_seqscan = $1;
-- parameters: x
SET TIME ZONE $1;
-- parameters: x | y
SET search_path TO $1, $2;
-- parameters: x
SET SESSION AUTHORIZATION $1;
-- parameters: x
SET LOCAL work_mem TO $1;
-- parameters: x
ALTER ROLE postgres PASSWORD $1;
-- parameters: x
CREATE ROLE r PASSWORD $1;
-- parameters: x
ALTER ROLE postgres SET work_mem = $1;
-- parameters: x
ALTER DATABASE postgres SET work_mem = $1;
SHOW enable_seqscan;
