-- xmin, xmax, cmin, cmax and ctid: what clients rely on. Values that are the server's own are not
-- shown.
create table account (id int primary key, owner text, balance numeric(10, 2), note varchar(5));
insert into account values (1, 'ann', 10, null), (2, 'bob', 20.5, 'x'), (3, null, null, null);
create table bare (a int, b text);
insert into bare select g, 'b' || g % 3 from generate_series(1, 9) g;

-- Types, and what rows have.
select pg_typeof(xmin), pg_typeof(xmax), pg_typeof(cmin), pg_typeof(cmax), pg_typeof(ctid), pg_typeof(tableoid) from account where id = 1;
select id, ctid, xmax, cmin from account order by id;
select a, ctid from bare order by ctid;
select count(*) from account where xmin is null or xmin::text in ('0', '1', '2');
select tableoid::regclass, a.ctid from account a where a.id = 2;
select * from account where id = 1;
select account from account where id = 1;
select count(xmin), count(a.ctid) from account a;

-- xmin is the same while a row is, and another after an update.
create temp table seen as select id, xmin::text as version from account;
select s.id from seen s join account a on a.id = s.id and a.xmin::text = s.version order by 1;
update account set balance = balance + 1 where id = 1;
select s.id, a.xmin::text = s.version as same from seen s join account a on a.id = s.id order by 1;
update account set note = 'y' where id = 2 returning id, xmin::text = (select version from seen where seen.id = 2) as same;
update account set owner = 'cid' from seen s where s.id = account.id and account.id = 3 and account.xmin::text = s.version returning account.id;
update account set owner = 'dan' from seen s where s.id = account.id and account.id = 3 and account.xmin::text = s.version returning account.id;
update account set balance = 11.5 where id = 2 returning old.xmin::text = new.xmin::text as same, old.xmin is null, new.xmin is null;

-- What RETURNING says is what is read later.
create table versions (id int, version xid);
with w as (insert into account values (4, 'eve', 1.10, 'abc') returning id, xmin) insert into versions select * from w;
with w as (update account set balance = 2.2 where id = 1 returning id, xmin) insert into versions select * from w;
select v.id, v.version = a.xmin as same from versions v join account a using (id) order by 1;
prepare change(int, numeric, xid) as update account set balance = $2 where id = $1 and xmin = $3 returning id, balance;
do $$
declare
  v xid; --
  n int; --
begin
  select xmin into v from account where id = 4; --
  update account set balance = 7 where id = 4 and xmin = v; --
  get diagnostics n = row_count; --
  raise notice '% changed', n; --
  update account set balance = 8 where id = 4 and xmin = v; --
  get diagnostics n = row_count; --
  raise notice '% changed', n; --
  delete from account where id = 4 and xmin = v; --
  get diagnostics n = row_count; --
  raise notice '% deleted', n; --
end $$;
execute change(1, 5, (select xmin from account where id = 1));
deallocate change;
select xmin = 0, xmin <> '0'::xid, xmin::text::bigint > 2 from account where id = 1;
select xmin < xmin from account;

-- Inserted or updated.
insert into account values (5, 'fay', 1, null), (1, 'ann', 3, null) on conflict (id) do update set balance = excluded.balance returning id, (xmax = 0) as inserted;
insert into account values (6, 'gus', 1, null) on conflict do nothing returning id, xmax = 0 as inserted, xmax::text;
insert into account values (6, 'gus', 1, null) on conflict do nothing returning id, xmax = 0 as inserted;
select xmax from account where id = 6;
update account set note = 'z' where id = 6 returning xmax;
begin;
delete from account where id = 6 returning xmax = pg_current_xact_id()::xid as own, id;
rollback;

-- Rows by ctid.
-- differs: a row keeps its ctid when it is updated
select id from account where ctid = '(0,1)';
select a from bare where ctid = '(0,3)';
select a from bare where '(0,3)' = ctid and a > 3;
select a from bare where ctid = '(0,100)' or ctid = '(7,1)' or ctid = '(0,0)';
select a from bare where ctid in ('(0,2)', '(0,4)') order by a;
select a from bare where ctid = any (array['(0,2)', '(0,9)', '(1,1)', null]::tid[]) order by a;
select a from bare where ctid = any ('{"(0,5)","(0,6)"}') order by a;
select a from bare where ctid = any (array(select ctid from bare where b = 'b1' order by a limit 2)) order by a;
select a from bare where ctid = (select max(ctid) from bare);
select a from bare where ctid > '(0,2)' and ctid < '(0,5)' order by a;
select a from bare where ctid >= '(0,8)' order by a;
select a from bare where ctid <= '(0,0)';
select a from bare where '(0,2)' >= ctid order by a;
select a from bare where ctid between '(0,2)' and '(0,3)' order by a;
select count(*) from bare where ctid >= '(0,0)' and ctid < '(1,0)';
select count(*) from bare where ctid >= '(1,0)';
-- differs: a row keeps its ctid when it is updated
select count(*) from account where ctid < '(0,3)';
select min(ctid), max(ctid) from bare;
select (ctid::text::point)[0] as block from bare where a = 1;
select x.a from bare x join bare y on x.ctid = y.ctid where y.a = 4;
select x.a from bare x where exists (select from bare y where y.ctid = x.ctid and y.a < 3) order by 1;
select x.a, y.ctid from bare x left join bare y on y.a = x.a + 7 order by x.a;
select x.a, y.xmin is null, y.xmax, y.cmin from bare x left join bare y on y.a = x.a + 7 order by x.a;
select ctid, a from bare where a = 3 for update;
-- differs: a row keeps its ctid when it is updated
select id, ctid from account where ctid = '(0,2)' for update;
select a from bare order by ctid desc limit 2;

-- Deletion in batches, and of repeated rows.
delete from bare where ctid in (select ctid from bare where b = 'b0' limit 2);
select count(*) from bare where b = 'b0';
delete from bare where ctid = any (array(select ctid from bare where b = 'b0' limit 10)) returning a;
with batch as (select ctid from bare where b = 'b1' order by a limit 2 for update skip locked)
delete from bare using batch where bare.ctid = batch.ctid returning a;
insert into bare values (2, 'b2'), (2, 'b2'), (5, 'b2');
delete from bare x using bare y where x.ctid < y.ctid and x.a = y.a and x.b = y.b;
select a, b, count(*) from bare group by a, b order by a, b;
insert into bare values (2, 'b2'), (2, 'b2');
delete from bare where ctid not in (select min(ctid) from bare group by a, b);
select a, b from bare order by a, b;
delete from account where ctid in (select ctid from account where id > 3 order by id limit 2) returning id;
update account set note = 'c' where ctid = (select ctid from account where owner = 'ann') returning id, note;
insert into bare values (100, 'new') returning ctid is not null, tableoid::regclass;
merge into bare t using (values (100), (101)) s(a) on t.a = s.a when matched then delete when not matched then insert values (s.a, 'merged') returning merge_action(), t.a;
merge into bare t using (select ctid, a from bare) s on t.ctid = s.ctid and s.a = 101 when matched then update set b = 'by ctid' returning t.a, t.b;
truncate bare;
insert into bare values (1, 'again');
select a from bare where ctid = '(0,1)';

-- Partitions.
create table parted (id int, region text, v int, primary key (id, region)) partition by list (region);
create table parted_eu partition of parted for values in ('eu');
create table parted_us (v int, region text not null, id int not null);
alter table parted attach partition parted_us for values in ('us');
insert into parted values (1, 'eu', 1), (2, 'us', 2), (3, 'us', 3);
-- differs: rows of two partitions have different ctids
select count(*), count(distinct ctid), count(xmin) from parted;
select p.id, p.xmin = u.xmin as same from parted p join parted_us u using (id) order by 1;
select id from parted where ctid in (select ctid from parted where v > 1) and v > 1 order by 1;
delete from parted where ctid = any (array(select ctid from parted where v = 3)) and v = 3 returning id;
select id, tableoid::regclass from parted where (tableoid, ctid) in (select tableoid, ctid from parted where v = 1);
update parted set v = 20 where id = 2 and xmin = (select xmin from parted where id = 2) returning v;

-- Columns of users, and the system's.
create table refused (xmin int);
create table refused (a int, ctid tid);
alter table account add column cmax int;
alter table account rename column note to xmax;
alter table account drop column ctid;
alter table account alter column xmin set not null;
insert into account (id, xmin) values (9, '5');
update account set xmin = '5';
update account set ctid = '(0,1)' where id = 1;
update account set tableoid = 1;
create table refused (a int, check (xmin is not null));
create table refused (a int, check (ctid is not null));
create table refused (a int, b text generated always as (ctid::text) stored);
create table refused (a int default (xmin::text::int));
-- differs: the error
create index on account (xmin);
create index on account ((ctid::text));
create index on account (id) where xmax::text = '0';
select xmin from account a, bare b;
select ctid from account, bare;
select a.xmin is not null, b.ctid from account a, bare b where a.id = 1;
select xmin from (select 1 as x) s;
select s.xmin from (select xmin from account limit 1) s where false;
select xmin from generate_series(1, 2);
select account.xmin from account a;
-- differs: refused: system columns of a whole row
select (account).xmin from account;
select a.cmin, a.cmax from account a where id = 1;
select xmin from account union select '0'::xid where false order by 1;
select count(*) from account group by xmin, id having count(*) > 1;
select id from account order by xmin;
select xmin is null from pg_class where relname = 'account';
select xmax from pg_namespace where nspname = 'public';
copy account (xmin) to stdout;
select attname, attnum, format_type(atttypid, atttypmod), attnotnull, attlen, attislocal from pg_attribute where attrelid = 'account'::regclass and attnum < 0 order by attnum;
select count(*) from pg_attribute where attrelid = 'parted'::regclass and attnum < 0;
create table wide (like account);
select count(*) from pg_attribute where attrelid = 'wide'::regclass and attnum > 0;

-- The place of a row now, as the ODBC driver asks for it.
create table still (a int);
insert into still values (1);
select currtid2('still', '(0,1)');
select currtid2('public.still'::text, ctid) = ctid from still;
select currtid2('public.account'::text, ctid) = ctid from account where id = 1;
select currtid2('nowhere', '(0,1)');
select currtid2('parted', '(0,1)');
create view one as select 1 as a;
select currtid2('one', '(0,1)');
drop view one;

-- In views and functions.
create view shown as select id, xmin as version, ctid as place from account where xmax = 0;
select pg_get_viewdef('shown'::regclass);
create view joined as select a.id, b.ctid from account a join bare b on b.ctid = '(0,1)'::tid and a.xmin <> b.xmin;
-- differs: a ctid's alias is shown though it is the column's name
select pg_get_viewdef('joined'::regclass, true);
select s.id from shown s join account a on a.id = s.id and s.version = a.xmin where s.id < 3 order by 1;
select xmin from shown;
select shown.ctid from shown;
update shown set id = id where id = 1 returning xmin;
create function version_of(int) returns xid language sql as 'select xmin from account where id = $1';
select version_of(1) = xmin from account where id = 1;
create function place_of(int) returns tid language sql begin atomic select a.ctid from account a where a.id = $1; end;
-- differs: a row keeps its ctid when it is updated
select place_of(2);
-- differs: a body with a system column is shown as it was written
select pg_get_functiondef('place_of'::regproc);
create materialized view kept as select id from account;
select count(xmin), count(distinct ctid) from kept;
drop function place_of(int);
drop view shown, joined;

-- Rights.
create role system_reader;
grant select (id) on account to system_reader;
set role system_reader;
select id from account where id = 1;
select xmin from account where id = 1;
select ctid from account where id = 1;
select id from account where ctid = '(0,1)';
reset role;
grant select on account to system_reader;
set role system_reader;
select xmin is not null, ctid is not null from account where id = 1;
reset role;
drop owned by system_reader;
drop role system_reader;

create table unkeyed (a int) partition by list (a);
create table unkeyed_1 partition of unkeyed default;
insert into unkeyed values (1);
-- differs: refused: ctid of a partitioned table without a primary key
select ctid from unkeyed;
select ctid, xmin is not null, a from unkeyed_1;
