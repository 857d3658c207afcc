-- Names and definitions that PostgreSQL refuses, and the order in which ALTER TABLE does its parts.

create table l1(a int, b int);

create table l2(a int, like l1);

create table l3(like l1, like l1);

create table l4(like l1, a int);

create table l5(like l1, c int, "B" int);

drop table l5;

create table ca(x,y,z) as select 1,2;

create table ca(x,y,y) as select 1,2,3;

create table ca(x) as select 1 as x, 2 as y;

create table ca2(x) as select 1 as a, 2 as x;

create materialized view mva(x,y,z) as select 1,2;

create view vv(x,y,z) as select 1,2;

create table xa(xmin int);

create table xb(a int, ctid int);

create table xc(tableoid int);

alter table l1 add column xmax int;

alter table l1 rename a to cmin;

create table xd as select 1 as xmin;

create view xv as select 1 as xmin;

select 1 as xmin;

create table xe(oid int);

create table di(a int);

create index di_a on di(a);

begin;

drop index concurrently di_a;

rollback;

begin;

create index concurrently di_b on di(a);

rollback;

drop index concurrently di_a;

drop index concurrently if exists di_a, di_b;

create index di_a on di(a);

create index di_b on di(a);

drop index concurrently di_a, di_b;

drop index concurrently di_a cascade;

begin;

reindex index concurrently di_a;

rollback;

-- Parts of ALTER TABLE in any order: what goes first, then what changes, then what comes.

create table al (id int primary key, a int default 5, b text);

insert into al values (1, 1, '7'), (2, 2, '8');

alter table al add column d int not null default 1, alter b type int using b::int, drop column a;

alter table al add constraint k1 check (e > 0), add column e int default 4;

alter table al add constraint k2 unique (f), add column f text, alter d drop not null, drop constraint k1;

alter table al add column g int not null, alter b type date;

alter table al alter b set default 'x', drop constraint al_pkey, add primary key (b);

alter table al alter b set default 9, drop constraint al_pkey, add primary key (b), alter b type bigint;

select * from al order by 1;

select attname, format_type(atttypid, atttypmod), attnotnull, atthasdef from pg_attribute where attrelid = 'al'::regclass and attnum > 0 and not attisdropped order by attnum;

select conname, contype from pg_constraint where contype <> 'n' and conrelid = 'al'::regclass order by 1;

-- What comes twice, and views that would lose columns.

create table tw (a int, b int);

alter table tw alter a type bigint, alter a type text;

alter table tw alter a type bigint, alter b type text;

create view twv as select a, b from tw;

create or replace view twv as select b from tw;

create or replace view twv as select b, a from tw;

create or replace view twv as select a, b, 1 as c from tw;

create table names (a int check (a > 0) check (a > 1), b int check (b > 0), check (a > 2), check (a > b), check (a > b + 1), check (true), check (true), unique (a), unique (a, b));

select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'names'::regclass order by 1;

alter table names add check (a > 3), add unique (b), add unique (b);

select conname from pg_constraint where conrelid = 'names'::regclass order by 1;

-- Names that are taken, columns that are not there.

create table taken (id int primary key, a int, b text, constraint kt1 check (a > 0), constraint kt2 unique (a));

create table other_taken (id int primary key constraint kt9 unique, c int references taken);

alter table taken add constraint kt2 unique (b);

alter table taken add constraint kt1 unique (b);

alter table taken add constraint kt9 unique (b);

alter table taken add constraint taken unique (b);

alter table taken add constraint kt1 foreign key (a) references taken;

alter table taken add constraint kt2 check (a > 1);

alter table taken add constraint kt1 primary key (a);

alter table taken add primary key (nothing);

alter table taken add unique (nothing);

create table own_name (a int constraint own_name unique);

alter table taken alter nothing set storage plain, alter a set statistics 5;

alter table taken alter nothing set statistics 5;

alter table taken alter nothing set (n_distinct = 5);

alter table taken alter id drop not null;

alter table taken alter id add generated always as identity;

alter table taken alter id drop not null;
