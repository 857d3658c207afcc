-- COPY of a statement that writes needs RETURNING.

create table k (a int primary key, b int, c text);

insert into k values (1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z');


copy (delete from k) to stdout;

select count(*) from k;

copy (delete from k where a = 1 returning a) to stdout;

copy (insert into k values (5)) to stdout;

copy (update k set a = a) to stdout;

copy (insert into k values (6) returning *) to stdout;

copy (with d as (delete from k where a = 6) select 1) to stdout;

copy (select 1 into ff) to stdout;

select a from k order by a;
