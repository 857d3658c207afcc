-- Joins of every kind and form, what their columns are called, and which of them the conditions may see.
create table person (id int primary key, name text, boss int, dept int);
create table dept (id int primary key, name text, city text);
create table badge (person_id int, kind text, since date);
insert into dept values (1, 'tools', 'Berlin'), (2, 'sales', 'Paris'), (3, 'empty', null);
insert into person values (1, 'ada', null, 1), (2, 'bob', 1, 1), (3, 'cyd', 1, 2), (4, 'dee', 2, 2), (5, 'eve', 4, null);
insert into badge values (1, 'gold', '2020-01-01'), (1, 'iron', '2021-01-01'), (3, 'gold', '2022-01-01'), (9, 'lost', '2023-01-01'), (null, 'none', null);
select p.name, d.name from person p join dept d on p.dept = d.id order by p.id;
select p.name, d.name from person p inner join dept d on d.id = p.dept order by p.id;
select p.name, d.name from person p left join dept d on p.dept = d.id order by p.id;
select p.name, d.name from person p right join dept d on p.dept = d.id order by d.id, p.id;
select p.name, d.name from person p full join dept d on p.dept = d.id order by d.id, p.id;
select p.name, d.name from person p full outer join dept d on p.dept = d.id where p.id is null or d.id is null order by 1, 2;
select count(*) from person cross join dept;
select count(*) from person, dept;
select count(*) from person p, dept d where p.dept = d.id;
select p.name, b.name as boss from person p left join person b on p.boss = b.id order by p.id;
select p.name, b.name, bb.name from person p left join person b on p.boss = b.id left join person bb on b.boss = bb.id order by p.id;
select * from person p join dept d using (id) order by id;
select id, p.id, d.id from person p join dept d using (id) order by id;
select * from person p left join dept d using (id) order by id;
select * from person p right join dept d using (id) order by id;
select * from person p full join dept d using (id) order by id;
select * from person natural join dept;
select * from person p natural left join (select id, city from dept) d order by id;
select * from person natural join badge order by 1, 6, 5;
select * from (select 1 as a, 2 as b) x natural join (select 1 as a, 3 as c) y;
select * from (select 1 as a) x natural join (select 2 as b) y;
select * from (select 1 as a, 2 as b) x join (select 1 as a, 2 as b) y using (a, b);
select * from (select 1 as a, 2 as b) x join (select 1 as a, 2 as b) y using (a) as j where j.a = 1;
-- differs: the error's hint
select j.b from (select 1 as a, 2 as b) x join (select 1 as a, 2 as b) y using (a) as j;
select * from person p join dept d using (nosuch);
select * from person p join badge b using (dept);
select * from (person p join dept d on p.dept = d.id) order by p.id;
select * from (person p join dept d on p.dept = d.id) j order by 1;
select j.name from (person p join dept d on p.dept = d.id) as j;
-- differs: another message
select p.name from (person p join dept d on p.dept = d.id) as j;
select j.a, j.b from (person p join dept d on p.dept = d.id) as j (a, b) order by a;
-- differs: another message
select j.a from (person p join dept d on p.dept = d.id) as j (a, b, c, d, e, f, g, h);
select p.name, d.name, b.kind from person p join dept d on p.dept = d.id join badge b on b.person_id = p.id order by 1, 3;
select p.name, d.name, b.kind from person p left join (dept d join badge b on b.person_id = d.id) on p.dept = d.id order by 1, 2, 3;
select p.name, b.kind from person p left join badge b on b.person_id = p.id and b.kind = 'gold' order by p.id;
select p.name, b.kind from person p left join badge b on b.person_id = p.id where b.kind = 'gold' order by p.id;
select p.name, b.kind from person p left join badge b on b.person_id = p.id and p.name = 'ada' order by p.id, b.kind;
select p.name, b.kind from person p left join badge b on false order by p.id;
select p.name, b.kind from person p left join badge b on true where p.id = 1 order by b.kind;
select p.name, b.kind from person p join badge b on b.person_id <> p.id order by 1, 2;
select p.name, q.name from person p join person q on p.id < q.id order by 1, 2;
select p.name, q.name from person p left join person q on p.id > q.id order by 1, 2;
select p.name, q.name from person p join person q on p.id between q.id and q.id + 1 order by 1, 2;
select name from person join dept on person.dept = dept.id;
select * from person join person on true;
-- differs: another message
select person.name from person p;
select x.name from person p;
select * from person p join dept p on true;
select * from person join dept on dept = id;
select p.name from person p join dept d on p.dept = d.nosuch;
select p.name from person p join dept d on p.dept = d.name;
select p.name from person p join dept d on p.dept;
select p.name from person p join dept d on count(*) > 1;
-- differs: another message
select * from person p, dept d join badge b on p.id = b.person_id;
select count(*) from person p, dept d join badge b on d.id = b.person_id;
select p.name, x.kinds from person p, lateral (select array_agg(kind order by kind) as kinds from badge b where b.person_id = p.id) x order by p.id;
select p.name, x.kind from person p left join lateral (select kind from badge b where b.person_id = p.id order by since limit 1) x on true order by p.id;
select p.name, x.kind from person p cross join lateral (select kind from badge b where b.person_id = p.id) x order by 1, 2;
-- differs: another message
select p.name, x.kind from person p, (select kind from badge b where b.person_id = p.id) x;
select p.id, n from person p, generate_series(1, p.id) n order by 1, 2;
select p.id, n from person p left join lateral generate_series(3, p.id) n on true order by 1, 2;
-- differs: bug: PostgreSQL refuses it
select p.id, n from person p right join lateral generate_series(1, p.id) n on true;
select d.name, (select count(*) from person p where p.dept = d.id) from dept d order by d.id;
select d.name, count(p.id), count(*) from dept d left join person p on p.dept = d.id group by d.id order by d.id;
select d.name, string_agg(p.name, ',' order by p.name desc) from dept d join person p on p.dept = d.id group by d.name order by 1;
select coalesce(d.city, 'nowhere'), count(*) from person p full join dept d on p.dept = d.id group by 1 order by 1;
select distinct d.city from person p join dept d on p.dept = d.id order by 1;
select p.* from person p join dept d on p.dept = d.id where d.city = 'Paris' order by p.id;
select d.*, p.name from person p join dept d on p.dept = d.id order by p.id;
select p.*, p.* from person p where id = 1;
select nosuch.* from person p;
-- differs: the columns' types
select p from person p where id = 1;
-- differs: the columns' types
select p, d from person p join dept d on p.dept = d.id order by p.id;
select (p).name from person p order by id;
-- differs: another message
select (p).nosuch from person p;
select (p.*) from person p where id = 2;
-- differs: bug: other rows
select row(p.*) from person p where id = 2;
-- differs: refused: expansion of a composite value with *
select (d).* from dept d order by id;
select a.id, b.id, c.id from person a, person b, person c where a.id = b.boss and b.id = c.boss order by 1, 2, 3;
select count(*) from person a join person b on a.dept = b.dept join person c on b.dept = c.dept;
select count(*) from person a, person b, person c, person d where a.id = b.id and b.id = c.id and c.id = d.id;
select count(*) from person a left join person b on a.boss = b.id right join person c on b.boss = c.id;
select a.id, b.id, c.id from person a full join person b on a.id = b.boss full join person c on b.id = c.boss order by 1, 2, 3;
select a.id from person a join dept d on (a.dept, a.id) = (d.id, d.id) order by 1;
select a.id from person a where (a.dept, a.id) in (select id, id from dept) order by 1;
select a.id, d.id from person a join dept d on a.dept = d.id and a.name > d.name order by 1;
select a.id, d.id from person a join dept d on a.dept = d.id or a.id = d.id order by 1, 2;
select a.id, d.id from person a join dept d on a.dept is not distinct from d.id order by 1;
select a.id, d.id from person a full join dept d on a.dept = d.id and a.id > 2 order by 1, 2;
-- differs: bug: it fails
select a.id, d.id from person a full join dept d on false order by 1, 2;
-- differs: bug: it fails
select a.id, d.id from person a full join dept d on true order by 1, 2 limit 3;
select * from dept d left join (values (1, 'x'), (2, 'y')) v (id, t) on v.id = d.id order by d.id;
select * from dept d left join (values (1, 'x'), (2, 'y')) v (id, t) using (id) order by id;
select v.t, d.name from (values (1, 'x'), (7, 'y')) v (id, t) left join dept d using (id) order by 1;
select count(*) from dept d join (select dept, count(*) n from person group by dept) s on s.dept = d.id where s.n = 2;
select * from (select * from dept) d, (select name as n from person) p order by 1, 4 limit 2;
-- differs: the error's hint
select * from (select id from dept), person;
-- differs: the error's hint
select d.name from dept as d (x, y), person p order by 1 limit 1;
select d.y from dept as d (x, y) order by 1;
select d.x from dept as d (x, y, z, w);
select public.dept.name from public.dept order by 1;
-- differs: another message
select public.dept.name from public.dept d order by 1;
select dept.name from other.dept;
select count(*) from person p where exists (select from badge b where b.person_id = p.id);
select count(*) from person p left join badge b on b.person_id = p.id where b.person_id is null;
create index on badge (person_id);
create index on person (dept);
select p.name, b.kind from person p join badge b on b.person_id = p.id order by 1, 2;
select p.name, b.kind from person p left join badge b on b.person_id = p.id and b.since > '2020-06-01' order by 1, 2;
select d.name, p.name from dept d join person p on p.dept = d.id where d.id = 2 order by 2;
select b.kind from badge b left join person p on p.id = b.person_id where p.id is null order by 1;
drop table person, dept, badge;
create table wide (a int, b int8, c numeric, d float8, e text, f varchar(5), g char(5));
insert into wide values (1, 1, 1, 1, '1', '1', '1'), (2, 2, 2.0, 2, 'x', 'x', 'x'), (null, null, null, null, null, null, null);
select count(*) from wide x join wide y on x.a = y.b;
select count(*) from wide x join wide y on x.a = y.c;
select count(*) from wide x join wide y on x.b = y.d;
select count(*) from wide x join wide y on x.c = y.d;
select count(*) from wide x join wide y on x.e = y.f;
select count(*) from wide x join wide y on x.e = y.g;
select count(*) from wide x join wide y on x.f = y.g;
select count(*) from wide x join wide y on x.a = y.e;
select count(*) from wide x join wide y using (a, b, c, d, e, f, g);
select pg_typeof(a), pg_typeof(c) from wide x full join (select 1::bigint as a, 2 as c) y using (a, c) limit 1;
drop table wide;
