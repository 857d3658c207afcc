-- WITH RECURSIVE: trees, recursion within recursion, and what reads a round's rows on its way.

create table parts (id int primary key, parent int, name text not null);

insert into parts values (1, null, 'car'), (2, 1, 'engine'), (3, 1, 'body'), (4, 2, 'piston'), (5, 2, 'valve'), (6, 4, 'ring'), (10, null, 'bike'), (11, 10, 'wheel'), (12, 11, 'spoke');

-- A column twice in the first part.
with recursive r as (select id as root, id from parts where parent is null union all select r.root, p.id from parts p join r on p.parent = r.id) select * from r order by 1, 2;

with recursive r as (select id as root, id from parts where parent is null union select r.root, p.id from parts p join r on p.parent = r.id) select * from r order by 1, 2;

with recursive r as (select name, name as path, id, id as root, 0 as depth from parts where parent is null union all select p.name, r.path || '/' || p.name, p.id, r.root, r.depth + 1 from parts p, r where p.parent = r.id) select * from r order by root, path;

with recursive r as (select id, id as again, id as third from parts where id = 1 union all select id + 1, again, third + again from r where id < 5) select * from r;

with recursive r(a, b) as (select x, x from generate_series(1, 2) x union all select b + 10, a from r where a < 20) select * from r order by 1, 2;

with recursive r(a, b) as (select t.id, t.id from (select id from parts) t where id = 1 union all select b, a + 1 from r where a + b < 10) select * from r;

with recursive r(a, b, c) as (values (1, 1, 1) union all select a + 1, a, b from r where a < 5) select * from r;

with recursive r(a, b) as (select 1, 2 union all select b, a from r where b = 2) select * from r;

with recursive r(a, b, c) as (select 1, 2, 3 union all (select c, c, c from r where a = 1)) select * from r;

-- The same column twice in the recursive part.
with recursive r(a, b) as (select 1, 2 union all select a + 1, a + 1 from r where a < 3) select * from r;

with recursive r(a, b) as (select id, parent from parts where id = 6 union all select p.parent, p.parent from parts p, r where p.id = r.b) select * from r;

-- Through a WITH query inside.
with recursive r(n) as (select 1 union all (with q as (select n from r) select n + 1 from q where n < 5)) select * from r;

with recursive r(n) as (select 1 union (with q as (select n from r) select n + 1 from q where n < 5)) select * from r;

with recursive r(n) as (select 1 union all (with q as materialized (select n from r) select n + 1 from q where n < 5)) select * from r;

with recursive r(n) as (select 1 union all (with q as (select n from r), w as (select n + 1 as n from q) select n from w where n < 5)) select * from r;

with recursive r(n) as (select 1 union all (with q as (select n from r) select a.n + b.n from q a, q b where a.n < 20)) select * from r;

with recursive r(n) as (select 1 union all (with q as (select n from r) select n + (select count(*) from q)::int from q where n < 5)) select * from r;

with recursive r(n) as (select 1 union all select n + 1 from (with q as (select n from r) select n from q) s where n < 4) select * from r;

with recursive r(n) as (select 1 union all (with q as (select n from r) select p.id from q join parts p on p.parent = q.n)) select * from r;

-- A WITH clause of the whole recursive query.
with recursive t(n) as (with few as (select 1 as k union all select 2) select k from few union all select n + 10 from t, few where n < 20 and k = 1) select * from t order by n;

with recursive t(n) as (with few as (select 1 as k) select k from few union all select n + 1 from t where n < 3), few as (select 99 as k) select n, k from t, few order by 1;

with recursive t(n) as (with inserted as (insert into parts values (99, null, 'x') returning id) select id from inserted union all select n + 1 from t where n < 100) select * from t;

select count(*) from parts where id = 99;

-- Recursion in recursion.
with recursive r(n) as (with recursive s(m) as (select 1 union all select m + 1 from s where m < 3) select max(m) from s union all select n + 1 from r where n < 5) select * from r;

with recursive r(n) as (select 1 union all (with recursive s(m) as (select n from r union all select m + 10 from s where m < 30) select max(m) + 1 from s having max(m) < 100)) select * from r;

with recursive r(n) as (select 1 union all select n + 1 from (with recursive s(m) as (select n from r union all select m + 1 from s where m < 3) select m as n from s) q where n < 6) select n, count(*) from r group by n order by n;

with recursive r(n) as (select 1 union all select (with recursive s(m) as (select r.n union all select m + 1 from s where m < 2 * r.n) select max(m) from s) from r where n < 20) select * from r;

with recursive r(n) as (select 1 union all select n + 1 from r where n < (with recursive s(m) as (select 1 union all select m + 1 from s where m < 4) select max(m) from s)) select * from r;

with recursive outermost(a) as (with recursive middle(b) as (with recursive innermost(c) as (select 1 union all select c + 1 from innermost where c < 3) select c from innermost union all select b + 10 from middle where b < 20) select b from middle union all select a + 100 from outermost where a < 100) select * from outermost order by a;

with recursive x(id) as (select 1 union all select id + 1 from x where id < 3), y(id) as (select id from x union all select id + 10 from y where id < 20) select * from y order by id;

with recursive y(id) as (select id from x union all select id + 10 from y where id < 20), x(id) as (select 1 union all select id + 1 from x where id < 3) select * from y order by id;

with recursive r(n) as (select 1 union all (select n + s.m from r, lateral (with recursive s(m) as (select r.n union all select m + 1 from s where m < r.n + 2) select m from s) s where n < 4)) select n, count(*) from r group by 1 order by 1;

-- Subqueries beside the working table.
with recursive r(n) as (select 1 union all select n + 1 from r where n < (select count(*) from parts)) select max(n) from r;

with recursive r(n) as (select 1 union all select n + 1 from r where exists (select 1 from parts where id = r.n)) select * from r;

with recursive r(n) as (select 1 union all select p.id from parts p where p.parent in (select n from r)) select * from r;

with recursive r(n) as (select 1 union all select p.id from parts p where exists (select 1 from r where r.n = p.parent)) select * from r;

with recursive r(n) as (select 1 union all select p.id from parts p where p.parent = any (select n from r)) select * from r;

with recursive r(n) as (select 1 union all select p.id from parts p where p.parent = (select n from r limit 1)) select * from r;

with recursive r(n) as (select 1 union select p.id from parts p left join r on p.parent = r.n where r.n is not null) select * from r order by 1;

with recursive r(n, d) as (select 1, 0 union all select p.id, d + 1 from r, lateral (select id from parts where parent = r.n) p) select * from r order by 1;

with recursive r(n) as (select 1 union all select n + 1 from (select n, row_number() over (order by n) from r) s where n < 4) select * from r;

with recursive r(n) as (select 1 union all select distinct n + 1 from (select n from r union all select n from (values (9)) v(n)) s where n < 3) select n from r order by 1;

with recursive r(n) as (select 1 union all (select n + 1 from r where n < 3 union all select n + 10 from parts, (values (1)) v(n) where id = 1 and false)) select * from r;

-- Without an end.
with recursive r(n) as (select 1 union all select n from r) select count(*) from (select * from r limit 1000) s;

with recursive r(n) as (select 1 union all select n + 1 from r) select n from r limit 3 offset 5;

with recursive r(n) as (select 1 union all select n + 1 from r) select a.n, b.n from r a join lateral (select n from r limit 2) b on true limit 5;

-- WITH queries in correlated subqueries, also materialized.
select p.id, (with m as materialized (select q.id from parts q where q.parent = p.id) select count(*) from m) from parts p order by 1;

select p.id, (with m as materialized (select q.id from parts q where q.parent = p.id) select string_agg(a.id::text, ',' order by a.id) from m a, m b) from parts p order by 1;

select p.id, x.c from parts p, lateral (with m as materialized (select q.id from parts q where q.parent = p.id) select count(*) as c from m) x order by 1;

select p.id from parts p where exists (with m as materialized (select q.id from parts q where q.parent = p.id) select from m where m.id > p.id) order by 1;

with m as materialized (select id, parent from parts) select p.id, (select count(*) from m where m.parent = p.id) from parts p order by 1;

with m as materialized (select id, parent from parts) select p.id from parts p where p.id in (select m.parent from m where m.id > p.id) order by 1;

with m as materialized (select id, parent from parts), n as materialized (select * from m where parent is not null) select p.id, (select max(n.id) from n join m on n.parent = m.id where m.parent = p.id) from parts p order by 1;

select p.id, (with m as materialized (select p.id as k) select (with n as materialized (select m.k + p.id as z) select z from n) from m) from parts p order by 1;

select p.id, (with m as materialized (select p.id as k) select sum(k) from m where k in (select k from m)) from parts p order by 1;

select p.id, (with recursive up(id, parent) as (select p.id, p.parent union all select q.id, q.parent from parts q, up where q.id = up.parent) select string_agg(id::text, '<') from up) from parts p order by 1;

-- What may not be.
with recursive r(n) as (select 1 union all select a.n from r a, r b) select * from r;

with recursive r(n) as (select n from r union all select 1) select * from r;

with recursive r(n) as (select 1 union all select count(*) from r) select * from r;

with recursive r(n) as (select 1 union all select n from parts left join r on true) select * from r;

with recursive r(n) as (select 1 union all select n + 1 from r where n not in (select n from r)) select * from r;

with recursive r(n) as (select 1 except select n from r) select * from r;

with recursive r(n) as (select 1 union all (with q as (select n from r) select a.n from q a, r b)) select * from r;

with recursive a(n) as (select n from b), b(n) as (select n from a) select * from a;

with recursive r(n) as (select 1 union all (with recursive s(m) as (select 1 union all select m + r.n from s, r) select m from s)) select n from r limit 3;

with recursive r(n) as (select 1 union all (with recursive s(m) as (select 1 union all (select n from r where n < 3)) select m + 1 from s where m < 3)) select n from r limit 5;
