-- ts_stat() and ts_rewrite() over the rows of a query.
CREATE TABLE doc (id int PRIMARY KEY, v tsvector);
INSERT INTO doc VALUES (1, to_tsvector('english', 'The cat and the other cats')), (2, 'a:1A,2B,3 dog:4'), (3, NULL), (4, ''), (5, 'cat dog'), (6, 'cat:1A');
SELECT * FROM ts_stat('SELECT v FROM doc') ORDER BY word;
SELECT * FROM ts_stat('SELECT v FROM doc', 'a') ORDER BY word;
SELECT * FROM ts_stat('SELECT v FROM doc', 'Bd') ORDER BY word;
SELECT * FROM ts_stat('SELECT v FROM doc', '') ORDER BY word;
SELECT * FROM ts_stat('SELECT v FROM doc', 'xyz') ORDER BY word;
SELECT word, ndoc FROM ts_stat('SELECT v FROM doc WHERE id < 3') s WHERE nentry > 1 ORDER BY nentry DESC, word;
SELECT sum(nentry) FROM ts_stat('SELECT v FROM doc') AS s(w, d, nentry);
SELECT ts_stat('SELECT v FROM doc WHERE id = 6');
SELECT * FROM ts_stat('SELECT to_tsvector(''simple'', ''a b'') UNION ALL VALUES (''b c''::tsvector)') ORDER BY 1;
SELECT * FROM ts_stat(NULL);
SELECT * FROM ts_stat('SELECT 1');
SELECT * FROM ts_stat('SELECT v, v FROM doc');
SELECT * FROM ts_stat('SELECT v FROM nix');
SELECT * FROM ts_stat('SELECT v FROM doc WHERE id = 1/0');
CREATE TABLE synonyms (t tsquery, s tsquery);
INSERT INTO synonyms VALUES ('cat', 'feline | kitty'), ('dog & big', 'hound'), (NULL, 'x'), ('y', NULL);
-- differs: refused: NOTICEs of queries without words
INSERT INTO synonyms VALUES ('gone', '');
SELECT ts_rewrite('cat & nap', 'SELECT t, s FROM synonyms');
SELECT ts_rewrite('big & dog & !gone', 'SELECT t, s FROM synonyms');
SELECT ts_rewrite('y', 'SELECT t, s FROM synonyms'), ts_rewrite(NULL, 'SELECT t, s FROM synonyms');
SELECT ts_rewrite('a', 'SELECT ''a''::tsquery');
SELECT ts_rewrite('a', 'SELECT 1, 2');
SELECT ts_rewrite('gone', 'SELECT t, s FROM synonyms');
CREATE ROLE reader; GRANT SELECT ON synonyms TO reader;
SET ROLE reader;
SELECT * FROM ts_stat('SELECT v FROM doc');
SELECT ts_rewrite('cat', 'SELECT t, s FROM synonyms');
RESET ROLE;
DROP TABLE synonyms; DROP ROLE reader;
-- What PostgreSQL needs for a value.
SELECT pg_column_size(1), pg_column_size(1::int2), pg_column_size(1::int8), pg_column_size(true), pg_column_size('x'::"char"), pg_column_size('abc'::text), pg_column_size('äb'::text), pg_column_size(''::text), pg_column_size('ab'::char(5)), pg_column_size('n'::name), pg_column_size(NULL::int), pg_column_size(NULL::text);
SELECT pg_column_size(1.5), pg_column_size(0.0), pg_column_size(12345.678), pg_column_size(1e100), pg_column_size('NaN'::numeric), pg_column_size('\x0102'::bytea), pg_column_size(now()), pg_column_size(interval '1 day'), pg_column_size('00000000-0000-0000-0000-000000000001'::uuid), pg_column_size(date '2024-01-01');
SELECT pg_column_size(ARRAY[1]), pg_column_size(ARRAY[1, 2, NULL]), pg_column_size('{}'::int[]), pg_column_size(ARRAY['a', 'bcd']), pg_column_size(ARRAY[[1, 2], [3, 4]]), pg_column_size(ARRAY[1::int8]), pg_column_size(ARRAY[true, false]);
SELECT pg_column_size(ROW(1, 2)), pg_column_size(ROW()), pg_column_size(ROW(1::int8, NULL)), pg_column_size(ROW(true, 1));
