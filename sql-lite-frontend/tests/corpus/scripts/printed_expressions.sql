-- How stored expressions are shown: defaults, checks, columns of indexes.
create table d(
 a1 numeric(8,2) default 0, a2 numeric(8,2) default '0', a3 numeric default 1.5, a4 numeric default '1.5', a5 numeric default -1, a6 numeric default '-1.5', a7 numeric(10,2) default 1e3,
 b1 int default 0, b2 int default '0', b3 int default -1, b5 bigint default 0, b6 bigint default '5', b7 smallint default 3, b9 bigint default 5000000000,
 c1 text default 'x', c2 varchar(10) default 'x', c3 char(3) default 'x', c5 text default 'x'::text, c6 text default null,
 e1 timestamptz default now(), e2 timestamptz default current_timestamp, e3 timestamp default current_timestamp, e4 date default current_date, e5 time default current_time, e6 timestamp default localtimestamp, e7 timestamptz(3) default current_timestamp(3), e8 timestamp default now(), e9 date default now(), e10 timestamp default (now() at time zone 'utc'), e11 timestamp default timezone('utc', now()), e13 timestamp default '2020-01-01', e16 interval default '1 day', e18 time default localtime, e19 timestamp(0) default localtimestamp(0),
 f2 boolean default 'f', f3 boolean default (1=1), f4 boolean default (not true),
 g1 jsonb default '{}', g4 text[] default '{}', g5 text[] default array[]::text[], g7 int[] default array[1,2], g8 varchar(5)[] default '{}', g9 char(2)[] default array[]::char(2)[],
 h1 uuid default gen_random_uuid(), h3 bytea default '\x01', h6 float8 default 1, h7 float8 default 1.5, h8 float4 default '1.5',
 i1 text default current_user, i2 text default session_user, i4 text default current_schema, i6 text default current_catalog, i7 text default lower('X') || 'y',
 i11 text default case when true then 'a' else 'b' end, i12 text default coalesce(null, 'x'), i15 text default substring('abc' from 2 for 1), i16 float8 default extract(epoch from now()), i17 int default nullif(1,2), i19 text default upper(trim('  x ')), i24 text default position('a' in 'ba'), i25 text default overlay('abc' placing 'x' from 2), i31 text default trim(both 'x' from 'xax'), i34 bool default (1 in (1,2)), i40 int default (array[1,2])[1], i46 text default 'it''s', i47 text default E'a\\b');
select column_name, column_default from information_schema.columns where table_name = 'd' order by ordinal_position;
insert into d default values returning a2, c3, g5, g9, i11, i15, i19, i24, i25, i31, i34, i40, i47;
create table ck(a int, b text, c numeric, d timestamptz, e varchar(5), f int[],
 check (a between 1 and 5), check (a not between 1 and 5), check (a not between symmetric 5 and 1), check (coalesce(a, 0) + 1 > a), check (case a when 1 then true else false end), check (case when a > 1 then b else case when b = 'y' then 'x' end end = 'x'), check (case 1 when 1 then true else false end), check (b is distinct from 'x'), check (b is not distinct from e), check (position('@' in b) > 1), check (d at time zone 'utc' > '2020-01-01'), check (extract(year from d) > 2000), check (date_part('year', d) > 1), check (f[1] > 0), check (substring(b from 2) <> ''), check (substring(b, 2, 3) <> ''), check (trim(leading from b) = b), check ((d, d) overlaps (d, interval '1 day')));
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'ck'::regclass order by length(conname), conname;
create index i1 on ck (lower(b)); 
create index i2 on ck ((a+1));
create index i3 on ck (coalesce(a,0), (c::int));
create index i4 on ck ((d at time zone 'utc'));
create index i5 on ck ((extract(year from d at time zone 'utc'))) where case when a > 1 then true else b = 'x' end;
create index i6 on ck ((case when a > 1 then 1 else 2 end), nullif(a, 1), greatest(a, 2));
select indexname, indexdef from pg_indexes where tablename = 'ck' order by 1;
select x from generate_series(1, 6) x where x not between symmetric 4 and 2 order by x;
-- differs: EXPLAIN: our plans
explain (costs off) select * from ck where d at time zone 'utc' = timestamp '2020-01-01' and b is not distinct from 'x';
-- differs: EXPLAIN: our plans
explain (costs off) select * from ck where timezone('utc', d) = timestamp '2020-01-01';
