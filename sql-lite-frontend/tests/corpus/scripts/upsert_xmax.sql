-- xmax of rows that INSERT returns tells whether ON CONFLICT DO UPDATE has found them.
create table x (id int primary key, v text, n int default 0);
insert into x values (1, 'a'), (2, 'b') returning id, xmax;
insert into x values (2, 'B'), (3, 'c') on conflict (id) do update set v = excluded.v returning id, v, xmax = 0 as made;
insert into x values (3, 'C'), (4, 'd') on conflict (id) do update set v = excluded.v, n = x.n + 1 returning *, (xmax != 0) as was_there;
insert into x as t values (4, 'D'), (5, 'e') on conflict (id) do update set v = excluded.v returning t.id, t.xmax <> 0, (t.xmax = 0)::int + 1;
insert into x values (5, 'E') on conflict (id) do nothing returning xmax;
insert into x values (6, 'f') on conflict (id) do nothing returning xmax;
insert into x select g, 'g' from generate_series(6, 9) g on conflict (id) do update set n = 5 where x.id > 6 returning id, xmax = 0;
insert into x select g, 'h' from generate_series(8, 11) g on conflict (id) do update set n = 6 returning id, case when xmax = 0 then 'made' else 'changed' end;
with w as (insert into x values (11, 'i'), (12, 'j') on conflict (id) do update set v = excluded.v returning id, xmax = 0 as made) select made, count(*), min(id) from w group by made order by made;
begin;
insert into x values (12, 'k') on conflict (id) do update set v = excluded.v returning (xmax::text::bigint > 0), xmax = xmax;
rollback;
insert into x values (1, 'z') on conflict (id) do update set v = excluded.v returning xmax::text <> '0', pg_typeof(xmax);
select id, v, n from x order by id;
