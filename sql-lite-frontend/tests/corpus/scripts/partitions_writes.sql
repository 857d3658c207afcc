-- Writing through partitioned tables.
create table l (k int, n int, t text default 'd') partition by list (k);
create table l1 partition of l for values in (1);
create table l2 partition of l for values in (2);
create table ld partition of l default;
insert into l (k, n) values (1, 1), (2, 2), (3, 3) returning tableoid::regclass, *;
insert into l select g % 4, g, 'g' from generate_series(4, 11) g;
select tableoid::regclass, count(*) from l group by 1 order by 1;
update l set t = 'u' where n < 3 returning tableoid::regclass, *;
update l set n = n + 100 where k = 2;
select * from l where k = 2 order by n;
-- Rows that move.
update l set k = 2 where n = 1 returning tableoid::regclass, *;
update l set k = k + 1 where k in (1, 2);
select tableoid::regclass, k, count(*) from l group by 1, 2 order by 2;
update l set k = null where n = 3;
select tableoid::regclass, * from l where k is null;
update l set k = 1 where k is null returning tableoid::regclass, k;
with gone as (delete from l where k = 3 returning n) select n from gone order by n;
delete from l where n > 100;
select * from l order by n;
-- A partition named itself.
insert into l1 values (2, 50);
insert into l1 values (null, 50);
insert into ld values (2, 50);
insert into ld values (77, 50);
update l1 set k = 2;
update ld set k = 1 where k = 77;
update ld set k = 78 where k = 77;
select * from ld where n = 50;
-- Nobody takes it.
create table r (a int, b text) partition by range (a);
create table r1 partition of r for values from (1) to (10);
insert into r values (0, 'x');
insert into r values (10, 'x');
insert into r values (null, 'x');
insert into r values (1, 'x'), (10, 'y');
select * from r;
insert into r values (5, 'five');
update r set a = 20 where a = 5;
update r set a = 6 where a = 5;
select * from r;
create table rl (a text, b int) partition by list (a);
insert into rl values (repeat('x', 100), 1);
-- Joined, and by subqueries.
create table src (k int, n int);
insert into src values (1, 1000), (2, 2000), (3, 3000);
truncate l;
insert into l select k, n from src;
update l set t = 'from ' || src.n from src where src.k = l.k;
select * from l order by k;
update l set k = src.k + 1 from src where src.k = l.k and src.k < 3;
select tableoid::regclass, * from l order by n;
delete from l using src where src.n = l.n and src.k = 2 returning l.*, src.k;
with moved as (update l set k = 1 returning tableoid::regclass::text as p, n) select * from moved order by n;
with gone as (delete from l returning *) insert into l select k + 1, n, 'back' from gone returning tableoid::regclass, *;
select tableoid::regclass, * from l order by n;
insert into l select * from l returning k, n;
select count(*) from l;
update l set n = (select max(n) from l) where k = 2;
select * from l order by n, t;
-- Locks.
begin;
select * from l where k = 2 order by n for update;
select k from l order by n for share skip locked;
select k from l order by n limit 1 for no key update nowait;
select l.k, s.k from l join src s on s.k = l.k order by l.n for update of l;
commit;
-- Columns of all kinds.
create table g (id int generated always as identity, k int, d int default 5, s serial, c int generated always as (k * 10) stored, constraint pos check (k > 0)) partition by list (k);
create table g1 partition of g for values in (1, 2);
create table g2 partition of g (d default 6) for values in (3);
insert into g (k) values (1), (3), (2) returning tableoid::regclass, *;
-- differs: an identity column is not one of the partitions
insert into g2 (k) values (3);
-- differs: an identity column is not one of the partitions
insert into g2 (id, k) values (100, 3) returning *;
insert into g (k) values (-1);
update g set k = 3 where k = 1 returning *;
-- differs: an identity column is not one of the partitions
select tableoid::regclass, * from g order by id;
insert into g (k, c) values (1, 1);
insert into g (id, k) values (1, 1);
-- differs: an identity column is not one of the partitions
insert into g (id, k) overriding system value values (99, 1) returning *;
-- COPY.
copy l from stdin;
1	500	copied
2	501	copied
9	502	copied
\.
select tableoid::regclass, * from l where t = 'copied' order by n;
copy r from stdin;
5	ok
50	no
\.
select * from r;
copy l to stdout;
copy (select k, n from l where t = 'copied' order by n) to stdout;
copy l1 from stdin;
2	600	no
\.
-- What a statement's triggers see, and views.
create view lv as select k, n from l where k < 5 with check option;
insert into lv values (1, 9000);
insert into lv values (7, 9001);
update lv set k = 2 where n = 9000;
update lv set k = 8 where n = 9000;
select tableoid::regclass, k, n from l where n >= 9000;
delete from lv where n = 9000;
-- Cursors.
begin;
declare c cursor for select n from l order by n;
fetch 2 from c;
commit;
-- Failing rows name the partition.
create table f (k int, x int not null, y int check (y > 0)) partition by list (k);
create table f1 (y int check (y > 0), k int, x int not null);
alter table f attach partition f1 for values in (1);
create table f2 partition of f for values in (2);
insert into f values (1, null, 1);
insert into f values (1, 1, -1);
insert into f values (2, 1, -1);
alter table f1 rename constraint f1_y_check to f_y_check;
alter table f attach partition f1 for values in (1);
insert into f values (1, null, 1);
insert into f values (1, 1, -1);
insert into f values (1, 1, 1), (2, 2, 2);
update f set x = null;
update f set y = 0 where k = 1;
select tableoid::regclass, * from f order by k;
-- ONLY before a view's name means nothing; in the view it does.
create table op (a int, b text) partition by range (a);
create table op1 partition of op for values from (1) to (10);
create view ov as select a, b from op;
create view oo as select a, b from only op;
create view ovv as select a, b from oo;
insert into ov values (1, 'one'), (2, 'two');
select * from only ov order by a;
select * from oo;
update only ov set b = 'changed' where a = 1 returning *;
update oo set b = 'no' returning *;
update ovv set b = 'no' returning *;
delete from ovv returning *;
delete from only ov where a = 2 returning *;
insert into oo values (3, 'three');
table op;
drop table op cascade;
