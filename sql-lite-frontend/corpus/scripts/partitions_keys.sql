-- Foreign keys of partitioned tables.
create table ref (id int primary key, t text);
insert into ref values (1, 'one'), (2, 'two'), (3, 'three');
create table p (a int, r int references ref on delete cascade) partition by list (a);
create table p1 partition of p for values in (1);
create table p2 (r int, a int);
insert into p2 values (9, 2);
alter table p attach partition p2 for values in (2);
update p2 set r = 2;
alter table p attach partition p2 for values in (2);
select conrelid::regclass, conname, contype, conislocal, coninhcount, conparentid <> 0 as child, pg_get_constraintdef(oid) from pg_constraint where contype = 'f' order by 1, 2;
insert into p values (1, 1), (2, 3);
insert into p values (1, 9);
update p set r = 9 where a = 1;
update p set a = 2 where a = 1;
select tableoid::regclass, * from p order by a, r;
delete from ref where id = 2;
select tableoid::regclass, * from p order by a, r;
alter table p1 drop constraint p_r_fkey;
alter table p drop constraint p_r_fkey;
insert into p values (1, 9);
alter table p add constraint again foreign key (r) references ref;
delete from p where r = 9;
alter table p add constraint again foreign key (r) references ref;
delete from ref where id = 1;
truncate ref;
create table p3 partition of p for values in (3) partition by list (r);
create table p31 partition of p3 for values in (3, 4);
insert into p values (3, 3);
insert into p values (3, 4);
alter table p detach partition p3;
insert into p3 values (3, 4);
-- To a partition, which is a table.
create table t (a int, b int, primary key (a, b)) partition by list (a);
create table t1 partition of t for values in (1);
create table t2 partition of t for values in (2);
create table to1 (a int, b int, foreign key (a, b) references t1);
insert into t values (1, 1);
insert into to1 values (1, 1);
insert into to1 values (2, 1);
delete from t where a = 1;
truncate t;
-- differs: refused: foreign keys to partitioned tables
create table tot (a int, b int, foreign key (a, b) references t);
-- differs: refused: foreign keys to partitioned tables
drop table t1;
-- differs: the notice names the partitions' constraints as well
drop table ref cascade;
