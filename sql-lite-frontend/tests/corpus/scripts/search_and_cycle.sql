-- SEARCH and CYCLE of recursive WITH queries.

create table tree (id int primary key, up int, name text);
insert into tree values (1, null, 'root'), (2, 1, 'b'), (3, 1, 'a'), (4, 2, 'd'), (5, 2, 'c'), (6, 3, 'f'), (7, 6, 'e');
create table edge (f int, t int, label text);
insert into edge values (1, 2, 'x'), (1, 3, 'y'), (2, 3, 'z'), (1, 4, 'v'), (4, 5, 'w'), (5, 1, 'back');
with recursive r (id, up, name) as (select * from tree where up is null union all select t.* from tree t join r on t.up = r.id) search depth first by id set o select * from r order by o;
with recursive r (id, up, name) as (select * from tree where up is null union all select t.* from tree t join r on t.up = r.id) search depth first by name, id set o select id, name, o from r order by o;
with recursive r (id, up, name) as (select * from tree where up is null union all select t.* from tree t join r on t.up = r.id) search breadth first by id set o select * from r order by o;
with recursive r (id, up, name) as (select * from tree where up is null union all select t.* from tree t join r on t.up = r.id) search breadth first by name, id set o select id, name, o from r order by o desc;
with recursive r as (select id, up, name from tree where id = 7 union all select t.* from tree t, r x where t.id = x.up) search depth first by id set o select * from r;
with recursive r as (select id, name from tree where id = 7 union select t.id, t.name from tree t, r where t.id < r.id and t.id > 4) search depth first by id set o select * from r order by o;
with recursive r as (values (1, 'one'), (2, 'two') union all select column1 + 2, column2 || '!' from r where column1 < 5) search breadth first by column1 set o select * from r order by o;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 4) search depth first by n set o select n, o, pg_typeof(o) from r;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 4) search breadth first by n set o select n, pg_typeof(o) from r order by o;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 4) search breadth first by n set "An Order" select n, "An Order" from r;
-- CYCLE.
with recursive r (f, t, label) as (select * from edge where f = 1 union all select e.* from edge e, r where e.f = r.t) cycle f, t set is_cycle using path select * from r order by path;
with recursive r (f, t, label) as (select * from edge where f = 1 union all select e.* from edge e, r where e.f = r.t) cycle f set is_cycle to 'Y' default 'N' using path select f, t, is_cycle, path from r order by path, t;
with recursive r (f, t) as (select f, t from edge where f = 1 union all select e.f, e.t from edge e, r where e.f = r.t) cycle f, t set c to 1 default 0.5 using p select *, pg_typeof(c), pg_typeof(p) from r order by p;
with recursive r (f, t) as (select f, t from edge where f = 1 union all select e.f, e.t from edge e, r where e.f = r.t) cycle f, t set c to false default true using p select f, t, c from r order by p;
with recursive r (f, t) as (select f, t from edge where f = 1 union all select e.f, e.t from edge e, r where e.f = r.t and e.t < 5) cycle f set c using p select f, t, c, p from r where not c order by p, t;
with recursive r (f, t) as (select f, t from edge union select e.f, r.t from edge e, r where e.t = r.f) cycle f, t set c using p select count(*), count(distinct (f, t)) from r;
with recursive r (n) as (select 1 union all select n % 3 + 1 from r) cycle n set c using p select * from r;
with recursive r (n) as (select 1 union all select n % 3 + 1 from r where n < 100 or n is null) cycle n set c using p select n from r;
with recursive r (n) as (select 1 union all select x.n % 3 + 1 from r x join tree on id = n) cycle n set c using p select n, c from r;
-- Both.
with recursive r (f, t, label) as (select * from edge where f = 1 union all select e.* from edge e, r where e.f = r.t) search depth first by f, t set o cycle f, t set c to true default false using p select * from r order by o;
with recursive r (f, t, label) as (select * from edge where f = 1 union all select e.* from edge e, r where e.f = r.t) search breadth first by f, t set o cycle f, t set c to true default false using p select f, t, o, c, p from r order by o;
-- The new columns inside the query: by name, not by star.
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3 and array_length(o, 1) < 3) search depth first by n set o select * from r;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 30 and array_length(r.p, 1) < 3 and not c) cycle n set c using p select * from r;
with recursive r (n) as (select 1 union all select q.n + 1 from r q where q.n < 3 and q.o is not null) search depth first by n set o select q.* from r q;
with recursive r (a, b) as (select 1, 2 union all select * from r where a < 0) search depth first by a set o select * from r;
with recursive r (a, b) as (select 1, 2 union all select r.* from r where a < 0) cycle a set c using p select * from r;
with recursive r (a, b) as (select 1, 2 union all select (r).a, 3 from r where a < 0) cycle a set c using p select r.a, r.c, r.p from r;
-- In other places.
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) search depth first by n set o, s as (select o, n from r where n > 1) select s.*, r.n from s join r on r.o = s.o order by 1;
select (with recursive r (n) as (select x union all select n + 1 from r where n < 3) search depth first by n set o select max(o) from r) from (values (1), (2)) v (x);
insert into edge with recursive r (n) as (select 1 union all select n % 2 + 1 from r) cycle n set c using p select n, 0, c::text from r returning *;
with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) search breadth first by n set o delete from edge where t = 0 and f in (select n from r where n = 2) returning f;
create view v as with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) search depth first by n set o cycle n set c using p select n, c, p::text from r;
select * from v order by n;
-- differs: a view may have a column of the type record[]
create view no as with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) search depth first by n set o select * from r;
create table made as with recursive r (n) as (select 1 union all select n % 3 + 1 from r) cycle n set c to 'y' default 'n' using p select n, c from r;
select * from made;
create function paths(int) returns setof text language sql as 'with recursive r (n) as (select 1 union all select n % $1 + 1 from r) cycle n set c using p select p::text from r';
select * from paths(2);
-- What is refused.
with r as (select 1 as a) search depth first by a set o select * from r;
with recursive r as (select 1 as a) search depth first by a set o select * from r;
with recursive r as (select 1 as a) cycle a set c using p select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) search depth first by b set o select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) search breadth first by a, a set o select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) cycle b set c using p select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) cycle a, a set c using p select * from r;
with recursive r (a) as (select 1 union all select 2 from r) search depth first by a set a select * from r;
with recursive r (a) as (select 1 union all select 2 from r) cycle a set a using p select * from r;
with recursive r (a) as (select 1 union all select 2 from r) cycle a set c using a select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) cycle a set c using c select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) search depth first by a set o cycle a set o using p select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) search depth first by a set o cycle a set c using o select * from r;
with recursive r (a) as (select 1 union all (select a + 1 from r where a < 3 union all select 7)) search depth first by a set o select * from r;
with recursive r (a) as ((select 1 union all select 5) union all select a + 1 from r where a < 3) search depth first by a set o select * from r;
with recursive r (a) as (select 1 union all select x.a + 1 from (select * from r) x where a < 3) cycle a set c using p select * from r;
-- differs: the error's message
with recursive r (a, b) as (select 1, json '1' union all select a + 1, b from r where a < 3) cycle b set c using p select * from r;
with recursive r (a) as (select 1 union all select a + 1 from r where a < 3) cycle a set c to 1 default 'x' using p select * from r;
with recursive r (a) as (select 1 intersect select a + 1 from r where a < 3) cycle a set c using p select * from r;
