-- What format_type() says of a column makes the same column again, as pg_dump relies on.
create table original (a "bit", b "bit"[], c bpchar, d bpchar[], e bit, f char, g varchar, h varbit, i numeric, j interval, k time(2), l bit(3)[], m char(2)[], n "char", o "char"[], p interval day to second(2), q numeric(4,-1));
select attname, format_type(atttypid, atttypmod), format_type(atttypid, null), format_type(atttypid, -1), format_type(atttypid, -7) from pg_attribute where attrelid = 'original'::regclass and attnum > 0 order by attnum;
do $$ begin execute (select format('create table copied (%s)', string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum)) from pg_attribute where attrelid = 'original'::regclass and attnum > 0); end $$;
select o.attname from pg_attribute o full join pg_attribute c on c.attrelid = 'copied'::regclass and c.attname = o.attname where o.attrelid = 'original'::regclass and o.attnum > 0 and (o.atttypid, o.atttypmod) is distinct from (c.atttypid, c.atttypmod);
-- Each type that a column can have.
create function reads_back(oid) returns boolean language plpgsql as $$ begin execute format('create temp table one (a %s)', format_type($1, -1)); perform from pg_attribute where attrelid = 'one'::regclass and attname = 'a' and atttypid = $1 and atttypmod = -1; drop table one; return found; end $$;
select format_type(oid, -1) from pg_type where typtype in ('b', 'r', 'm') and oid < 10000 and typelem not in (select oid from pg_type where typtype in ('c', 'p')) and not reads_back(oid);
select format_type(1560, null), format_type(1560, -1), format_type(1561, null), format_type(1561, -1), format_type(1042, null), format_type(1042, -1), format_type(1014, -1), format_type(1014, null), format_type(0, -1), format_type(1, -1);
create view taken_apart as select x.* from json_to_recordset('[]') as x (x1 "bit", y1 bpchar[], z1 bpchar);
select pg_get_viewdef('taken_apart');
