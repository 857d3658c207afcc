-- A column of USING is grouped where what it is computed from is.
CREATE TABLE small (k int, x int);
CREATE TABLE big (k bigint, y int);
INSERT INTO small VALUES (1, 10), (1, 11), (2, 20), (4, 40);
INSERT INTO big VALUES (1, 100), (2, 200), (2, 201), (3, 300);
SELECT k, count(*) FROM small LEFT JOIN big USING (k) GROUP BY k ORDER BY k;
SELECT k, count(*) FROM small LEFT JOIN big USING (k) GROUP BY small.k ORDER BY k;
SELECT k, count(*) FROM small RIGHT JOIN big USING (k) GROUP BY big.k ORDER BY k;
SELECT k, count(*) FROM small FULL JOIN big USING (k) GROUP BY small.k, big.k ORDER BY k, count(*);
SELECT k + 1, count(*) FROM small JOIN big USING (k) GROUP BY small.k HAVING k < 2;
SELECT k FROM small FULL JOIN big USING (k) GROUP BY small.k;
SELECT k FROM small LEFT JOIN big USING (k) GROUP BY big.k;
SELECT pg_typeof(k), k FROM small LEFT JOIN big USING (k) GROUP BY small.k ORDER BY k;
