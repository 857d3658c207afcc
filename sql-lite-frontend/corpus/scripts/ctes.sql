-- WITH: plain, several, recursive, modifying; scoping of names and what may not be recursive.
create table node (id int primary key, up int, name text);
insert into node values (1, null, 'root'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'aa'), (5, 4, 'aaa'), (6, 3, 'ba');
create table edge (f int, t int);
insert into edge values (1, 2), (2, 3), (3, 1), (3, 4), (4, 5);
with x as (select 1 as a) select * from x;
with x (p) as (select 1 as a) select p from x;
with x (p, q) as (select 1) select p from x;
with x (p) as (select 1, 2) select * from x;
with x as (select 1 as a), y as (select a + 1 as b from x) select * from x, y;
-- differs: the error's detail and hint
with y as (select a from x), x as (select 1 as a) select * from y;
with x as (select 1), x as (select 2) select * from x;
with x as (select id from node) select count(*) from x, x as x2;
with x as (select id from node where id > 3) select n.name from node n join x on x.id = n.id order by 1;
with x as materialized (select id from node) select count(*) from x;
with x as not materialized (select id from node) select count(*) from x where id = 1;
with node as (select 7 as id) select * from node;
with node as (select id from node where id < 3) select * from node order by id;
with x as (select 1 as a) select (select a from x), (with x as (select 2 as a) select a from x), (select a from x);
with x as (select 1 as a) select * from (with y as (select a + 10 as b from x) select * from y) s;
with x as (select 5 as a) select * from node where id = (select a from x);
with x as (values (1, 'v'), (2, 'w')) select * from x;
with x (n, s) as (values (1, 'v'), (2, 'w')) select s from x where n = 2;
with x as (select * from node order by id limit 2) select * from x order by id desc;
with unused as (select 1/0) select 1;
with x as (select nosuch) select 1;
with x as (select random() as r) select (select r from x) = (select r from x);
select * from (with x as (select 3 as a) select a from x) s, node where node.id = s.a;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 5) select * from r;
with recursive r as (select 1 as n union all select n + 1 from r where n < 5) select sum(n), count(*) from r;
with recursive r (n) as (values (1) union all select n * 2 from r where n < 100) select n from r order by n desc limit 2;
with recursive r (n) as (select 1 union select n % 3 + 1 from r) select * from r order by n;
with recursive r (n) as (select 1 union all select n + 1 from r) select * from r limit 4;
with recursive tree as (select id, name, 0 as depth from node where up is null union all select n.id, n.name, depth + 1 from node n join tree on n.up = tree.id) select * from tree order by depth, id;
with recursive tree as (select id, name::text as path from node where up is null union all select n.id, path || '/' || n.name from node n join tree on n.up = tree.id) select path from tree order by path;
with recursive up as (select id, up from node where name = 'aaa' union all select n.id, n.up from node n, up where n.id = up.up) select id from up order by id;
with recursive reach (n) as (select 1 union select t from edge join reach on f = n) select n from reach order by n;
with recursive walk (n, path) as (select 1, array[1] union all select t, path || t from edge join walk on f = n where t <> all (path)) select * from walk order by path;
with recursive fib (a, b) as (values (0, 1) union all select b, a + b from fib where b < 60) select a from fib;
with recursive fact (n, f) as (select 0, 1::numeric union all select n + 1, f * (n + 1) from fact where n < 25) select f from fact where n in (5, 25) order by n;
-- differs: the error's position
with recursive r (n) as (select 1 union all select n + 0.5 from r where n < 2) select * from r;
with recursive r (n) as (select 1.0 union all select n + 0.5 from r where n < 2) select * from r;
with recursive r (n) as (select 'a' union all select n || 'b' from r where length(n) < 3) select * from r;
-- differs: bug: PostgreSQL refuses it
with recursive r (n) as (select 'a'::varchar(5) union all select n || 'b' from r where length(n) < 3) select * from r;
-- differs: the error's position
with recursive r (n) as (select null union all select 1 from r where n is null) select * from r;
with recursive r as (select 1 as n) select * from r;
-- differs: bug: it fails
with recursive a as (select * from b), b as (select 1 as n) select * from a;
-- differs: another error
with recursive a (n) as (select n from b union all select 1), b (n) as (select n from a union all select 2) select * from a;
-- differs: another error
with recursive r (n) as (select n from r) select * from r;
with recursive r (n) as (select n from r union all select 1) select * from r;
-- differs: another error
with recursive r (n) as (select 1 intersect select n from r) select * from r;
-- differs: another error
with recursive r (n) as (select 1 union all select count(*) from r) select * from r;
-- differs: refused: ORDER BY or LIMIT in a recursive query
with recursive r (n) as (select 1 union all select n + 1 from r order by 1) select * from r;
-- differs: refused: ORDER BY or LIMIT in a recursive query
with recursive r (n) as (select 1 union all select n + 1 from r limit 3) select * from r;
with recursive r (n) as (select 1 union all (select n + 1 from r where n < 3)) select * from r;
with recursive r (n) as (select 1 union all select r1.n + 1 from r r1, r r2 where r1.n < 3) select * from r;
with recursive r (n) as (select 1 union all select id from node left join r on r.n = node.id) select * from r;
with recursive r (n) as (select 1 union all select n + 1 from r where n < (select max(n) from r)) select * from r;
with recursive r (n) as (select 1 union all select id from node where id in (select n + 1 from r)) select * from r;
with recursive r (n) as (select 1 union all select s.n + 1 from (select * from r) s where s.n < 3) select * from r;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3), s as (select n * 10 as m from r) select * from s order by m;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3), q (m) as (select 10 union all select m + n from q, r where m < 13 and n = 1) select * from q order by m;
-- differs: the error's detail and hint
with r (n) as (select 1 union all select n + 1 from r where n < 5) select * from r;
with recursive r (n) as (select id from node where id = 1 union all select node.id from node, r where node.up = r.n) select count(*) from r;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) insert into edge select n, 100 from r returning *;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) update edge set t = 200 from r where r.n = f and t = 100 returning f, t;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) delete from edge where f in (select n from r) and t = 200;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 2000) select count(*), sum(n) from r;
-- differs: refused: SEARCH
with recursive r (id, up) as (select id, up from node where id = 5 union all select n.id, n.up from node n join r on n.id = r.up) search depth first by id set o select * from r;
-- differs: refused: CYCLE
with recursive r (f, t) as (select f, t from edge where f = 1 union all select e.f, e.t from edge e, r where e.f = r.t) cycle f set is_cycle using path select * from r;
with ins as (insert into node values (7, 1, 'c') returning *) select * from ins;
with ins as (insert into node values (8, 1, 'd') returning id) select count(*) from node where id = 8;
with del as (delete from node where id in (7, 8) returning name) select string_agg(name, ',' order by name) from del;
with upd as (update node set name = upper(name) where id > 4 returning id, name) select * from upd order by id;
with moved as (delete from edge where f = 1 returning *), back as (insert into edge select t, f from moved returning *) select (select count(*) from moved), (select count(*) from back);
-- differs: bug: PostgreSQL refuses it
with x as (insert into node values (9, 1, 'e')) select * from x;
with x as (insert into node values (1, 1, 'dup') returning id) select * from x;
with x as (update node set name = 'twice' where id = 1 returning id) update node set name = 'second' where id = 2 returning name;
-- differs: bug: other rows
with x as (delete from node where id = 6) delete from node where id = 6;
with x as (select 1 as a) insert into edge select a, a from x returning *;
with x as (select 1 as a) update node set name = 'cte' from x where id = a returning name;
with x as (select 5 as a) delete from node using x where id = a returning id;
with x as (select 5 as a) delete from node where id in (select a from x);
-- differs: another error
select * from (with x as (insert into node values (50, 1, 'z') returning id) select * from x) s;
with x as (select 1), y as (insert into node select 60, 1, 'y' from x returning id) select * from y;
with t as (select 1 as n) select n from t union all select n + 1 from t;
with t as (select 1 as n) (select n from t) union all (select n + 1 from t) order by 1;
with t as (select 1 as n) values ((select n from t)), (5);
with t (a, a) as (select 1, 2) select * from t;
with t as (select 1 as a, 2 as a) select a from t;
with t as (select 1 as a, 2 as a) select * from t;
-- differs: bug: it fails
with t as (select id, count(*) over () c from node) select distinct c from t;
with a as (with b as (with c as (select 1 as n) select n + 1 as n from c) select n + 1 as n from b) select * from a;
with outer_one as (select id from node where id = 1) select (select name from node where id = (select id from outer_one));
create view tree_view as with recursive r as (select id, 0 as depth from node where up is null union all select n.id, depth + 1 from node n join r on n.up = r.id) select * from r;
-- differs: bug: it fails
select * from tree_view order by depth, id;
select max(depth) from tree_view;
drop view tree_view;
create table from_cte as with x as (select id, name from node where id < 3) select * from x;
select * from from_cte order by id;
select id, (with x as (select n.id * 2 as d) select d from x) from node n where id < 3 order by id;
select * from node n where exists (with x as (select t from edge where f = n.id) select 1 from x where t > 3) order by id;
drop table node, edge, from_cte;
