-- A strict function with a constant NULL is NULL: its other operands are not computed.
create table t (x int, r int4range, s text);
insert into t values (0, null, 'a');
select null::int4multirange * int4multirange('[2,2]'::int4range, r) from t;
select int4multirange('[2,2]'::int4range, r) * null::int4multirange from t;
select int4multirange('[2,2]'::int4range, r) from t;
select null::int + (1 / x) from t;
select (1 / x) + null::int from t;
select substr(null, 1 / x) from t;
select null || (1/x)::text from t;
select coalesce(null::int + (1 / x), 5) from t;
select null::int = (1/x) from t;
select x from t where null::int = 1/x;
select (null::int + 1) * (1/x) from t;
select lower(null) || (1/x)::text from t;
select abs(null::int) + 1/x from t;
select null::text::int + 1/x from t;
select random() * null + 1/x from t;
select '2020-01-01'::date + null::int + 1/x from t;
select concat(null, 1/x) from t;
select null::int + (x / 0) from t;
select null::int + (1 / 0) from t;
select null::int in (1/x, 2) from t;
select null between 1/x and 2 from t;
select null is distinct from 1/x from t;
select nullif(null::int, 1/x) from t;
select greatest(null, 1/x) from t;
-- differs: a subscript that is NULL is looked at where there is a row
select (array[1])[null::int] + 1/x from t;
create table z (x int, r int4range);
insert into z values (0, null);
select nullif('{[2,9]}'::int4multirange, '{[2,9]}'::int4multirange) - int4multirange(r, r) from z;
-- differs: numbers are lifted out of the statement, so that NULLIF of two is computed for each row
select nullif(1, 1) + 1/x from z;
select nullif(1, 2) + 1/x from z;
select 1/x + nullif('a', 'a')::int from z;
select nullif(1, nullif(2, 2)) + 1/x from z;
-- differs: numbers are lifted out of the statement, so that NULLIF of two is computed for each row
select nullif(nullif(2, 2), 1) + 1/x from z;
select nullif(1/x, 1) from z;
select nullif(1, 1/0) from z;
select nullif(null::int, 1/x) from z;
