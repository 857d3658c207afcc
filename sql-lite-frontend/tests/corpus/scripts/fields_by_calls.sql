-- a(x) is (x).a where no function a takes x, also where functions or types have that name.
CREATE TABLE part (name text, date int, length text, n int, abs int);
INSERT INTO part VALUES ('guts', 7, 'long', 1, -3);
SELECT name(part), date(part), length(part), n(part), abs(part) FROM part;
CREATE FUNCTION parts() RETURNS SETOF part LANGUAGE sql AS 'SELECT * FROM part';
SELECT name(parts()), n(parts());
CREATE FUNCTION n(part) RETURNS text LANGUAGE sql AS $$SELECT 'the function'$$;
SELECT n(part), part.n, (part).n FROM part;
SELECT name(part, 1) FROM part;
SELECT missing(part) FROM part;
SELECT pg_catalog.name(part) FROM part;
SELECT upper(part) FROM part;
CREATE TYPE pair AS (name int, text int);
SELECT name(ROW(1, 2)::pair), text(ROW(1, 2)::pair);
