-- COPY FROM with ON_ERROR, REJECT_LIMIT and LOG_VERBOSITY.

create domain small as int check (value < 10);
create table t (a int, b date, c small, d text default 'dflt', e numeric (4, 1));
copy t from stdin (on_error ignore);
1	2020-01-01	5	one	1.5
x	2020-01-01	5	two	1.5
3	2020-13-01	5	three	1.5
4	2020-01-01	50	four	1.5
5	2020-01-01	5	five	12345
6	2020-01-01	5	six	9.9
\.
select * from t order by a;
copy t from stdin (on_error ignore, log_verbosity verbose);
7	2020-01-01	5	one	1.5
x	2020-01-01	5	two	1.5
8	\N	nothing	two	1.5
9	long value that is no date at all and goes on for quite a while so that it has to be cut where it is shown to clients	1	two	1.5
\.
copy t (a, d) from stdin with (on_error 'ignore', log_verbosity 'silent', format csv);
10,x
ten,x
11,y
\.
copy t (a) from stdin (on_error ignore);
y
\.
copy t (a) from stdin (on_error ignore);
12
\.
copy t (a) from stdin (on_error stop);
13
z
\.
copy t (a, b) from stdin (on_error ignore);
x
\.
copy t (a, b) from stdin (on_error ignore);
x	2020-01-01	y
\.
copy t (a, b) from stdin (on_error ignore);
14
\.
copy t (a) from stdin (on_error ignore, reject_limit 2);
x
y
15
\.
copy t (a) from stdin (on_error ignore, reject_limit 2);
x
y
16
z
\.
copy t (a) from stdin (on_error ignore, reject_limit '1', log_verbosity verbose);
x
y
\.
select a from t where a > 9 order by a;
create table n (a int not null, b int check (b > 0));
copy n from stdin (on_error ignore);
\N	1
\.
copy n from stdin (on_error ignore);
1	-1
\.
copy n from stdin (on_error ignore) where a > 1;
1	1
x	1
2	2
\.
select * from n;
copy t (a) from stdin (on_error unknown);
\.
copy t (a) from stdin (on_error);
\.
copy t (a) from stdin (on_error ignore, on_error ignore);
\.
copy t (a) from stdin (on_error ignore, format binary);
\.
copy t (a) from stdin (on_error stop, reject_limit 3);
\.
copy t (a) from stdin (reject_limit 3);
\.
copy t (a) from stdin (on_error ignore, reject_limit 0);
\.
copy t (a) from stdin (on_error ignore, reject_limit -5);
\.
copy t (a) from stdin (on_error ignore, reject_limit 'many');
\.
copy t (a) from stdin (on_error ignore, reject_limit);
\.
copy t (a) from stdin (log_verbosity loud);
\.
copy t (a) from stdin (log_verbosity verbose, log_verbosity default);
\.
copy t to stdout (on_error ignore);
copy t to stdout (reject_limit 3);
copy n to stdout (log_verbosity verbose);
