-- Fields of a row that a subquery in FROM makes.
CREATE TABLE pairs_within (a int, b text);
INSERT INTO pairs_within VALUES (1, 'x'), (2, 'y');
SELECT (r).f1, (r).f2 FROM (SELECT ROW(1, 2.5) AS r) s;
SELECT (r).* FROM (SELECT ROW(1, 'z'::text) AS r) s;
SELECT (r).f3 FROM (SELECT ROW(1, 2.5) AS r) s;
SELECT (r).column2 FROM (SELECT r FROM (VALUES (1, 2), (3, 4)) r LIMIT 2) s;
SELECT (o).f2 FROM (SELECT r AS o FROM (SELECT ROW(1, 'deep'::text) AS r) s) t;
SELECT (r).a + 1, (r).b FROM (SELECT r FROM (SELECT a, b FROM pairs_within) r ORDER BY a LIMIT 2) s;
SELECT (r).a FROM (SELECT p AS r FROM pairs_within p) s WHERE (r).b = 'y';
SELECT sum((r).f1) FROM (SELECT ROW(a, b) AS r FROM pairs_within) s;
CREATE VIEW rows_shown AS SELECT (r).f1 AS one, (r).f2 AS two FROM (SELECT ROW(a, b) AS r FROM pairs_within) s;
SELECT * FROM rows_shown ORDER BY one;
