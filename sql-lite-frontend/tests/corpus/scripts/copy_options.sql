-- COPY: which options there are, which go together, WHERE and FREEZE.

create table t(a int primary key, b text);

copy t from stdin (format csv, delimiter ',', null ',');
1,x
\.

copy t from stdin (format csv, quote '"', delimiter '"');
1,x
\.

copy t from stdin (delimiter 'a');
1	x
\.

copy t from stdin (delimiter E'\n');
1	x
\.

copy t from stdin (null E'a\nb');
1	x
\.

copy t from stdin (quote '"');
1	x
\.

copy t from stdin (escape '"');
1	x
\.

copy t from stdin (force_quote (a));
1	x
\.

copy t to stdout (format csv, force_quote (b));

copy t to stdout (format csv, force_null (b));

copy t from stdin (format csv, force_not_null (c));
1,x
\.

copy t from stdin (format binary, delimiter ',');
x
\.

copy t from stdin (format binary, null 'x');
x
\.

copy t from stdin (format binary, header);
x
\.

copy t from stdin (format csv, format csv);
1,x
\.

copy t from stdin (header maybe);
1	x
\.

copy t to stdout (header match);

copy t from stdin (encoding 'nope');
1	x
\.

copy t from stdin (encoding 'LATIN1');
\.

copy t to stdout (freeze);

copy t from stdin where a > 5;
1	x
9	y
\.

copy t (a, b) from stdin with (format csv, header true);
a,b
21,"x,""y"
\.

copy (select * from t order by a) to stdout with csv header force quote *;

copy t from stdin;
77
\.

copy t from stdin;
77	a	b
\.

copy t from stdin;
x	a
\.

copy t from stdin;
78	\x41\101\n\t\\
\.

copy t from stdin csv;
79,"abc
def"
\.

copy t from stdin csv;
80,"abc
\.

select * from t order by 1;

copy nix from stdin;
\.

copy t(z) from stdin;
\.

copy t to stdout (format csv, delimiter E'\t', header);

copy t from stdin (nonsense 1);
\.

copy t from stdin with null as 'NULL' delimiter as '|';
81|NULL
\.

copy (values (1,null,'a b'),(2,'x,y','"')) to stdout csv;

copy (delete from t returning *) to stdout;

copy (insert into t values (1,'q') returning a) to stdout;

copy t from stdin where a > 1 and b like 'p%';
200	pq
201	qq
202	px
\.

copy t from stdin where b;
1	x
\.

copy t from stdin where count(*) > 1;
1	x
\.

copy t from stdin where a in (select 1);
1	x
\.

copy t from stdin where row_number() over () = 1;
1	x
\.

copy t from stdin where generate_series(1, 2) = 1;
1	x
\.

copy t from stdin where nope = 1;
1	x
\.

copy t to stdout where a > 1;

select * from t order by a;

create table g (a int, b int generated always as (a * 2) stored, c int default 7);

copy g (a) from stdin where c = 7;
1
\.

copy g (a) from stdin where c = 8;
2
\.

select * from g order by a;

begin;

copy g (a) from stdin (freeze);
3
\.

rollback;

begin;

truncate g;

copy g (a) from stdin (freeze);
3
\.

commit;

begin;

create table fresh (a int);

copy fresh from stdin (freeze on);
1
\.

commit;

copy fresh from stdin (freeze off);
2
\.

select * from g, fresh order by 1, 4;
