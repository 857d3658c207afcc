-- CREATE TABLE: columns, defaults, constraints as words of a column and of the table, and every way
-- of getting it wrong.
create table plain (a integer, b text, c boolean);
select * from plain;
create table plain (a integer);
create table if not exists plain (a integer, z text);
create table with_types (
  a smallint, b int, c bigint, d real, e double precision, f numeric, g numeric(8), h numeric(8,3),
  i text, j varchar, k varchar(20), l char, m char(7), n bytea, o date, p time, q time(3),
  r time with time zone, s timestamp, t timestamp(0), u timestamptz, v timestamp(2) with time zone,
  w interval, x interval(2), y uuid, z boolean, aa int[], ab text[][], ac varchar(3)[], ad name, ae "char", af oid, ag regclass);
select * from with_types;
insert into with_types (a, b, c, d, e, f, g, h) values (1, 2, 3, 4.5, 5.25, 6.125, 7.5, 8.0625);
insert into with_types (i, j, k, l, m, n) values ('i', 'j', 'k', 'l', 'm', '\x6e');
insert into with_types (o, p, q, r, s, t, u, v) values ('2024-02-29', '12:34:56.789', '12:34:56.7896', '12:34:56+02', '2024-02-29 12:34:56.5', '2024-02-29 12:34:56.5', '2024-02-29 12:34:56+02', '2024-02-29 12:34:56.789+00');
insert into with_types (w, x, y, z, aa, ab, ac) values ('1 year 2 days 03:04:05.678', '1.2345 seconds', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', true, '{1,2,null}', '{{a,b},{c,d}}', '{abc,de}');
insert into with_types (ad, ae, af, ag) values ('name', 'x', 1259, 'pg_class');
select * from with_types;
insert into with_types (k) values ('this is longer than twenty characters');
insert into with_types (k) values ('exactly twenty chars          ');
insert into with_types (l) values ('xy');
insert into with_types (g) values (123456789);
insert into with_types (h) values (99999.9995);
insert into with_types (a) values (32768);
insert into with_types (b) values (2147483648);
insert into with_types (c) values (9223372036854775808);
insert into with_types (ac) values ('{abcd}');
insert into with_types (z) values ('maybe');
insert into with_types (y) values ('not a uuid');
insert into with_types (o) values ('2024-02-30');
insert into with_types (nosuch) values (1);
insert into with_types (a, a) values (1, 2);
select count(*) from with_types;
create table bad_type (a nosuchtype);
create table bad_type (a nosuch.type);
create table bad_type (a varchar(0));
create table bad_type (a char(0));
create table bad_type (a varchar(10485761));
create table bad_type (a numeric(1001));
create table bad_type (a numeric(0));
create table bad_type (a int(4));
create table bad_type (a text(4));
-- differs: no notice
create table bad_type (a timestamp(7));
-- differs: another error
create table bad_type (a int, a text);
create table bad_type (a int, "A" text);
drop table bad_type;
create table no_columns ();
insert into no_columns default values;
select * from no_columns;
select count(*) from no_columns;
drop table no_columns;
create table defaults (a int default 5, b text default 'abc' || 'def', c timestamptz default now(), d int default null, e int default (1 + 2) * 3, f text default upper('x'), g int[] default '{1,2}', h boolean default false);
insert into defaults (a) values (1);
insert into defaults default values;
insert into defaults (a, b) values (default, default), (2, default), (default, 'given');
select a, b, c is not null, d, e, f, g, h from defaults;
create table bad_default (a int default 'abc');
create table bad_default (a int default b, b int);
create table bad_default (a int default (select 1));
create table bad_default (a int default count(*));
create table bad_default (a int default generate_series(1, 2));
create table bad_default (a int default row_number() over ());
create table bad_default (a int default 1 default 2);
create table bad_default (a int default true);
create table bad_default (a int, b int default a + 1);
create table not_nulls (a int not null, b text null, c int not null default 7);
insert into not_nulls (a) values (1);
insert into not_nulls (b) values ('x');
insert into not_nulls values (1, 'x', null);
update not_nulls set a = null;
update not_nulls set b = null;
select * from not_nulls;
create table bad_nulls (a int null not null);
create table bad_nulls (a int not null null);
create table bad_nulls (a int primary key null);
create table keys (a int primary key, b text unique, c int, d int, unique (c, d));
insert into keys values (1, 'a', 1, 1), (2, 'b', 1, 2);
insert into keys values (1, 'c', 2, 2);
insert into keys values (3, 'a', 2, 2);
insert into keys values (3, 'c', 1, 2);
insert into keys values (3, null, null, 1), (4, null, null, 1), (5, null, 1, null), (6, null, 1, null);
insert into keys values (null, 'x', 9, 9);
select * from keys order by a;
select conname, contype from pg_constraint where conrelid = 'keys'::regclass order by conname;
select indexrelid::regclass, indisunique, indisprimary from pg_index where indrelid = 'keys'::regclass order by indexrelid::regclass::text;
create table bad_keys (a int primary key, b int primary key);
create table bad_keys (a int, primary key (b));
create table bad_keys (a int, primary key (a, a));
create table bad_keys (a int, unique (a, a));
create table bad_keys (a int primary key, primary key (a));
create table named (a int constraint a_is_key primary key, b int constraint b_unique unique constraint b_positive check (b > 0), c int constraint c_there not null, constraint both_small check (a < 100 and b < 100));
insert into named values (1, 1, 1);
insert into named values (1, 2, 2);
insert into named values (2, 1, 2);
insert into named values (2, -1, 2);
insert into named values (2, 2, null);
insert into named values (200, 2, 2);
insert into named values (2, null, 2);
select * from named order by a;
create table named_twice (a int constraint x check (a > 0), b int constraint x check (b > 0));
create table named_like_index (a int, constraint plain unique (a));
create table checks (a int check (a > 0), b int check (b > a), check (a + b < 1000), check (true), c text check (length(c) <= 3));
insert into checks values (1, 2, 'abc');
insert into checks values (0, 2, 'abc');
insert into checks values (2, 2, 'abc');
insert into checks values (1, 1000, 'abc');
insert into checks values (1, 2, 'abcd');
insert into checks values (null, null, null);
update checks set b = 0 where a = 1;
update checks set b = null, c = 'xy' where a = 1;
select * from checks order by a;
select conname from pg_constraint where conrelid = 'checks'::regclass order by conname;
create table bad_check (a int check (b > 0));
create table bad_check (a int check (a));
-- differs: the error's position
create table bad_check (a int check (a + 1));
create table bad_check (a int check ((select true)));
create table bad_check (a int check (max(a) > 1));
create table bad_check (a int check (nosuch(a)));
create table "Quoted Name" ("Some Column" int, "select" text, "with ""quotes""" int);
insert into "Quoted Name" values (1, 'x', 2);
select * from "Quoted Name";
select "Some Column", "select", "with ""quotes""" from "Quoted Name" where "Some Column" = 1;
-- differs: the error's hint
select some_column from "Quoted Name";
select * from quoted name;
create table MixedCase (SomeColumn int);
select somecolumn from MIXEDCASE;
-- differs: the error's hint
select "SomeColumn" from mixedcase;
create table nosuchschema.t (a int);
create table public.qualified (a int);
select * from qualified;
select public.qualified.a from public.qualified;
select other.a from public.qualified;
create table pg_catalog.mine (a int);
-- differs: no notice
create table a_very_long_name_that_is_longer_than_sixty_three_characters_in_total_so (a int);
-- differs: no notice
select * from a_very_long_name_that_is_longer_than_sixty_three_characters_in_to;
create table generated (a int, b int generated always as (a * 2) stored, c text generated always as ('<' || a::text || '>') stored);
insert into generated values (1), (2), (null);
insert into generated (a, b) values (5, default);
insert into generated (a, b) values (5, 6);
update generated set a = a + 10;
update generated set b = 1;
update generated set b = default;
select * from generated;
-- differs: the error's position
create table bad_generated (a int generated always as (b) stored, b int generated always as (a) stored);
create table bad_generated (a int, b int generated always as (a + random()::int) stored);
create table bad_generated (a int, b int default 1 generated always as (a) stored);
create table bad_generated (a int, b timestamptz generated always as (now()) stored);
create table bad_generated (a int, b int generated always as (sum(a)) stored);
create table like_source (a int not null default 3, b text check (b <> ''), c int generated always as (a + 1) stored, primary key (a), unique (b));
create index on like_source (c);
comment on column like_source.b is 'a comment';
create table like_plain (like like_source);
create table like_defaults (like like_source including defaults, extra int);
create table like_all (like like_source including all);
create table like_some (first int, like like_source including constraints including generated excluding defaults);
create table like_nothing (like nosuch);
insert into like_plain values (1, '', 5);
insert into like_plain (b) values ('x');
-- differs: bug: it fails
insert into like_defaults (b) values ('');
-- differs: bug: it fails
insert into like_all (b) values ('x');
-- differs: another error
insert into like_all (b) values ('');
-- differs: another error
insert into like_all (a, b) values (4, 'x');
-- differs: the error's detail
insert into like_some (a, b) values (1, '');
insert into like_some (a, b) values (1, 'z');
select * from like_plain;
-- differs: bug: other rows
select * from like_defaults;
-- differs: bug: other rows
select * from like_all;
-- differs: bug: other rows
select * from like_some;
-- differs: bug: other rows
select conname, contype from pg_constraint where conrelid = 'like_all'::regclass order by 1;
-- differs: bug: other rows
select relname from pg_class where relname like 'like_all%' order by 1;
create temporary table temporary_one (a int);
insert into temporary_one values (1);
select * from temporary_one;
select * from pg_temp.temporary_one;
create temp table plain (a text);
insert into plain values ('hides the other');
select * from plain;
select * from public.plain;
drop table plain;
select * from plain;
-- differs: bug: PostgreSQL refuses it
create temp table public.wrong (a int);
create table pg_temp.right_one (a int);
select relpersistence from pg_class where relname = 'right_one';
create temp table kept (a int) on commit preserve rows;
create temp table emptied (a int) on commit delete rows;
insert into kept values (1);
insert into emptied values (1);
select (select count(*) from kept), (select count(*) from emptied);
begin;
insert into emptied values (1);
select count(*) from emptied;
commit;
select count(*) from emptied;
-- differs: bug: PostgreSQL refuses it
create table not_temporary (a int) on commit delete rows;
create unlogged table unlogged_one (a int);
insert into unlogged_one values (1);
select * from unlogged_one;
create table with_storage (a int) with (fillfactor = 70);
-- differs: bug: PostgreSQL refuses it
create table with_storage_2 (a int) with (fillfactor = 5);
-- differs: another error
create table with_storage_2 (a int) with (nosuch = 5);
-- differs: bug: it fails
create table with_storage_2 (a int) with (autovacuum_enabled = false);
create table in_space (a int) tablespace pg_default;
-- differs: refused: TABLESPACE
create table in_space_2 (a int) tablespace nosuch;
drop table plain, with_types, defaults, not_nulls, keys, named, checks;
drop table "Quoted Name", mixedcase, qualified, generated;
drop table nosuch;
drop table if exists nosuch, like_source, alsonot;
select * from like_source;
drop table like_plain cascade;
drop table like_defaults restrict;
