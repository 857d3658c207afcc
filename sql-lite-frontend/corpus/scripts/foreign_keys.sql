-- Foreign keys: actions, several columns, self-references, deferral, NULLs, errors in definitions.
create table p (id int primary key, code text unique, a int, b int, unique (a, b));
create table c (id int, p_id int references p);
insert into p values (1, 'one', 1, 1), (2, 'two', 1, 2), (3, 'three', 2, 1), (4, null, null, 4);
insert into c values (1, 1), (2, 2), (3, null);
insert into c values (4, 99);
update c set p_id = 99 where id = 1;
update c set p_id = 3 where id = 1;
delete from p where id = 3;
delete from p where id = 1;
update p set id = 30 where id = 3;
update p set id = 40 where id = 4;
update p set code = 'changed' where id = 3;
update p set id = id where id = 3;
drop table p;
truncate p;
delete from p;
select * from c order by id;
drop table c;
create table c (id int, p_id int references p (id) on delete cascade on update cascade);
insert into c values (1, 1), (2, 2), (3, 3), (4, 3);
delete from p where id = 1;
update p set id = 20 where id = 2;
select * from c order by id;
delete from p where id in (20, 3);
select * from c order by id;
drop table c;
insert into p values (1, 'one', 1, 1), (2, 'two', 1, 2), (3, 'three', 2, 1);
create table c (id int, p_id int default 2 references p on delete set null on update set default);
insert into c values (1, 1), (2, 2), (3, 3);
delete from p where id = 1;
update p set id = 30 where id = 3;
-- differs: bug: other rows
select * from c order by id;
-- differs: bug: PostgreSQL refuses it
update p set id = 20 where id = 2;
-- differs: bug: other rows
select * from c order by id;
drop table c;
create table c (id int, p_id int default 30 references p on delete set default on update set null);
-- differs: bug: it fails
insert into c values (1, 2), (2, 30);
-- differs: bug: other rows
delete from p where id = 2;
-- differs: bug: other rows
select * from c order by id;
-- differs: bug: PostgreSQL refuses it
delete from p where id = 30;
-- differs: bug: other rows
update p set id = 31 where id = 30;
-- differs: bug: other rows
select * from c order by id;
drop table c;
create table c (id int, code text references p (code) on update cascade on delete restrict);
-- differs: bug: it fails
insert into c values (1, 'three'), (2, null);
insert into c values (3, 'nosuch');
-- differs: bug: other rows
update p set code = 'drei' where code = 'three';
-- differs: bug: other rows
select * from c order by id;
-- differs: bug: PostgreSQL refuses it
delete from p where code = 'drei';
-- differs: bug: other rows
update p set code = null where code = 'drei';
delete from p;
drop table c;
delete from p;
insert into p values (1, 'one', 1, 1), (2, 'two', 1, 2), (3, 'three', 2, 1), (4, 'four', null, 4);
create table c (x int, y int, note text, foreign key (x, y) references p (a, b));
insert into c values (1, 1, 'a'), (1, null, 'b'), (null, 9, 'c'), (9, null, 'd'), (null, null, 'e');
insert into c values (1, 3, 'f');
insert into c values (null, 4, 'g');
delete from p where a = 1 and b = 1;
update p set b = 7 where a = 1 and b = 1;
drop table c;
create table c (x int, y int, foreign key (x, y) references p (a, b) match full on delete cascade);
insert into c values (1, 1), (null, null);
insert into c values (1, null);
insert into c values (1, 9);
delete from p where a = 1 and b = 1;
select * from c;
drop table c;
create table c (x int, y int default 2, foreign key (x, y) references p (a, b) on delete set null (x) on update cascade);
insert into c values (1, 2), (2, 1);
update p set a = 5 where b = 2;
select * from c order by x;
delete from p where a = 5;
select * from c order by x;
drop table c;
create table c (x int references p (nosuch));
create table c (x int references nosuch);
create table c (x int references p (a));
create table c (x text references p (id));
create table c (x numeric references p (id));
create table c2 (x bigint references p (id));
create table c3 (x int references p (id, code));
create table c3 (x int, foreign key (y) references p);
create table c3 (x int, y int, foreign key (x, y) references p);
create table c3 (x int, y int, foreign key (x, y) references p (a, a));
create table c3 (x int references p (id) on delete set null (nosuch));
create table c3 (x int references p match partial);
insert into c2 values (3), (99);
drop table c2, c;
create table no_key (a int);
create table c (x int references no_key);
create view a_view as select 1 as id;
create table c (x int references a_view);
create temp table temporary_p (id int primary key);
create table c (x int references temporary_p);
create table self (id int primary key, up int references self, name text);
insert into self values (1, null, 'root'), (2, 1, 'child'), (3, 2, 'grandchild');
insert into self values (5, 6, 'before'), (6, 5, 'after');
insert into self values (7, 8, 'wrong');
insert into self values (9, 9, 'own parent');
delete from self where id = 1;
delete from self where id in (5, 6);
delete from self where id = 9;
update self set id = 20 where id = 2;
update self set up = null where id = 2;
delete from self;
create table tree (id int primary key, up int references tree on delete cascade on update cascade);
insert into tree values (1, null), (2, 1), (3, 2), (4, 2), (5, null);
update tree set id = 10 where id = 1;
select * from tree order by id;
delete from tree where id = 10;
select * from tree order by id;
create table later (id int primary key, other int references later deferrable initially deferred);
begin;
insert into later values (1, 2);
insert into later values (2, 1);
commit;
begin;
insert into later values (3, 4);
-- differs: the error's constraint and schema and table
commit;
select * from later order by id;
begin;
insert into later values (3, 4);
set constraints all immediate;
commit;
begin;
set constraints all immediate;
insert into later values (3, 4);
rollback;
begin;
insert into later values (3, 4);
savepoint s;
set constraints later_other_fkey immediate;
rollback to s;
insert into later values (4, 3);
set constraints later_other_fkey immediate;
insert into later values (5, 6);
rollback;
-- differs: another message
insert into later values (7, 8);
-- differs: no notice
set constraints nosuch immediate;
-- differs: no notice
set constraints later_other_fkey immediate;
create table maybe (id int primary key, other int references maybe deferrable);
insert into maybe values (1, 2);
begin;
set constraints maybe_other_fkey deferred;
insert into maybe values (1, 2);
insert into maybe values (2, 1);
commit;
begin;
set constraints all deferred;
delete from maybe where id = 1;
delete from maybe where id = 2;
commit;
select * from maybe;
create table never (id int primary key, other int references never not deferrable);
-- differs: bug: PostgreSQL refuses it
set constraints never_other_fkey deferred;
begin;
-- differs: bug: PostgreSQL refuses it
set constraints never_other_fkey deferred;
rollback;
begin;
set constraints all deferred;
insert into never values (1, 2);
rollback;
create table bad (id int references p deferrable not deferrable);
create table bad (id int references p initially deferred not deferrable);
create table bad (id int deferrable);
create table bad (id int primary key initially immediate);
create table a1 (id int primary key);
create table a2 (id int primary key, a1 int references a1 on delete cascade);
create table a3 (id int primary key, a2 int references a2 on delete cascade);
create table a4 (id int, a3 int references a3);
insert into a1 values (1), (2);
insert into a2 values (10, 1), (20, 2);
insert into a3 values (100, 10), (200, 20);
insert into a4 values (1000, 200);
delete from a1 where id = 1;
delete from a1 where id = 2;
select (select count(*) from a1), (select count(*) from a2), (select count(*) from a3);
drop table a1;
drop table a1 cascade;
insert into a2 values (11, 111);
truncate a3;
truncate a3 cascade;
truncate a3, a4;
drop table p, self, tree, later, maybe, never, a2, a3, a4, no_key cascade;
create table o (id int primary key);
create table l (o_id int constraint l_to_o references o (id) on update restrict, qty int);
insert into o values (1), (2);
insert into l select 1, n from generate_series(1, 100) n;
delete from o;
delete from o where id = 2 returning id;
update o set id = 5;
alter table l drop constraint l_to_o;
update o set id = 5;
alter table l add constraint l_to_o foreign key (o_id) references o (id) not valid;
insert into l values (1, 1);
-- differs: the error's detail
alter table l validate constraint l_to_o;
update l set o_id = 5;
alter table l validate constraint l_to_o;
select conname, confupdtype, confdeltype, confmatchtype, condeferrable, condeferred, convalidated from pg_constraint where contype = 'f' order by 1;
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'l'::regclass order by 1;
drop table o cascade;
drop table l;
