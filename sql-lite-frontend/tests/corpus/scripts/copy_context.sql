-- What COPY says of the place where an error arose: line, column and value, or the line itself, cut where it is long.
CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), d date);
COPY t FROM STDIN;
1	x	1	2020-01-01
x	y	1	2020-01-01
\.
COPY t FROM STDIN;
1	x	1	2020-13-01
\.
COPY t FROM STDIN;
1	x	1
\.
COPY t FROM STDIN;
1	x	1	2020-01-01	5
\.
COPY t FROM STDIN;
1	\N	1	2020-01-01
\.
COPY t FROM STDIN;
1	x	0	2020-01-01
\.
COPY t FROM STDIN;
1	x	1	2020-01-01
2	x	1	2020-01-01
1	x	1	2020-01-01
3	x	1	2020-01-01
\.
COPY t (a,b) FROM STDIN;
1	xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx	77
\.
COPY t (a,b) FROM STDIN;
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx	77
\.
COPY t FROM STDIN CSV;
1,"x
y",q,
\.
COPY t FROM STDIN CSV;
1,"x
y",,,,
\.
COPY t FROM STDIN CSV;
1,"x
\.
COPY t FROM STDIN CSV HEADER;
a,b,c,d
1,x,1,bad
\.
COPY t FROM STDIN (FORMAT csv, HEADER match);
a,b,x,d
1,x,1,bad
\.
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'row %', NEW.a; IF NEW.a = 7 THEN RAISE 'seven'; END IF; RETURN NEW; END $$;
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
COPY t FROM STDIN;
5	x	1	2020-01-01
6	x	1	2020-01-01
7	x	1	2020-01-01
\.
COPY t FROM STDIN;
5	x	1	2020-01-01
5	x	1	2020-01-01
\.
DROP TRIGGER tr ON t;
CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
COPY t FROM STDIN;
15	x	1	2020-01-01
16	x	1	2020-01-01
7	x	1	2020-01-01
\.
CREATE DOMAIN dm AS int CHECK (VALUE > 3);
CREATE TABLE u (a dm, b varchar(3), c numeric(3,1), d int GENERATED ALWAYS AS (a / (a - 7)) STORED);
COPY u FROM STDIN;
1	x	1
\.
COPY u FROM STDIN;
5	xxxx	1
\.
COPY u FROM STDIN;
5	xxx	1000
\.
COPY u FROM STDIN;
7	xxx	1
\.
COPY u FROM STDIN WHERE 1/(a-9) > 0;
9	xxx	1
\.
CREATE DOMAIN nn AS int NOT NULL;
CREATE TABLE v (a nn, b int[]);
COPY v FROM STDIN;
\N	{1}
\.
COPY v FROM STDIN;
1	{1,x}
\.
COPY v FROM STDIN CSV NULL 'none';
,"{1}"
\.
COPY v FROM STDIN;

\.
COPY v FROM STDIN (DELIMITER ';');
1;{a\;b}
\.
COPY v (b) FROM STDIN;
{"éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé"}
\.
CREATE TABLE w (a int, r int4range, EXCLUDE USING gist (r WITH &&));
COPY w FROM STDIN;
1	[1,3)
2	[2,4)
\.
COPY u (a) FROM STDIN;
\x
\.
COPY u (b) FROM STDIN;
\xff
\.
