-- COPY FROM STDIN and TO STDOUT: text, CSV and their options, queries, errors with their line.
create table t (a int, b text, c numeric(6,2), d date);
copy t from stdin;
1	one	1.5	2024-01-01
2	two words	2.25	\N
3	\N	\N	2024-03-03
\.
copy t to stdout;
copy t (a, b) from stdin;
4	four
5	tab\there
6	new\nline
7	back\\slash
8	\x41\101\b\f\v\r
\.
copy t (b) to stdout;
copy t (b, a) to stdout;
copy (select a, upper(b) from t where a < 3 order by a) to stdout;
copy (select 1, null, 'x', true) to stdout;
copy (values (1, 'x'), (2, 'y')) to stdout;
copy t from stdin;
9	nine	bad	2024-01-01
\.
copy t from stdin;
9	nine
\.
copy t from stdin;
9	nine	1	2024-01-01	extra
\.
copy t from stdin;
x	nine	1	2024-01-01
\.
copy t from stdin;
9	nine	1	2024-13-01
\.
copy t from stdin;
9	nine	12345678	2024-01-01
\.
copy t from stdin;

\.
copy t (b) from stdin;

\.
select count(*), count(b) from t;
truncate t;
copy t from stdin with (format csv);
1,one,1.5,2024-01-01
2,"two, with comma",2.5,
3,"quote "" inside",,2024-01-03
4,"multi
line",4,2024-01-04
5,,5,
6,"",6,
\.
select * from t order by a;
copy t to stdout with (format csv);
copy t to stdout with (format csv, header);
copy t to stdout with (format csv, header, force_quote *);
copy t to stdout with (format csv, force_quote (b));
copy t to stdout with (format csv, null 'NULL');
copy t to stdout with (format csv, delimiter ';', quote '''');
copy t to stdout with (format csv, escape '\');
copy t to stdout csv header;
copy t to stdout with csv null as '-' quote as '|';
copy t to stdout (delimiter '|');
copy t to stdout with delimiter ',' null 'nil';
copy t to stdout (null '');
copy t to stdout (header);
truncate t;
copy t from stdin (format csv, header);
a,b,c,d
1,x,1,2024-01-01
\.
copy t from stdin (format csv, header match);
a,b,c,d
2,x,1,2024-01-01
\.
copy t from stdin (format csv, header match);
a,b,z,d
3,x,1,2024-01-01
\.
copy t from stdin (header match);
a	b	c	d
4	x	1	2024-01-01
\.
copy t from stdin (delimiter '|', null 'nil');
5|nil|1|nil
6|\nil|1|nil
\.
copy t from stdin (format csv, null 'nil');
7,nil,1,nil
8,"nil",1,nil
\.
copy t from stdin (format csv, force_not_null (b));
9,,1,
\.
copy t from stdin (format csv, null 'nil', force_null (b));
10,"nil",1,nil
\.
copy t from stdin (format csv, quote '$', escape '\');
11,$a\$b$,1,
\.
select a, b, b is null from t order by a;
copy t from stdin (format csv);
12,"open,1,
\.
copy t from stdin (format csv);
12,x
\.
copy t from stdin (format csv);
12,x,1,2024-01-01,more
\.
copy t from stdin (format csv);
12,x,y,2024-01-01
\.
copy nosuch from stdin;
copy t (nosuch) from stdin;
copy t (a, a) from stdin;
copy t from stdin (format nosuch);
copy t from stdin (nosuch);
copy t from stdin (format csv, format csv);
copy t from stdin (delimiter 'ab');
copy t from stdin (delimiter 'a');
copy t from stdin (quote '"');
copy t from stdin (force_not_null (b));
copy t to stdout (format csv, force_null (b));
copy t from stdin (format csv, force_quote (b));
copy t from stdin (format csv, force_not_null (nosuch));
copy t from stdin (null E'\n');
copy t to stdout (delimiter E'\n');
copy t from stdin (format csv, delimiter '"');
copy t from stdin (header nosuch);
copy t to stdout (header match);
copy t from stdin (format binary, delimiter ',');
copy t from stdin (encoding 'nosuch');
copy t to stdout (encoding 'UTF8');
copy (select nosuch from t) to stdout;
copy (select 1) from stdin;
copy (insert into t values (50)) to stdout;
copy (insert into t (a) values (50) returning a) to stdout;
copy (delete from t where a = 50 returning a, b) to stdout;
copy (select a from t order by a limit 2) to stdout with (format csv, header);
copy t to '/tmp/nosuchdir/file';
copy t from '/tmp/nosuchfile';
copy t from stdin where a > 100;
101	x	1	2024-01-01
1	y	1	2024-01-01
\.
create table keyed (id int primary key, n int not null check (n > 0), g int generated always as (n * 2) stored, s serial);
copy keyed (id, n) from stdin;
1	1
2	2
\.
copy keyed (id, n) from stdin;
3	3
1	4
\.
copy keyed (id, n) from stdin;
4	-1
\.
copy keyed (id, n) from stdin;
5	\N
\.
copy keyed (id) from stdin;
6
\.
copy keyed (id, g) from stdin;
7	7
\.
copy keyed to stdout;
copy keyed (id, n, g, s) to stdout;
select * from keyed order by id;
create table child (k int references keyed);
copy child from stdin;
1
2
\.
copy child from stdin;
1
99
\.
select * from child;
create table types (b bool, i2 int2, i8 int8, f float8, ts timestamp, tz timestamptz, iv interval, u uuid, by bytea, ar int[], ta text[]);
copy types from stdin;
t	1	9000000000	1.5	2024-01-01 12:00:00	2024-01-01 12:00:00+02	1 day 02:03:04	a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11	\\x0102	{1,2,NULL}	{"a b",c,"d\\"e"}
\N	\N	\N	NaN	infinity	-infinity	\N	\N	\N	{}	\N
\.
copy types to stdout;
copy types to stdout (format csv);
copy types from stdin;
maybe	1	1	1	\N	\N	\N	\N	\N	\N	\N
\.
copy types (i2) from stdin;
99999
\.
copy types (ar) from stdin;
{1,x}
\.
copy types (by) from stdin;
\\xzz
\.
create view v as select a, b from t;
copy v to stdout;
copy v from stdin;
copy (select * from v order by a limit 1) to stdout;
create sequence sq;
copy sq to stdout;
begin;
copy t from stdin;
200	in block	1	2024-01-01
\.
rollback;
select count(*) from t where a = 200;
begin;
copy t from stdin;
bad
\.
select 1;
rollback;
create table one (a text);
copy one from stdin;
a
b
\\.
\.
select * from one;
copy one from stdin (format csv);
"x
y"
 spaces 
\.
select a, length(a) from one order by a;
copy one to stdout (format csv);
copy one from stdin (freeze);
frozen?
\.
drop table t, keyed, child, types, one cascade;
