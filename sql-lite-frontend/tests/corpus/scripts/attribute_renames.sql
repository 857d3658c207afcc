-- RENAME ATTRIBUTE where stored texts name the attribute, and where none does.
CREATE TYPE pair AS (a int, b text, c int); CREATE DOMAIN dpair AS pair CHECK ((VALUE).c > 0);
CREATE TABLE t (p pair, d dpair, CHECK ((p).a > 0)); INSERT INTO t VALUES (ROW(1, 'x', 2), ROW(3, 'y', 4));
BEGIN;
-- differs: refused: renaming attributes that stored texts name
ALTER TYPE pair RENAME ATTRIBUTE a TO aa;
ROLLBACK;
BEGIN;
-- differs: refused: renaming attributes that stored texts name
ALTER TYPE pair RENAME ATTRIBUTE c TO cc;
ROLLBACK;
CREATE VIEW v AS SELECT (p).b FROM t;
BEGIN;
-- differs: refused: renaming attributes that stored texts name
ALTER TYPE pair RENAME ATTRIBUTE b TO bb;
ROLLBACK;
SELECT * FROM v;
INSERT INTO t VALUES (ROW(2, 'z', 2), NULL);
DROP VIEW v;
ALTER TYPE pair RENAME ATTRIBUTE b TO bb;
SELECT (p).bb FROM t ORDER BY 1;
CREATE TABLE w (x int, y int, CHECK (x > 0)); INSERT INTO w VALUES (1, 2); CREATE TABLE cw (w w); INSERT INTO cw VALUES (ROW(3, 4));
CREATE VIEW own AS SELECT (w).x AS x1, w.y AS y1, (w).*, w FROM w;
ALTER TABLE w RENAME x TO xx;
SELECT * FROM own;
CREATE VIEW vw AS SELECT (w).xx FROM cw;
ALTER TABLE w RENAME y TO yy;
BEGIN;
-- differs: refused: renaming attributes that stored texts name
ALTER TABLE w RENAME xx TO xxx;
ROLLBACK;
SELECT * FROM vw;
SELECT * FROM own;
