-- rank, dense_rank, percent_rank and cume_dist WITHIN GROUP.

create table h (g int, x int, y text, n numeric);
insert into h values (1, 1, 'a', 1), (1, 2, 'b', 2), (1, 2, 'c', 2.5), (1, 5, 'a', null), (2, null, 'z', 3), (2, 7, null, 4), (2, 7, 'q', 4), (2, 1, 'a', 5);
select rank(2) within group (order by x), dense_rank(2) within group (order by x), percent_rank(2) within group (order by x), cume_dist(2) within group (order by x) from h;
select rank(3) within group (order by x), dense_rank(3) within group (order by x), percent_rank(3) within group (order by x), cume_dist(3) within group (order by x) from h;
select g, rank(2) within group (order by x desc), dense_rank(2) within group (order by x desc), percent_rank(2) within group (order by x desc), cume_dist(2) within group (order by x desc) from h group by g order by g;
select rank(7) within group (order by x nulls first), rank(7) within group (order by x desc nulls last), rank(null) within group (order by x), rank(null::int) within group (order by x desc), cume_dist(null) within group (order by x nulls first) from h;
select rank(2, 'b') within group (order by x, y), dense_rank(2, 'b') within group (order by x, y), percent_rank(2, 'b') within group (order by x, y), cume_dist(2, 'b') within group (order by x, y) from h;
select rank(7, null) within group (order by x desc, y desc nulls last), dense_rank(7, null) within group (order by x desc, y), cume_dist(7, null) within group (order by x, y nulls first) from h;
select rank(1, 'b', 2) within group (order by g, y desc, n) from h;
select rank(1.5) within group (order by n), rank(2::numeric) within group (order by n), rank('2') within group (order by n), rank(2) within group (order by n desc) from h;
select rank('b') within group (order by y using >), rank('b') within group (order by y collate "C" desc) from h;
select rank(2) within group (order by x) filter (where g = 1), dense_rank(2) within group (order by x) filter (where g = 2), percent_rank(2) within group (order by x) filter (where g = 3), cume_dist(2) within group (order by x) filter (where g = 3) from h;
select rank(1) within group (order by x), dense_rank(1) within group (order by x), percent_rank(1) within group (order by x), cume_dist(1) within group (order by x) from h where false;
select g, rank(1) within group (order by x) from h where false group by g;
select g, rank(10) within group (order by x) from h group by g having cume_dist(2) within group (order by x) > 0.5 order by 1;
select g from h group by g order by dense_rank(7) within group (order by x), g;
select rank(2) within group (order by x + g), rank(1 + 1) within group (order by -x) from h;
select rank(date '2020-01-02') within group (order by d) from (values (date '2020-01-01'), (date '2020-01-03')) v (d);
-- differs: an untyped literal in a row is a text
select rank((1, 'b')) within group (order by (x, y)) from h;
select rank(2) within group (order by x) * 10 + count(*), pg_typeof(rank(2) within group (order by x)), pg_typeof(cume_dist(2) within group (order by x)) from h;
-- differs: refused: direct arguments that read columns
select o.g, (select rank(o.g) within group (order by x) from h) from h o group by o.g order by 1;
select g, x, grouping(g, x), rank(2) within group (order by n) from h group by rollup (g, x) order by 1, 2, 3;
select percent_rank(0.5) within group (order by n), cume_dist(100) within group (order by n), cume_dist(-1) within group (order by n) from h;
select rank(3) within group (order by v) from generate_series(1, 5) v;
create view v as select g, rank(2) within group (order by x) as r, cume_dist(2) within group (order by x) as c from h group by g;
select * from v order by g;
prepare p as select rank($1) within group (order by x) from h;
execute p (5);
select pg_catalog.rank(2) within group (order by x) from h;
-- Refused.
select rank(1) within group (order by x, y) from h;
select rank(1, 2) within group (order by x) from h;
select rank() within group (order by x) from h;
select rank('a') within group (order by x) from h;
select rank(1) from h;
select rank(1) within group (order by x) over () from h;
-- differs: refused: direct arguments that read columns
select rank(x) within group (order by x) from h;
-- differs: refused: direct arguments that read columns
select g, rank(g) within group (order by x) from h group by g order by g;
-- differs: refused: direct arguments that read columns
select rank(count(*)) within group (order by x) from h;
-- differs: the error's message
select rank(1) within group (order by count(*)) from h;
select x from h where rank(1) within group (order by x) > 1;
select rank(distinct 1) within group (order by x) from h;
select rank(1 order by x) within group (order by x) from h;
-- differs: the error's message
select rank(json '1') within group (order by j) from (values (json '1')) v (j);
