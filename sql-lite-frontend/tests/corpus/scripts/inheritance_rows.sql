-- Tables that inherit from others: which rows a name means, and where writes go.
create table p (a int primary key, b text default 'of p', c int check (c > 0));
create table c1 (d date, primary key (a)) inherits (p);
create table c2 (e int[], b text default 'of c2') inherits (p);
create table g (f text) inherits (c2);
insert into p values (1, 'one', 1), (2, default, 2);
insert into c1 values (3, 'three', 3, '2020-01-01'), (1, 'again', 4, null);
insert into c2 (a, c, e) values (5, 5, '{1,2}'), (6, 6, null);
insert into g (a, b, c, f) values (7, 'seven', 7, 'x'), (8, null, null, 'y');
insert into c1 values (9, 'no', 0, null);
insert into g (a, c) values (null, 1);
insert into g (a, c) values (7, 7);
delete from g where f is null;
-- unordered
select * from p;
-- unordered
select * from only p;
-- unordered
select * from p *;
-- unordered
select tableoid::regclass, a, b from p;
-- unordered
select tableoid::regclass, * from c2;
-- unordered
select tableoid::regclass, a from only c2;
select count(*), sum(a), min(a), max(a), min(c), max(b) from p;
select count(*) from only p;
select count(distinct a), count(c) from p where a between 1 and 7;
select tableoid::regclass::text as t, count(*) from p group by 1 order by 1;
select a, b from p where a = 1 order by b;
select a, b from p order by a, b limit 3;
select a, tableoid::regclass from p where tableoid = 'g'::regclass order by a;
-- unordered
select p from p where a > 5;
-- unordered
select p.a, q.a, q.tableoid::regclass from p join p q on q.a = p.c where p.a < 4;
-- unordered
select p.a, o.a from p left join only p o on o.a = p.a where p.a in (1, 3);
select a from p where a in (select a from c2) order by a;
select a from p where not exists (select from only p o where o.a = p.a) order by a;
select a, (select count(*) from p q where q.a < p.a) from p order by a, b;
select a, row_number() over (order by a, b) from p order by 1, 2;
-- unordered
select a from p union all select a from c1;
-- unordered
select a from p except select a from only p;
with q as (select * from p where a < 6) select tableoid from q;
with q as (select tableoid::regclass as t, a from p where a < 6) select * from q order by a, t::text;
select a, b from p where a < 4 order by a, b for update;
select a, b from p where a < 4 order by a, b for share of p nowait;
select a from only p order by a for no key update;
prepare one (int) as select tableoid::regclass, b from p where a = $1 order by b;
execute one (1);
execute one (7);
create table c3 (a int, b text, c int, z int default 26) inherits (p);
insert into c3 values (1, 'later', 1);
execute one (1);
drop table c3;
execute one (1);
create view v as select a, b, c from p where a < 100;
select count(*) from v;
update v set b = 'by view' where a = 5 returning *;
insert into v values (50, 'new', 50);
select tableoid::regclass, * from p where a = 50;
delete from v where a in (50, 6) returning a;
create view o as select a, b from only p;
select * from o order by a;
update o set b = b || '!' returning *;
-- unordered
update p set c = coalesce(c, 0) + 10 where a in (1, 5, 8) returning tableoid::regclass, a, b, c;
-- unordered
update p set b = 'x' || p.a from c1 where c1.a = p.a returning p.tableoid::regclass, p.a, p.b, c1.d;
-- unordered
update p set a = a + 100 where a > 6 returning old.a, new.a, new.tableoid::regclass;
update only p set c = 77 where a = 1 returning *;
update p set c = -1 where a = 105;
update p set c = -1 where a = 107;
update p set c = 0 where a = 3;
update p set a = 1 where a = 3;
update p set a = null where a = 5;
-- unordered
select * from p;
-- unordered
select * from g;
-- unordered
delete from p using c1 where p.a = c1.a and p.a < 3 returning p.tableoid::regclass, p.a;
delete from only p where a > 0 returning a;
select count(*) from p;
truncate only p;
select count(*) from p;
insert into p values (1, 'p', 1), (2, 'p', 2);
insert into c1 values (1, 'c1', 1, '2021-01-01');
insert into p values (1, 'x', 1) on conflict (a) do update set b = 'conflict' returning *;
insert into p values (3, 'x', 1) on conflict do nothing returning *;
-- unordered
select tableoid::regclass, a, b from p where a < 4;
-- unordered
merge into p using (values (1, 'm'), (3, 'm'), (99, 'new')) s (k, t) on p.a = s.k when matched and p.c > 1 then delete when matched then update set b = t when not matched then insert values (k, t, k) returning merge_action(), p.tableoid::regclass, p.a, p.b;
-- unordered
select tableoid::regclass, a, b, c from p;
merge into only p using (values (1, 'only'), (5, 'only')) s (k, t) on p.a = s.k when matched then update set b = t when not matched by target then do nothing;
-- unordered
select tableoid::regclass, a, b from p;
begin;
declare cur cursor for select a from p order by a;
fetch 2 from cur;
close cur;
commit;
-- differs: rows lie in the order of their primary key
copy p (a, b) to stdout;
copy (select a, b from p order by a, b) to stdout;
copy p (a, b, c) from stdin;
200	copied	1
\.
select tableoid::regclass, * from p where a = 200;
truncate p;
select count(*) from g;
-- Columns in another order, dropped ones, and more of them.
create table q (a int, b text, x int);
create table qc (z int, x int, y text, b text, a int);
alter table qc drop column y;
alter table q drop column x;
alter table qc inherit q;
insert into q values (1, 'q');
insert into qc values (10, 11, 'qc', 2);
-- unordered
select * from q;
-- unordered
select q from q;
-- unordered
update q set b = b || a, a = a * 2 where a > 0 returning *;
-- unordered
select * from qc;
delete from q where b = 'qc2' returning *, tableoid::regclass;
select count(*) from q;
-- Triggers: row triggers are each table's own, statement triggers the named table's.
create table t (a int, b text);
create table tc (x int) inherits (t);
create function say() returns trigger language plpgsql as $$ begin raise notice '% % % % % %', tg_name, tg_table_name, tg_when, tg_op, tg_level, coalesce(new, old); return coalesce(new, old); end $$;
create function count_rows() returns trigger language plpgsql as $$ begin raise notice '% rows: %', tg_op, (select string_agg(r::text, ' ' order by r::text) from changed r); return null; end $$;
create trigger t_row before update or delete on t for each row execute function say();
create trigger tc_row after insert or update or delete on tc for each row execute function say();
create trigger t_all before insert or update or delete on t execute function say();
create trigger tc_all after insert or update or delete on tc execute function say();
create trigger t_old after delete on t referencing old table as changed execute function count_rows();
create trigger tc_new after update on tc referencing new table as changed execute function count_rows();
create trigger tc_each after update on tc referencing new table as changed for each row execute function count_rows();
insert into t values (1, 'a');
insert into tc values (2, 'b', 3);
update t set b = b || '+';
update tc set b = b || '-';
delete from t where a > 0;
-- Foreign keys and unique keys speak of one table alone.
create table r (k int primary key);
create table rc () inherits (r);
create table f (k int references r);
insert into rc values (1), (1);
insert into f values (1);
insert into r values (1);
insert into f values (1);
delete from r;
delete from only r;
create table fc () inherits (f);
insert into fc values (17);
select count(*) from r;
-- Row security: the named table's policies count.
create role heirs_reader;
create table s (a int, who text);
create table sc () inherits (s);
insert into s values (1, 'x'), (2, 'heirs_reader');
insert into sc values (3, 'x'), (4, 'heirs_reader');
alter table s enable row level security;
create policy own on s using (who = current_user);
grant select, update, delete on s to heirs_reader;
set role heirs_reader;
select * from s order by a;
select * from sc;
update s set a = a + 10 returning *;
delete from s where a = 14 returning *;
reset role;
alter table sc enable row level security;
set role heirs_reader;
select * from s order by a;
reset role;
drop table sc, s;
drop role heirs_reader;
-- Generated columns and expressions of indexes are each table's own.
create table n (a int, twice int generated always as (a * 2) stored);
create table nc (twice int generated always as (a * 3) stored) inherits (n);
create index on nc ((a + 1));
create unique index on n ((a + 1));
insert into n values (1);
insert into nc values (1);
-- unordered
select tableoid::regclass, * from n;
-- unordered
update n set a = a + 1 returning tableoid::regclass, *;
-- unordered
select * from n where a + 1 = 3;
-- NOT NULL … NO INHERIT says nothing of children.
create table w (a int not null no inherit, b int);
create table wc () inherits (w);
insert into w values (1, 1);
insert into wc values (null, 2);
select min(a), max(a), count(*) from w;
select a, b from w order by a nulls first;
select b from w where a is null;
select b from w where b not in (select coalesce(a, 9) from w);
select b from w v where v.a not in (select a from w);
select x.b from (values (1), (2), (3)) k (b) left join w x on x.b = k.b order by 1;
select k.b, x is null from (values (1), (2), (3)) k (b) left join w x on x.b = k.b order by 1;
