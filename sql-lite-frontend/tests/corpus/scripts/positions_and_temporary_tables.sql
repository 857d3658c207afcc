-- Numbers that are positions, ON COMMIT of a table that a query fills, defaults of views.

create table d (a int, b int);

insert into d values (1, 1), (1, 2), (2, 1), (3, 3);

SELECT DISTINCT ON (1) a, b FROM d ORDER BY a, b;

SELECT DISTINCT ON (1) a, b FROM d ORDER BY 1, 2 desc;

SELECT DISTINCT ON (2) a, b FROM d ORDER BY 2, 1;

SELECT DISTINCT ON (5) a, b FROM d;

SELECT a, 5, count(*) FROM d GROUP BY 1, 2 ORDER BY 1;

select interval '1' day, 1 as x order by 2;

select count(distinct 1) from d;

begin;

create temp table kept_not on commit delete rows as select 1 as a;

select * from kept_not;

commit;

select * from kept_not;

begin;

create temp table gone on commit drop as select 1 as a;

select * from gone;

commit;

select * from gone;

create temp table at_once on commit delete rows as select 1 as a;

select * from at_once;

create table no_temporary on commit drop as select 1 as a;

create temp table kept on commit preserve rows as select 1 as a;

select * from kept;

create table base (id int, v text default 'base');

create view vw as select * from base;

alter view vw alter column v set default 'view';

insert into vw (id) values (1);

insert into base (id) values (2);

alter view vw alter column id set default 7;

insert into vw default values;

insert into vw (v) values (default);

insert into vw values (default, 'q'), (5, default);

select * from base order by id, v;

create view vw2 as select v as w, id as i from vw;

insert into vw2 (w) values ('two');

insert into vw2 default values;

alter view vw2 alter i set default 70;

insert into vw2 default values;

select * from base order by id, v;

alter view vw alter column v drop default;

insert into vw (id) values (3);

update vw set id = default where id = 3;

select * from base order by id, v;

alter view vw alter v set default nope;

alter view vw alter nope set default 1;

alter view vw alter id set default 'x';

alter table vw alter column id set default 9;

insert into vw default values;

select * from base where id = 9;

select column_name, column_default from information_schema.columns where table_name = 'vw' order by 1;
