-- An operator for a domain itself comes before those of its base type.
CREATE DOMAIN numbers AS int[];
CREATE DOMAIN small AS int;
CREATE FUNCTION same(numbers, numbers) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN array_eq($1, $2); END';
CREATE OPERATOR = (PROCEDURE = same, LEFTARG = numbers, RIGHTARG = numbers);
SELECT array[1, 2]::numbers = array[1, 2]::numbers, array[1, 2]::numbers = '{3}';
SELECT CASE array[1, 2]::numbers WHEN array[2]::numbers THEN 'wrong' WHEN array[1, 2]::numbers THEN 'right' END;
CREATE FUNCTION same(small, small) RETURNS text LANGUAGE sql AS $$ SELECT 'small' $$;
CREATE OPERATOR = (PROCEDURE = same, LEFTARG = small, RIGHTARG = small);
SELECT 1::small = 1::small, 1::small = 2, 1::small = NULL, 1::small = '3', '3' = 1::small, 1 = 1::small;
CREATE FUNCTION added(small, int) RETURNS text LANGUAGE sql AS $$ SELECT 'added' $$;
CREATE OPERATOR + (PROCEDURE = added, LEFTARG = small, RIGHTARG = int);
SELECT 1::small + 2, 1::small + 2::small, 2 + 1::small, 1::small + '2', 1::small + 2::bigint;
CREATE FUNCTION f(small) RETURNS text LANGUAGE sql AS $$ SELECT 'small' $$;
CREATE FUNCTION f(anyelement) RETURNS text LANGUAGE sql AS $$ SELECT 'any' $$;
CREATE FUNCTION f(int) RETURNS text LANGUAGE sql AS $$ SELECT 'int' $$;
SELECT f(1), f(1::small), f('1'), f(1::bigint);
DROP OPERATOR = (small, small);
SELECT 1::small = 1::small;
