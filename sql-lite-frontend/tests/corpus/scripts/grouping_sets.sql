create table t(a int, b int, c text, v numeric);
insert into t values (1,1,'x',10),(1,1,'y',20),(1,2,'x',30),(2,1,'y',40),(2,2,null,50),(null,2,'x',60),(null,null,null,70),(3,1,'x',null);
create table p(id int primary key, x int not null, y text);
insert into p values (1,1,'one'),(2,1,'two'),(3,2,'three');
create table empty(a int, b int, v int);
-- unordered
select a, b, count(*), sum(v) from t group by rollup(a, b);
-- unordered
select a, b, count(*), sum(v) from t group by cube(a, b);
-- unordered
select a, b, count(*), sum(v) from t group by grouping sets ((a, b), (a), ());
-- unordered
select a, b, count(*), sum(v) from t group by grouping sets (a, b);
-- unordered
select a, b, c, count(*) from t group by grouping sets ((a, b), (b, c));
select a, b, grouping(a, b), count(*), sum(v) from t group by rollup(a, b) order by grouping(a, b), a, b;
select a, b, grouping(a), grouping(b), grouping(b, a), count(*) from t group by cube(a, b) order by 3, 4, a, b;
select grouping(a, b) as g, a, b, count(*) from t group by cube(a, b) order by g, a, b;
select a, b, count(*) from t group by grouping sets ((a, b), ()) having grouping(a) = 0 order by a, b;
select a, b, count(*) from t group by cube(a, b) having count(*) > 2 order by a, b, count(*);
select a, b, count(*) from t group by cube(a, b) having a is null order by grouping(a), b, 3;
select a, b, count(*) filter (where c = 'x'), sum(v) filter (where v > 20) from t group by rollup(a, b) order by a, b, 3, 4;
select a, count(distinct c), array_agg(c order by c desc), string_agg(distinct c, ',') from t group by rollup(a) order by grouping(a), a;
select a, array_agg(v order by v), percentile_cont(0.5) within group (order by v) from t group by rollup(a) order by grouping(a), a;
select a, b, sum(a), max(b), count(b) from t group by cube(a, b) order by grouping(a), grouping(b), a, b;
select a, avg(a), count(a) from t group by rollup(a) order by grouping(a), a;
-- unordered
select a + b as s, count(*) from t group by rollup(a + b);
-- unordered
select a + b as s, count(*) from t group by rollup(s);
-- unordered
select a + b as s, count(*) from t group by rollup(1);
select a + b, grouping(a + b), count(*) from t group by rollup(a + b) order by 2, 1;
select upper(c) as u, grouping(upper(c)), count(*) from t group by cube(upper(c), a) order by 2, 1, 3;
-- unordered
select 1 as one, count(*) from t group by rollup(one);
-- unordered
select 'k' as k, a, count(*) from t group by rollup(k, a);
-- unordered
select a, a + 1, count(*) from t group by grouping sets ((a), (a + 1));
-- unordered
select a, b, count(*) from t group by a, rollup(b);
-- unordered
select a, b, c, count(*) from t group by a, rollup(b, c);
-- unordered
select a, b, count(*) from t group by rollup(a), rollup(b);
-- unordered
select a, b, c, count(*) from t group by rollup(a, b), rollup(a, c);
-- unordered
select a, b, c, count(*) from t group by distinct rollup(a, b), rollup(a, c);
-- unordered
select a, b, c, count(*) from t group by all rollup(a, b), rollup(a, c);
-- unordered
select a, count(*) from t group by rollup(a, a);
-- unordered
select a, count(*) from t group by distinct rollup(a, a);
-- unordered
select a, count(*) from t group by cube(a, a);
-- unordered
select a, b, count(*) from t group by distinct grouping sets ((a, b), (b, a), (a), (a), ());
-- unordered
select a, b, c, count(*) from t group by rollup((a, b), c);
-- unordered
select a, b, c, count(*) from t group by cube((a, b), c);
-- unordered
select a, b, c, count(*) from t group by rollup((a, b), (b, c));
-- unordered
select a, b, c, count(*) from t group by grouping sets (a, rollup(b, c));
-- unordered
select a, b, c, count(*) from t group by grouping sets (a, cube(b, c), grouping sets (c, (a, b, c), ()));
-- unordered
select a, b, c, count(*) from t group by grouping sets (grouping sets (grouping sets (a, b), c), ());
-- unordered
select a, b, count(*) from t group by grouping sets ((a), (b)), grouping sets ((a), ());
-- unordered
select count(*) from t group by ();
-- unordered
select count(*) from t group by (), ();
-- unordered
select a, count(*) from t group by (), a;
-- unordered
select count(*), sum(v) from t group by grouping sets (());
-- unordered
select count(*), sum(v) from t group by grouping sets ((), ());
-- unordered
select count(*) from t group by distinct grouping sets ((), ());
-- unordered
select 1 from t group by grouping sets ((), (), ());
select count(*) from empty group by ();
select count(*), sum(v) from empty group by grouping sets ((), ());
select a, count(*), sum(v) from empty group by rollup(a);
select a, b, grouping(a, b), count(*) from empty group by cube(a, b);
select a, count(*) from empty group by grouping sets (a);
select a, count(*) from empty group by rollup(a) having count(*) > 0;
select grouping(a), a, count(*) from t group by a order by a;
select grouping(a, b) from t group by a, b order by a, b;
select grouping(a) from t group by grouping sets (a) order by a;
select a, sum(v), rank() over (order by sum(v) desc nulls last) from t group by rollup(a) order by 3, a;
select a, b, grouping(a, b), rank() over (partition by grouping(a, b) order by count(*) desc, a, b) from t group by cube(a, b) order by 3, 4, a, b;
select a, sum(sum(v)) over (partition by grouping(a)) from t group by rollup(a) order by grouping(a), a;
select distinct grouping(a, b) from t group by cube(a, b) order by grouping(a, b);
select distinct on (grouping(a)) grouping(a), a, count(*) from t group by rollup(a) order by grouping(a), count(*) desc, a;
select a, count(*) from t group by rollup(a) order by grouping(a) desc, a nulls first limit 3;
select a, count(*) from t group by rollup(a) order by a offset 1 fetch first 2 rows only;
select case when grouping(a) = 1 then 'total' else coalesce(a::text, 'none') end as label, sum(v) from t group by rollup(a) order by grouping(a), a;
select coalesce(a, -1), b, count(*) from t group by rollup(a, b) order by a nulls last, b nulls last, 3;
select (select count(*) from p where p.x = t.a) as found, a, count(*) from t group by rollup(a) order by grouping(a), a;
select a, (select max(y) from p where p.id = t.a) from t group by cube(a, b) order by a, grouping(a, b), b;
select (select grouping(t.a)) as g, a from t group by rollup(a) order by 1, 2;
select (select grouping(t.a) + count(*) from p) as g, a from t group by rollup(a) order by 1, 2;
select (select grouping(t.a, u.x) from p u) from t group by a;
select * from (select a, b, count(*) as n from t group by cube(a, b)) s where a is null order by b, n;
select * from (select a, b, count(*) as n from t group by cube(a, b)) s where a = 1 order by b, n;
select * from (select a, b, grouping(a) as g, count(*) as n from t group by cube(a, b)) s where g = 1 order by b, n;
select * from (select id, count(*) as n from p group by rollup(id)) s where id is null;
select * from (select id, count(*) as n from p group by rollup(id)) s where id is not null order by id;
select * from (select x, count(*) as n from p group by rollup(x)) s left join t on s.x = t.a order by s.x, b, c;
select id from p where x not in (select x from p group by rollup(x)) order by id;
select id from p where x in (select x from p group by rollup(x)) order by id;
select s.id from (select id from p group by rollup(id)) s where s.id not in (select x from p where x > 5) order by 1;
select t.a, s.n from t, lateral (select t.a as k, count(*) as n from p group by rollup(t.a)) s order by t.a, s.n, s.k;
select t.a, s.* from t, lateral (select p.x, t.b as tb, count(*) as n from p where p.id = t.a group by rollup(p.x, t.b)) s order by 1, 2, 3, 4, t.c;
with s as (select a, b, sum(v) as v from t group by rollup(a, b)) select count(*), sum(v) from s;
select a, count(*) from t group by rollup(a) union all select a, 0 from t where a = 3 order by 1, 2;
select a from t group by rollup(a) except select 1 order by 1;
insert into empty select a, b, count(*) from t group by rollup(a, b);
select count(*), sum(v) from empty;
create table made as select a, grouping(a) as g, count(*) as n from t group by rollup(a);
select * from made order by g, a;
select id, x, y, count(*) from p group by grouping sets ((id), (id, x)) order by id, x;
select id, y from p group by id, rollup(x) order by id, grouping(x);
select id, y from p group by rollup(id);
select id, x, y from p group by grouping sets ((id), (x));
select y from p group by cube(id);
select b from t group by rollup(a);
select a from t group by grouping sets ((a), (b)) order by c;
select a from t group by rollup(a) having b > 0;
select grouping(a) from t;
select grouping(a) from t group by b;
select grouping(a, c) from t group by rollup(a, b);
select grouping(a + 1) from t group by a;
select grouping(1) from t group by a;
select grouping(sum(a)) from t group by a;
select sum(grouping(a)) from t group by a;
select grouping(grouping(a)) from t group by a;
select 1 from t where grouping(a) = 1 group by a;
select 1 from t join p on grouping(a) = 1 group by a;
select 1 from t group by grouping(a);
select sum(v) filter (where grouping(a) = 0) from t group by rollup(a);
select count(*) from t group by a limit grouping(a);
select grouping(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a) from t group by a;
select grouping(a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a) from t group by rollup(a) order by 1;
select grouping(nosuch) from t group by rollup(a);
select a from t group by rollup(nosuch);
select a from t group by rollup(4);
select a from t group by rollup(0);
select a from t group by cube(count(*));
select a, count(*) as n from t group by rollup(n);
select count(*) from t group by cube(a, b, c, v, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9);
select count(*) from t group by cube(a, b, c, v, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8), rollup(b + 1);
select count(*) from (select 1 from t group by cube(a, b, c, v, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7)) s;
select a from t group by rollup(a) for update;
select 1 from t group by grouping sets ((), ()) for update;
select row(a, b) from t group by row(a, b) order by 1;
select a from t group by row(a, b);
select a, b from t group by (a, b) order by a, b;
select a, b, c from t group by ((a, b), c) order by a, b, c;
select json_build_array(a) from t group by rollup(a::json);
select generate_series(1, 2) as g, count(*) from t group by rollup(g) order by g, 2;
select a, generate_series(1, 2) from t group by rollup(a) order by 1, 2;
-- parameters: 1
select a, count(*), grouping(a) + $1::int from t group by rollup(a) order by 3, 1;
select grouping(t.a) from t group by rollup(a) order by 1;
select grouping(q.a), q.a from t q group by rollup(q.a) order by 1, 2;
select c collate "C", count(*) from t group by rollup(c collate "C") order by 1, 2;
create view sets as select a, b, sum(v) as s, grouping(a, b) as g from t group by distinct rollup((a, b), c), cube(a + 1), grouping sets ((), (a), rollup(b, c)), a having grouping(c) > 0;
select pg_get_viewdef('sets');
select pg_get_viewdef('sets', true);
create view one_set as select a from t group by (), a;
select pg_get_viewdef('one_set');
create view no_key as select 1 as one from t group by ();
select pg_get_viewdef('no_key');
create view single as select a from t group by grouping sets ((a));
select pg_get_viewdef('single');
create view repeated as select a from t group by distinct a;
select pg_get_viewdef('repeated');
create view nested as select count(*) from t group by grouping sets ((), (), grouping sets (a, (b, c)));
select pg_get_viewdef('nested');
create view named as select a + 1 as x, count(*), grouping(a + 1) from t group by rollup(1), cube(x, (a, b)), c;
select pg_get_viewdef('named');
select pg_get_viewdef('named', true);
create view ordered as select a, upper(c) as u, count(*) from t group by cube(a, upper(c)) order by grouping(a, upper(c)), upper(c), a;
select pg_get_viewdef('ordered');
select * from ordered;
create view below as select (select grouping(t.a)) as g, a from t group by rollup(a);
select pg_get_viewdef('below');
select * from named order by 1, 2, 3;
prepare by_set(int) as select a, count(*) from t group by rollup(a) having grouping(a) = $1 order by a;
execute by_set(0);
execute by_set(1);
with recursive r(n) as (select 1 union (select n + 1 from r where n < 3 group by rollup(n))) select * from r order by n;
select a, count(*) from t where a = 1 group by rollup(a) order by a;
select min(v), max(v) from t group by grouping sets ((), ());
select max(id) from p group by grouping sets ((), ());
select count(*) from p group by grouping sets ((), ()) having count(*) > 5;
set enable_hashagg = off;
select a, b, count(*) from t group by cube(a, b) order by a, b, 3;
reset enable_hashagg;
select u.a, count(*) from t u join p on p.id = u.a group by rollup(u.a) order by 1, 2;
select u.a, p.y, grouping(u.a, p.y), count(*) from t u left join p on p.id = u.a group by cube(u.a, p.y) order by 3, 1, 2;
select u.a, count(*) from t u full join p on p.id = u.a group by rollup(u.a, p.id) order by 1, 2;
