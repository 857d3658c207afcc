-- SYSTEM_USER: the way in which the user was let in; NULL for trust.
SELECT SYSTEM_USER;
SELECT SYSTEM_USER IS NULL, pg_typeof(SYSTEM_USER), pg_catalog.system_user();
SELECT system_user AS u, coalesce(SYSTEM_USER, 'trusted');
CREATE VIEW v AS SELECT SYSTEM_USER AS u, pg_catalog.system_user() AS f, SYSTEM_USER || 'x' AS c;
SELECT pg_get_viewdef('v'::regclass);
SELECT * FROM v;
CREATE TABLE t (a int, who text DEFAULT SYSTEM_USER);
INSERT INTO t VALUES (1) RETURNING *;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass;
SELECT * FROM SYSTEM_USER;
SELECT * FROM pg_catalog.system_user() AS u;
SELECT provolatile, proisstrict, proparallel, prorettype::regtype FROM pg_proc WHERE proname = 'system_user';
CREATE INDEX ON t ((SYSTEM_USER));
SELECT system_user();
SELECT 1 AS system_user;
CREATE TABLE system_user (a int);
