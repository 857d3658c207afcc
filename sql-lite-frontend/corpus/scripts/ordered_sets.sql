-- Aggregates WITHIN GROUP.
create table m (g text, n int, f float8, x numeric(6,2), t text, d interval, day date);
insert into m values ('a', 1, 1.5, 10.25, 'x', '1 day', '2020-01-01'), ('a', 2, 2.5, 20.50, 'y', '2 days', '2020-01-02'), ('a', 2, 4.5, 20.50, 'y', '5 days 03:00', '2020-01-09'), ('b', 7, null, null, null, null, null), ('b', 9, 'NaN', 1, 'z', '1 month', '2020-02-01'), ('c', null, null, null, null, null, null);
select percentile_cont(0.5) within group (order by n) from m;
select percentile_disc(0.5) within group (order by n) from m;
select g, percentile_cont(0.5) within group (order by n), percentile_disc(0.5) within group (order by n), mode() within group (order by n) from m group by g order by g;
select percentile_cont(0) within group (order by f), percentile_cont(1) within group (order by f), percentile_cont(0.25) within group (order by f desc) from m;
select percentile_cont(0.3) within group (order by x) from m where g = 'a';
select percentile_disc(0.3) within group (order by x), pg_typeof(percentile_disc(0.3) within group (order by x)) from m where g = 'a';
select percentile_cont(0.5) within group (order by d), percentile_cont(0.1) within group (order by d) from m where g = 'a';
select percentile_disc(0.99) within group (order by d), percentile_disc(0) within group (order by day) from m;
select percentile_cont(array[0, 0.25, 0.5, null, 1]) within group (order by n) from m;
select percentile_disc(array[[0, 0.5], [1, 0.1]]) within group (order by t) from m;
select percentile_cont(array[0.5]) within group (order by d) from m where g = 'a';
select percentile_cont('{}'::float8[]) within group (order by n), percentile_cont(null::float8[]) within group (order by n) from m;
select mode() within group (order by t), mode() within group (order by t desc), mode() within group (order by n desc) from m;
select mode() within group (order by n) from m where n is null;
select percentile_cont(0.5) within group (order by n) filter (where g = 'a'), count(*) from m;
select percentile_cont(null) within group (order by n) from m;
select percentile_cont(0.5) within group (order by n) from m where false;
select percentile_cont(1.5) within group (order by n) from m;
select percentile_disc(-0.1) within group (order by n) from m;
select percentile_cont('NaN') within group (order by n) from m;
select percentile_cont(array[0.5, 2]) within group (order by n) from m;
select percentile_cont(0.5) within group (order by t) from m;
-- differs: the error's position
select percentile_disc(0.5) within group (order by t), percentile_disc(0.5) within group (order by 'k') from m;
select percentile_cont(0.5) from m;
select percentile_cont(0.5, n) from m;
select mode(n) from m;
select sum(n) within group (order by n) from m;
select lower('x') within group (order by n) from m;
select percentile_cont(0.5) within group (order by n) over () from m;
select percentile_cont(0.5) within group (order by n, f) from m;
select percentile_cont(0.5) within group (order by sum(n)) from m;
select percentile_cont(sum(n)) within group (order by n) from m;
select g from m group by g having percentile_cont(0.5) within group (order by n) > 2 order by g;
select g from m group by g order by percentile_disc(0.5) within group (order by n) desc nulls last;
select (select percentile_disc(0.5) within group (order by i) from generate_series(1, m.n) i) from m order by n nulls last;
select n from m where percentile_cont(0.5) within group (order by n) > 1;
-- differs: refused: hypothetical-set aggregates
select rank(2) within group (order by n) from m;
-- differs: refused: a direct argument that reads columns
select n, percentile_disc(n / 10.0) within group (order by f) from m group by n order by n;
