-- CREATE INDEX, REINDEX and DROP INDEX CONCURRENTLY in one session: states, texts, refusals.
create table c (id int primary key, a int, b text, r int4range);
insert into c select n, case n when 30 then 1 else n end, 'b' || n, int4range(n, n + 1) from generate_series(1, 30) as n;
create index concurrently c_a on c (a);
create index concurrently if not exists c_a on c (b);
create index concurrently on c (lower(b)) where a > 5;
create unique index concurrently c_b on c (b) include (a);
create index concurrently c_r on c using gist (r);
create view states as
  select indexrelid::regclass as index, indisunique, indisvalid, indisready, indislive
  from pg_index where indrelid = 'c'::regclass order by indexrelid::regclass::text;
select * from states;
select count(*) from c where a = 3;

-- A repeated key.
create unique index concurrently c_u on c (a);
create unique index concurrently c_v on c ((a + 1));
create unique index concurrently c_w on c (a) where id < 3;
select * from states;
insert into c values (31, 1, 'b31');
insert into c values (32, 77, 'b32') on conflict (a) do nothing;
alter table c add constraint c_by_u unique using index c_u;
alter table c add foreign key (a) references c (a);
alter table c replica identity using index c_b;
alter table c replica identity default;
reindex index c_u;
reindex index concurrently c_u;
reindex table concurrently c;
select * from states;
drop index concurrently c_v;
drop index c_u_ccnew;
delete from c where id > 10;
reindex index concurrently c_u;
reindex table concurrently c;
select * from states;
insert into c values (33, 1, 'b33');
drop index concurrently c_u_ccnew;
select * from states;
alter table c add constraint c_by_u unique using index c_u;
drop index concurrently c_by_u;
reindex index concurrently c_by_u;
reindex index concurrently c_pkey;
reindex (concurrently) table c;
reindex (concurrently, verbose off) index c_a;
select * from states;
insert into c values (34, 1, 'b34');
insert into c values (34, 40, 'b34');

-- An expression that fails.
create index concurrently c_fails on c ((1 / (a - 40)));
select * from states;
insert into c values (35, 41, 'b35');
insert into c values (36, 40, 'b36');
drop index concurrently if exists c_fails;
drop index concurrently if exists c_fails;
drop index concurrently c_fails;

-- Constraints and their indexes.
create table e (x int, during int4range, exclude using gist (during with &&));
reindex table concurrently e;
reindex index concurrently e_during_excl;
create table n (x int);
reindex table concurrently n;
create table d (x int unique deferrable initially deferred);
insert into d values (1), (2);
reindex table concurrently d;
begin;
insert into d values (1);
update d set x = x + 10 where x = 1;
commit;
drop index concurrently d_x_key;

-- Where it cannot be.
begin;
create index concurrently on c (a);
rollback;
begin;
drop index concurrently c_a;
rollback;
begin;
reindex table concurrently c;
rollback;
do $$ begin execute 'create index concurrently on c (a)'; end $$;
do $$ begin execute 'drop index concurrently c_a'; end $$;
do $$ begin execute 'reindex index concurrently c_a'; end $$;
create function builds() returns void language plpgsql as $$ begin create index concurrently on c (a); end $$;
select builds();
create table p (x int) partition by list (x);
create table p1 partition of p for values in (1);
create table p2 partition of p for values in (2);
create index concurrently on p (x);
create index p_x on p (x);
drop index concurrently p_x;
reindex table concurrently p;
reindex index concurrently p_x;
select indexrelid::regclass, indisvalid from pg_index where indrelid in ('p'::regclass, 'p1'::regclass, 'p2'::regclass) order by indexrelid::regclass::text;
create temporary table own (x int);
insert into own values (1);
create index concurrently own_x on own (x);
reindex table concurrently own;
drop index concurrently own_x;
create materialized view m as select a from c;
create index concurrently on m (a);
reindex table concurrently m;
create view v as select 1 as a;
create index concurrently on v (a);
reindex table concurrently v;
reindex index concurrently c;
reindex table concurrently nowhere;
reindex schema concurrently public;
select * from states;
