-- WITH names in ON CONFLICT, rows with a star in SET.

create table k(a int primary key, b int, c text);

insert into k values (1,1,'x'),(2,2,'y');

with w as (select 10 as n) insert into k values (1,5,'z') on conflict (a) do update set b = (select n from w);

with w as (select 10 as n) insert into k values (1,5,'z') on conflict (a) do update set b = excluded.b + (select n from w) where k.b < (select n+1 from w) returning *;

with w as (select 3 as a, 9 as b) insert into k select a, b from w on conflict (a) do update set c = 'q' where exists (select from w where w.a = k.a);

insert into k values (2, 7) on conflict (a) do update set (b, c) = (select 5, 'sub');

select * from k order by a;

update k set (b, c) = row(v.*) from (values (77, 'seven')) v(p, q) where k.a = 1;

update k set (b, c) = (v.*) from (values (77, 'seven')) v(p, q) where k.a = 1;

update k set (b, c) = row(v.*, 'x') from (values (78)) v(p) where k.a = 1 returning *;

update k set (b, c) = row(v.*) from (values (78)) v(p) where k.a = 1 returning *;

update k set (a, b, c) = row(k.*) where k.a = 2 returning *;

update k set (b, c) = row(default, 'd') where a = 2 returning *;

select * from k order by a;
