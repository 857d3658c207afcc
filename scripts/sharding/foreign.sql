-- What scripts/foreign-tables asks of a PostgreSQL 15 whose foreign tables lie on three servers.
-- \on WHERE: who gets what follows: coordinator, 0, 1, 2 (a shard itself) or all (each shard)
-- \session NAME: another connection to whoever that is; \sees PATTERN and \not PATTERN: what the next
-- answer must have, or not; \loose: of the next answer only success or SQLSTATE is compared.

## tables of the shards
\on all
create table orders (w int, id int, customer int not null, amount numeric(12,2) default 10.5,
  placed timestamptz default '2026-01-01 00:00:00+00', note text, primary key (w, id));
create index on orders (customer);
create table kinds (id int primary key, small int2, big int8, r real, d double precision, n numeric, b bool,
  t text, v varchar(20), c char(5), day date, hour time, at timestamp, atz timestamptz, i interval, u uuid,
  raw bytea, j jsonb, js json, ints int[], texts text[], o oid, net inet, bits bit(4), m macaddr, nr int4range);
create table customers (id int primary key, name text not null, region int, check (region >= 0));
create table doubled (k int primary key, twice int generated always as (k * 2) stored);
create table lines (w int, id int, line int, item int, quantity int, primary key (w, id, line));
create view isolation as select current_setting('transaction_isolation') as level;
create view who as select application_name, current_setting('search_path') as path,
  current_setting('datestyle') as dates, current_setting('intervalstyle') as intervals,
  current_setting('extra_float_digits') as digits, current_setting('timezone') as zone
  from pg_stat_activity where pid = pg_backend_pid();
create schema more;
create table more.one (a int, b text collate "C", c int not null default 7);
create table more.two (a int primary key, b timestamptz default now());
create view more.three as select a, b from more.one;
create materialized view more.four as select 1 as x;
create table counted (n serial primary key, t text);
create table noted (t text);
create function note_row() returns trigger language plpgsql as
  $$ begin insert into noted values (tg_op || ' ' || coalesce(new.k, old.k)); return coalesce(new, old); end $$;
create table watched (k int primary key, v text);
create trigger watch before insert or update or delete on watched for each row execute function note_row();

## foreign tables by hand
\on coordinator
create table orders (w int, id int, customer int not null, amount numeric(12,2), placed timestamptz, note text)
  partition by hash (w);
create foreign table orders_0 partition of orders for values with (modulus 3, remainder 0) server shard_0 options (table_name 'orders');
create foreign table orders_1 partition of orders for values with (modulus 3, remainder 1) server shard_1 options (table_name 'orders');
create foreign table orders_2 partition of orders for values with (modulus 3, remainder 2) server shard_2 options (table_name 'orders');
create table lines (w int, id int, line int, item int, quantity int) partition by hash (w);
create foreign table lines_0 partition of lines for values with (modulus 3, remainder 0) server shard_0 options (table_name 'lines');
create foreign table lines_1 partition of lines for values with (modulus 3, remainder 1) server shard_1 options (table_name 'lines');
create foreign table lines_2 partition of lines for values with (modulus 3, remainder 2) server shard_2 options (table_name 'lines');
create table customers (id int, name text not null, region int) partition by range (id);
create foreign table customers_0 partition of customers for values from (0) to (1000) server shard_0 options (table_name 'customers');
create foreign table customers_1 partition of customers for values from (1000) to (2000) server shard_1 options (table_name 'customers');
create foreign table customers_2 partition of customers for values from (2000) to (maxvalue) server shard_2 options (table_name 'customers');
create foreign table kinds (id int, small int2, big int8, r real, d double precision, n numeric, b bool,
  t text, v varchar(20), c char(5), day date, hour time, at timestamp, atz timestamptz, i interval, u uuid,
  raw bytea, j jsonb, js json, ints int[], texts text[], o oid, net inet, bits bit(4), m macaddr, nr int4range) server shard_1;
create foreign table isolation (level text) server shard_0;
create foreign table who (application_name text, path text, dates text, intervals text, digits text, zone text) server shard_0;
create foreign table doubled (k int, twice int generated always as (k * 2) stored) server shard_2;
create foreign table counted (t text) server shard_0;
create foreign table watched (k int, v text) server shard_0;
create foreign table noted (t text) server shard_0;
create table local_regions (region int primary key, label text);
insert into local_regions select g, 'region ' || g from generate_series(0, 9) g;

## rows through partitions
insert into orders select g % 30, g, g % 2500, g * 1.25, timestamptz '2026-01-01 00:00+00' + g * interval '1 hour',
  case when g % 7 = 0 then null else 'note ' || g end from generate_series(1, 3000) g;
insert into lines select g % 30, g, l, (g * l) % 100, l from generate_series(1, 3000) g, generate_series(1, 2) l;
insert into customers select g, 'customer ' || g, g % 10 from generate_series(0, 2499) g;
insert into orders values (1, 100000, 5, 1.00, now(), 'one'), (2, 100000, 6, 2.00, null, 'two') returning w, id, amount;
insert into orders (w, id, customer) values (3, 100001, 1) returning *;
insert into orders values (1, 1, 5, 1.00, null, 'there already');
insert into orders values (1, 31, 5, 1.00, null, 'there already') on conflict do nothing;
insert into orders_0 values (6, 31, 5, 1.00, null, 'x') on conflict do nothing;
select tableoid::regclass, count(*), sum(amount), min(id), max(id) from orders group by 1 order by 1;
insert into customers values (5000, 'bad', -1);
insert into customers values (5000, null, 1);
insert into customers values (-5, 'nowhere', 1);
insert into doubled values (1), (2), (3) returning *;
update doubled set k = 10 where k = 3 returning *;
select * from doubled order by k;
insert into counted values ('a'), ('b') returning *;
insert into watched select g, 'v' || g from generate_series(1, 5) g;
update watched set v = v || '!' where k < 3 returning *;
delete from watched where k = 5;
select * from noted order by t;

## values of every type
insert into kinds (id, v) values (9, 'longer than twenty characters');
insert into kinds (id, i) values (9, '178000001 years 1 mons');
insert into kinds values
  (1, -32768, 9223372036854775807, 1.1, 0.1, 12345678901234567890.123456789, true, 'text é "q" \ ''', 'v', 'c', '2026-02-28', '23:59:59.999999',
   '1999-12-31 23:59:59.5', '2026-06-01 12:00:00+02', '1 year 2 mons -3 days 04:05:06.7', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
   '\x00ff10', '{"a": [1, 2.50, null]}', '{"z":1, "a":2}', '{1,NULL,3}', '{"a,b",NULL,"q\"uote"}', 4294967295, '10.0.0.0/8', B'1010', '08:00:2b:01:02:03', '[1,10)'),
  (2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
  (3, 0, 0, 'NaN', 'Infinity', 'NaN', false, '', '', '', 'infinity', '00:00', '-infinity', 'infinity', '-1 sec', '00000000-0000-0000-0000-000000000000',
   '', 'null', '[]', '{}', '{{a,b},{c,d}}', 0, '::1', B'0000', '00:00:00:00:00:00', 'empty'),
  (4, 7, -7, 3.4e38, 1e-300, -0.001, true, E'line\nline\ttab', 'twenty characters', 'abcde', '4713-01-01 BC', '12:00', '294276-12-31 23:59:59', '0044-03-15 00:00:00 BC', '17800000 years', null,
   '\xdeadbeef', '"s"', '{}', '{2147483647}', '{}', 1, '192.168.1.1', B'1111', null, '(,5]');
select * from kinds order by id;
select id from kinds where small = -32768 and big = 9223372036854775807 and d = 0.1 and n > 1e19;
select id from kinds where r = 1.1::real;
select id from kinds where d = 'Infinity' or n = 'NaN' or at = '-infinity';
select id from kinds where t = 'text é "q" \ ''' or t = E'line\nline\ttab' order by id;
select id from kinds where v = 'v' and c = 'c';
select id from kinds where day = '2026-02-28' and hour > '23:00' and at < '2000-01-01' and atz = '2026-06-01 10:00:00+00';
select id from kinds where i = '1 year 2 mons -3 days 04:05:06.7' and u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' and raw = '\x00ff10';
select id from kinds where j @> '{"a": [1]}' and ints[3] = 3 and 1 = any (ints) and texts[1] = 'a,b';
select id from kinds where id = any (array[1, 3, 9]) order by id;
select id from kinds where id in (select generate_series(2, 3)) order by id;
select id from kinds where o = 4294967295 and net = '10.0.0.0/8' and bits = B'1010' and m = '08:00:2b:01:02:03' and nr @> 5;
select id from kinds where b is true and t is not null and v is distinct from 'v';
select id from kinds where t like 'te%' or t ~ 'tab$' or upper(v) = 'TWENTY CHARACTERS' order by id;
select id from kinds where coalesce(small, 5) = 5 or nullif(id, 3) is null order by id;
select id, case when id > 2 then 'large' else 'small' end from kinds where case when id > 2 then true else false end order by id;
select id, d * 2, n / 3, t || '!', day + 1, at + interval '1 day' from kinds where small is not null order by id;
update kinds set n = n * 2, t = 'now ' || id, ints = ints || 4, j = j || '{"b": 1}' where id = 1 returning n, t, ints, j;
update kinds set (small, big) = (1, 2), c = null, at = default where id = 4 returning small, big, c, at;
delete from kinds where id = 3 returning *;
set timezone = 'America/New_York';
set datestyle = 'SQL, DMY';
select day, at, atz, i from kinds order by id;
select id from kinds where atz > '01/05/2026 00:00 UTC' and day < '01/03/2026';
reset timezone;
reset datestyle;

## what is remote, and how
\sees Remote SQL: SELECT .* WHERE \(\(customer = 5\)\)
explain (verbose, costs off) select id from orders where customer = 5;
\sees repeatable read
select * from isolation;
begin isolation level serializable;
\sees serializable
select * from isolation;
commit;
begin read only;
\sees repeatable read
select * from isolation;
commit;
\sees pg_catalog.*ISO.*postgres.*3.*GMT
select * from who;
set postgres_fdw.application_name = 'shop %a %u';
select postgres_fdw_disconnect_all();
set application_name = 'front';
\sees shop front postgres
select application_name from who;
reset postgres_fdw.application_name;
reset application_name;

## push-down of joins, aggregates, sorts, limits
analyze orders_0, orders_1, orders_2, lines_0, lines_1, lines_2, customers_0, customers_1, customers_2;
set enable_partitionwise_join = on;
set enable_partitionwise_aggregate = on;
set enable_hashjoin = off;
set enable_mergejoin = off;
set enable_nestloop = off;
\sees Remote SQL: SELECT .*INNER JOIN
explain (verbose, costs off) select o.id, l.item, c.name from orders_0 o join lines_0 l using (w, id) left join customers_0 c on c.id = o.customer where l.quantity = 2;
select o.id, l.item, c.name from orders_0 o join lines_0 l using (w, id) left join customers_0 c on c.id = o.customer where l.quantity = 2 and o.id < 50;
\sees Append(.|\n)*Remote SQL: SELECT .*INNER JOIN
explain (verbose, costs off) select o.w, o.id, l.item from orders o join lines l using (w, id) where l.quantity = 2;
select o.id, sum(l.quantity) from orders o join lines l using (w, id) where o.w = 4 group by o.id order by o.id limit 10;
select o.w, count(*), sum(l.quantity * o.amount) from orders o join lines l using (w, id) group by o.w order by o.w;
\sees Remote SQL: SELECT .*(count|sum)\(.*GROUP BY
explain (verbose, costs off) select w, count(*), sum(amount), avg(customer), min(placed), max(note) from orders group by w;
select w, count(*), sum(amount), avg(customer), min(placed), max(note), bool_and(id > 0), stddev(id)::numeric(20,6) from orders group by w order by w;
select w, count(*) filter (where note is null), count(distinct customer), string_agg(note, ',' order by id desc) filter (where id < 40) from orders_1 group by w order by w;
select w, count(*) from orders_0 group by w having count(*) > 5 and sum(amount) > 1000 order by w;
select customer % 10 as c, sum(amount) from orders_2 group by customer % 10 order by c;
select variance(amount), corr(id, customer)::numeric(12,8), array_agg(id order by id) filter (where id < 100) from orders_0;
select percentile_cont(0.5) within group (order by amount) from orders_0;
\sees Remote SQL: SELECT .*ORDER BY.*LIMIT
explain (verbose, costs off) select id, note from orders_0 where customer < 500 order by id limit 5;
select id, note from orders_0 where customer < 500 order by id limit 5;
select id, note from orders_0 order by note desc nulls last, id limit 5 offset 3;
select id, note from orders_0 order by note nulls first, id desc limit 5;
select id, note from orders order by amount desc, id limit 7;
select distinct w from orders_1 order by w;
select o.id, c.name from orders_0 o left join customers_0 c on c.id = o.customer where o.id < 60 order by o.id;
select o.id, c.name from orders_0 o right join customers_0 c on c.id = o.customer and o.id < 60 where c.id < 20 order by c.id, o.id;
select o.id, l.line, c.name from orders_0 o full join lines_0 l on o.id = l.id and o.w = l.w and o.id < 50 full join customers_0 c on c.id = o.customer where coalesce(o.id, 0) < 50 and coalesce(l.id, 0) < 50 and coalesce(c.id, 0) < 10 order by 1, 2, 3;
reset enable_hashjoin;
reset enable_mergejoin;
reset enable_nestloop;
select o.id, sum(l.quantity) from orders o join lines l using (w, id) where o.w = 4 group by o.id order by o.id limit 10;
select o.id from orders_0 o where exists (select 1 from lines_0 l where l.w = o.w and l.id = o.id and l.quantity = 2) and o.id < 60 order by 1;
select o.id from orders_0 o where not exists (select 1 from customers_0 c where c.id = o.customer) and o.id < 2000 order by 1 limit 5;
select o.id, x.item from orders_0 o cross join lateral (select item from lines_0 l where l.w = o.w and l.id = o.id order by line desc limit 1) x where o.id < 60 order by 1;
select r.label, count(*) from customers c join local_regions r using (region) group by r.label order by 1;
select count(*) from orders o, customers c, local_regions r where o.customer = c.id and c.region = r.region and r.label like '%3';
select a.id, b.id from orders_0 a join orders_0 b on a.id = b.id + 30 where a.id < 120 order by 1, 2;
select o::text, c::text from orders_0 o join customers_0 c on c.id = o.customer where o.id < 60 order by o.id;
select o.* from orders_0 o join customers_0 c on c.id = o.customer where o.id < 60 order by o.id for update of o;
select id from orders where id < 20 order by id for share;
select id from orders_0 where id < 60 order by id for update nowait;
select w, id, sum(amount) over (partition by w order by id) from orders where id < 100 order by w, id;
with big as (select w, sum(amount) s from orders group by w) select * from big where s > 100 order by w;
select count(*) from orders union all select count(*) from lines union all select count(*) from customers;
select w, count(*) from orders where placed > '2026-02-01' and placed < now() + interval '100 years' group by w order by w;
reset enable_partitionwise_join;
reset enable_partitionwise_aggregate;

## asynchronous append
\sees Async Foreign Scan
explain (verbose, costs off) select count(*) from orders where amount > 100;
select count(*), sum(id) from orders where amount > 100;
select id from orders where customer between 10 and 20 order by id;
select t.id from (select id from orders where note like '%9' union all select id from lines where quantity = 2 and id < 50) t order by 1 limit 20;
select count(*) from orders o where exists (select 1 from orders p where p.w = o.w and p.id = o.id + 30);
select * from orders limit 0;
select count(*) from (select * from orders limit 100) t;

## cursors
begin;
declare c cursor for select id from orders where id < 100 order by id;
fetch 5 from c;
fetch 3 from c;
move 10 in c;
fetch 2 from c;
close c;
declare s scroll cursor for select id from orders_1 order by id;
fetch 3 from s;
fetch backward 2 from s;
fetch first from s;
fetch last from s;
declare u cursor for select id from orders_1 where id < 70 order by id for update;
fetch 2 from u;
update orders_1 set note = 'by cursor' where current of u;
rollback;
alter server shard_0 options (add fetch_size '7');
select count(*), sum(id) from (select * from orders_0 order by id offset 3) t;
select o.id, (select count(*) from lines_0 l where l.id = o.id and l.w = o.w) from orders_0 o where o.id < 100 order by 1;
alter server shard_0 options (drop fetch_size);
begin;
declare h cursor with hold for select id from orders where id < 10 order by id;
commit;
fetch 20 from h;
close h;

## prepared statements
prepare by_id(int, int) as select w, id, note from orders where w = $1 and id = $2;
execute by_id(5, 35);
execute by_id(6, 36);
execute by_id(7, 37);
execute by_id(8, 38);
execute by_id(9, 39);
execute by_id(10, 40);
set plan_cache_mode = force_generic_plan;
\sees Remote SQL: .*\$1
explain (verbose, costs off) execute by_id(10, 40);
execute by_id(11, 41);
execute by_id(null, 41);
prepare change(int, text) as update orders set note = $2 where id = $1 returning w, id, note;
execute change(41, 'changed');
execute change(42, null);
prepare kind(int[], text, timestamptz, numeric) as select id from kinds where id = any ($1) and (t <> $2 or t is null) and (atz < $3 or atz is null) and (n > $4 or n is null) order by id;
execute kind('{1,2,4}', 'x', '2030-01-01', -100);
prepare fill(int, int) as insert into orders select $1, g, g, g, now(), 'filled' from generate_series($2, $2 + 3) g;
execute fill(12, 200000);
execute fill(12, 200010);
reset plan_cache_mode;
deallocate all;

## changes made by the shard alone
\sees Remote SQL: UPDATE public.orders SET
explain (verbose, costs off) update orders_1 set note = 'direct' where customer = 7;
update orders_1 set note = 'direct', amount = amount + 1 where customer = 7 returning id, note, amount;
\sees Remote SQL: DELETE FROM public.orders WHERE
explain (verbose, costs off) delete from orders where id > 200000;
delete from orders where id >= 200000;
update orders set amount = amount * 1.1 where w = 4;
update orders set note = 'joined' from customers_0 c where c.id = orders.customer and c.name = 'customer 11' and orders.id < 100;
update orders_0 o set note = c.name from customers_0 c where c.id = o.customer and o.id < 60 returning o.id, o.note, c.region;
\sees Remote SQL: UPDATE public.orders r1 SET .* FROM
explain (verbose, costs off) update orders_0 o set note = c.name from customers_0 c where c.id = o.customer and o.id < 60;
set enable_hashjoin = off;
set enable_mergejoin = off;
set enable_nestloop = off;
\sees Remote SQL: DELETE FROM public.lines r1 USING
explain (verbose, costs off) delete from lines_0 l using orders_0 o where o.w = l.w and o.id = l.id and o.id < 40;
delete from lines_0 l using orders_0 o where o.w = l.w and o.id = l.id and o.id < 40 returning l.w, l.id, l.line;
reset enable_hashjoin;
reset enable_mergejoin;
reset enable_nestloop;
delete from lines_0 l using orders_0 o where o.w = l.w and o.id = l.id and o.id between 40 and 60 returning l.w, l.id, l.line;
update orders_0 o set note = 'left' from customers_0 c left join lines_0 l on l.item = c.id where c.id = o.customer and o.id < 60 returning o.id, c.id;
-- Not by the shard alone: what is asked cannot be sent.
\sees Remote SQL: UPDATE public.orders SET note = \$2 WHERE ctid = \$1
explain (verbose, costs off) update orders_1 set note = note || random()::int where customer = 8;
update orders_1 set note = 'by ctid ' || (random() * 0)::int where customer = 8 returning id, note;
delete from orders_1 where customer = 9 and random() >= 0 returning id;
update orders set note = 'moved there' from local_regions r where r.region = orders.customer and r.label = 'region 3' returning orders.id, orders.note;
delete from lines using local_regions r where r.region = lines.item and r.region = 9 and lines.id < 100 returning lines.id, lines.line;
update orders set w = 2, id = 300000 + id where id = 61 returning tableoid::regclass, w, id;
update orders set w = 3, id = 300000 + id where id between 62 and 64 returning w, id;
update orders_1 set w = 2 where id = 301 and w = 1;
select count(*), sum(amount), count(note), sum(length(note)) from orders;
select count(*) from lines;
update customers set region = -1 where id = 5;
update orders set id = 31 where id = 91 and w = 1;
update customers set region = region + 1 where id % 100 = 0;
delete from customers where id = 2499 returning *;
merge into local_regions r using (select region, count(*) n from customers group by region) c on r.region = c.region when matched then update set label = 'has ' || n when not matched then insert values (c.region, 'new ' || n);
select * from local_regions order by region;

## rows in batches
alter server shard_0 options (add batch_size '50');
alter server shard_1 options (add batch_size '1000');
\sees Batch Size: 50
explain (verbose, costs off) insert into orders_0 select 6, g, 1, 1, now(), 'b' from generate_series(400000, 400100) g;
insert into orders select g % 30, g, g % 100, g, timestamptz '2026-03-01 00:00+00', repeat('x', g % 50) from generate_series(400000, 402345) g;
select count(*), sum(length(note)) from orders where id >= 400000;
insert into orders select g % 30, g, g % 100, g, null, 'again' from generate_series(402300, 402400) g;
select count(*) from orders where id > 402345;
insert into orders select g % 30, g, g % 100, g, null, 'again' from generate_series(402400, 402450) g returning id, w;
alter server shard_0 options (drop batch_size);
alter server shard_1 options (drop batch_size);

## COPY into partitions and out of them
copy orders (w, id, customer, amount, note) from stdin;
1	500001	1	1.5	copied
2	500002	2	2.5	\N
3	500003	3	3.5	with\ttab
4	500004	4	\N	é
\.
copy orders_0 (w, id, customer) from stdin (format csv);
6,500005,1
6,500006,2
\.
copy orders (w, id, customer) from stdin;
1	500001	1
\.
copy customers from stdin;
700000	late	-4
\.
copy (select w, id, customer, amount, note from orders where id > 500000 order by id) to stdout;
copy orders to stdout;

## savepoints
begin;
insert into orders values (1, 600001, 1, 1, null, 'kept');
savepoint a;
insert into orders values (2, 600002, 1, 1, null, 'taken back'), (3, 600003, 1, 1, null, 'taken back');
rollback to a;
savepoint b;
insert into orders values (2, 600004, 1, 1, null, 'kept too');
insert into orders values (1, 600001, 1, 1, null, 'there already');
rollback to b;
insert into orders values (4, 600005, 1, 1, null, 'kept three');
release a;
savepoint c;
savepoint d;
update orders set note = 'deep' where id = 600001;
release c;
select id, note from orders where id > 600000 order by id;
commit;
select id, note from orders where id > 600000 order by id;
do $$ begin for i in 1..20 loop begin
  insert into orders values (i, 610000 + i, 1, 1, null, 'loop'); if i % 3 = 0 then raise exception 'no'; end if;
  exception when raise_exception then null; end; end loop; end $$;
select count(*), sum(id) from orders where id > 610000;
begin;
delete from orders where id > 610000;
select count(*) from orders where id > 610000;
rollback;
select count(*) from orders where id > 610000;
begin;
select 1 / (id - 600001) from orders where id = 600001;
select 1;
rollback;
begin;
update orders set note = 'prepared' where id = 600001;
prepare transaction 'not over foreign tables';
rollback;

## commits in parallel
alter server shard_0 options (add parallel_commit 'true');
alter server shard_1 options (add parallel_commit 'true');
alter server shard_2 options (add parallel_commit 'true');
begin;
update orders set note = 'parallel' where id between 100 and 200;
savepoint a;
update orders set note = 'twice' where id between 150 and 160;
release a;
savepoint b;
delete from orders where id between 100 and 110;
rollback to b;
commit;
select note, count(*), sum(id) from orders where id between 100 and 200 group by note order by note;
begin;
prepare p(int) as update orders set note = 'p' where w = $1 and id < 40;
execute p(1);
execute p(2);
execute p(3);
commit;
select count(*) from orders where note = 'p';
deallocate all;

## two sessions
-- A snapshot of each shard, taken when the transaction first asks it.
begin;
select count(*) from orders where id > 700000;
\session other
insert into orders values (1, 700001, 1, 1, null, 'between'), (2, 700002, 1, 1, null, 'between');
\session main
\sees row 0
select count(*) from orders where id > 700000;
rollback;
\sees row 2
select count(*) from orders where id > 700000;
begin;
select note from orders where id = 65;
\session other
update orders set note = 'theirs' where id = 65;
\session main
\sees row note 65|row null
select note from orders where id = 65;
\sees 40001
update orders set note = 'mine' where id = 65;
rollback;
\sees row theirs
select note from orders where id = 65;
begin;
select note from orders where id = 65 for update;
\session other
\sees row theirs
select note from orders where id = 65;
\session main
delete from orders where id = 65;
\session other
select count(*) from orders where id = 65;
\session main
rollback;

## estimates of the shard
alter server shard_0 options (add use_remote_estimate 'true');
alter server shard_1 options (add use_remote_estimate 'true');
\loose
explain select * from orders where customer = 5;
\loose
explain select o.id from orders_0 o join customers_0 c on c.id = o.customer where c.region = 3 order by o.id limit 5;
\loose
explain select w, count(*) from orders_0 where id > 5 group by w having count(*) > 3 order by w;
\loose
explain update orders_0 set note = 'x' where customer = 4;
select o.id from orders_0 o join customers_0 c on c.id = o.customer where c.region = 3 order by o.id limit 5;
select r.label, count(*) from customers c join local_regions r using (region) where r.label like '%5%' group by r.label order by 1;
select o.w, o.id, c.name from orders o join customers c on c.id = o.customer where c.id in (3, 1003, 2003) order by o.id;
select l.item, count(*) from orders_1 o join lines_1 l using (w, id) where o.customer < 100 group by l.item order by 2 desc, 1 limit 5;
select x.id, o.note from (values (35), (36), (37)) x(id) left join orders o on o.id = x.id and o.w = x.id % 30 order by 1;
alter server shard_0 options (drop use_remote_estimate);
alter server shard_1 options (drop use_remote_estimate);

## ANALYZE and sizes
analyze orders;
analyze kinds;
analyze doubled (k);
\loose
analyze verbose customers;
select relname, reltuples, relpages > 0 as has_pages from pg_class where relkind = 'f' and relname ~ '^(orders|customers|lines)_' order by 1;
select tablename, attname, null_frac::numeric(6,4), n_distinct, correlation is not null from pg_stats where tablename ~ '^(orders|lines|customers)_' order by 1, 2;
vacuum orders_0;
\on 0
\sees true|t
select pg_relation_size('orders') > 0, pg_relation_size('public.orders'::regclass) / 8192 > 0, pg_table_size('orders') > 0, pg_total_relation_size('orders') >= pg_table_size('orders');

## TRUNCATE
\on coordinator
truncate lines_1;
select count(*) from lines;
truncate lines, doubled;
select count(*) from lines union all select count(*) from doubled;
begin;
truncate customers;
select count(*) from customers;
rollback;
select count(*) from customers;
truncate counted restart identity;
insert into counted values ('after') returning *;
\on 0
select n, t from counted;
\on coordinator
truncate watched cascade;
alter foreign table noted options (add truncatable 'false');
truncate noted;
alter foreign table noted options (add updatable 'false');
insert into noted values ('x');

## IMPORT FOREIGN SCHEMA
create schema imported;
import foreign schema public from server shard_1 into imported;
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attfdwoptions, a.attgenerated, collname
  from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_collation l on l.oid = a.attcollation
  where c.relnamespace = 'imported'::regnamespace and a.attnum > 0 order by c.relname, a.attnum;
select count(*) from imported.orders;
select * from imported.kinds order by id;
create schema imported_more;
import foreign schema more limit to (one, three, "none") from server shard_2 into imported_more options (import_default 'true', import_not_null 'false');
import foreign schema more except (one, three) from server shard_2 into imported_more options (import_collate 'false', import_generated 'false');
select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
  from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'imported_more'::regnamespace and a.attnum > 0 order by c.relname, a.attnum;
insert into imported_more.one (a) values (1) returning *;
select * from imported_more.three;
select * from imported_more.four;
import foreign schema nowhere from server shard_2 into imported_more;

## errors of a shard
select * from imported.isolation where level::int = 1;
select 1 / (id - id) from orders_0 where id < 100;
select id from orders_0 where 1 / (id - 36) > 0;
select id from kinds where t::int = 1;
create foreign table missing (a int) server shard_0;
select * from missing;
create foreign table less (a int) server shard_0 options (table_name 'orders');
select * from less;
create foreign table wrong (t date) server shard_0 options (table_name 'counted');
select * from wrong;
select count(*) from wrong;
set statement_timeout = '300ms';
create foreign table slow (x text) server shard_0;
\on 0
create view slow as select pg_sleep(5)::text as x;
\on coordinator
select * from slow;
reset statement_timeout;
select count(*) from orders_0 where id = 36;
select * from postgres_fdw_get_connections() order by 1;
select postgres_fdw_disconnect('shard_0');

## what is left
select tableoid::regclass, count(*), sum(amount), sum(id), count(note), sum(length(note)) from orders group by 1 order by 1;
select count(*), sum(region) from customers;
