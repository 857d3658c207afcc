-- Fields of records that subqueries and WITH queries give.
with cte(c) as materialized (select row(1, 2)), cte2(c) as (select * from cte) select (c).f1, (c).f2 + 1 from cte2 as t;
with cte as materialized (select pg_get_keywords() k) select (k).word from cte where (k).word like 'absol%';
with cte as materialized (select r from (values (1, 2), (3, 4)) r) select (r).column2, (rr).column2 from cte join (select rr from (values (1, 7), (3, 8)) rr limit 2) ss on (r).column1 = (rr).column1 order by 1;
-- differs: the fields of records that a set operation gives are not known
with cte as (select row(1, 'a'::text) r union all select row(2, 'b'::text)) select (r).f2 from cte order by 1;
-- differs: the fields of records that a set operation gives are not known
select (r).f2 from (select row(1, 'a'::text) r union all select row(2, 'b'::text)) s order by 1;
with w(x) as (select row(1, 2)) select (x).* from w;
with w(x) as (select row(1, 2)) select (y).f3 from (select x as y from w) s;
select (k).word, (k).catcode from (select pg_get_keywords() k offset 0) s where (k).word = 'abort';
create table of_records (a int, b text);
with w as (insert into of_records values (1, 'x'), (2, 'y') returning row(a, b) as r) select (r).f2, (r).f1 from w order by 1;
with recursive w(x, n) as (select row(1, 2), 1 union all select x, n + 1 from w where n < 3) select (x).f2, n from w;
create function two(out p int, out q text) language sql as $$ select 1, 'one' $$;
with w as (select two() t) select (t).q from w;
with w as (select two() t) select (t).* from w;
select (t).r from (select two() t) s;
create view from_cte as with cte as materialized (select r from (values (1, 2), (3, 4)) r) select (r).column2 as col_a, (rr).column2 as col_b from cte join (select rr from (values (1, 7), (3, 8)) rr limit 2) ss on (r).column1 = (rr).column1;
select * from from_cte order by 1;
create view of_keywords as with cte as materialized (select pg_get_keywords() k) select (k).word from cte;
select count(*) > 400 from of_keywords;
