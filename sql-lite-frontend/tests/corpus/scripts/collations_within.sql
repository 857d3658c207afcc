-- oracle: 15
-- Collations of attributes, of variables, of citext, and of the two sides of a foreign key.
create collation swedish (provider = icu, locale = 'sv');
create collation anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create type pair as (a text collate swedish, b text);
-- differs: the error's position
create type numbers as (a int collate swedish);
-- differs: the error's position
create type lost as (a text collate no_such);
select attname, collname from pg_attribute a left join pg_collation c on c.oid = attcollation where attrelid = 'pair'::regclass order by attnum;
create table pairs (id int, p pair);
insert into pairs values (1, ('z', 'a')), (2, ('ä', 'b')), (3, ('a', 'c')), (4, ('å', 'a')), (5, ('Ä', 'x')), (6, ('z', 'B')), (7, (null, 'x'));
select id, p from pairs order by p;
select id from pairs order by (p).a, id;
select id from pairs order by (p).b, id;
select id from pairs where (p).a > 'z' order by id;
select id from pairs where (p).a > (p).b order by id;
select id from pairs where (p).a > (p).b collate "C" order by id;
select collation for ((p).a), collation for ((p).b), collation for ((p).a || (p).b) from pairs where id = 1;
select max((p).a), min((p).a), max((p).b) from pairs;
select id from pairs where p > row('z', 'b')::pair order by id;
-- differs: bug: which of two errors comes first
select id from pairs where p = ('ä', 'b') order by id;
select id from pairs where p < ('z', 'b')::pair order by id;
create index on pairs (p);
create index pairs_a on pairs (((p).a));
set enable_seqscan = off;
set enable_sort = off;
select id from pairs order by p;
select id from pairs where p >= row('z', 'a')::pair order by p;
select id from pairs where (p).a >= 'z' order by (p).a, id;
reset enable_seqscan;
reset enable_sort;
select p, count(*) from pairs group by p order by p limit 2;
select distinct (p).a from pairs order by 1;
select (p).* from pairs order by a, b limit 3;
select * from (select (p).* from pairs) s where a > 'z' order by a, b;
select row(a, b)::pair from (values ('z', 'x'), ('ö', 'y')) v(a, b) order by 1;
update pairs set p.a = 'ö' where id = 1 returning p;
select '(ö,"a b")'::pair > '(z,c)'::pair;
select array['(ö,a)'::pair] > array['(z,a)'::pair];
alter type pair alter attribute b type text collate "C";
create type other as (a text collate swedish, b text);
alter type other alter attribute b type varchar(5) collate anycase;
alter type other add attribute c text collate "de-x-icu";
alter type other add attribute d int collate "de-x-icu";
select attname, collname from pg_attribute a left join pg_collation c on c.oid = attcollation where attrelid = 'other'::regclass order by attnum;
select row('a', 'B', 'c')::other = row('a', 'b', 'c')::other, row('a', 'B', 'c')::other = row('A', 'b', 'c')::other;
create table others (o other primary key);
insert into others values (('a', 'B', 'c'));
insert into others values (('a', 'b', 'c'));
-- differs: the order of what depends
drop collation swedish;
drop collation anycase;
drop collation anycase cascade;
select attname from pg_attribute where attrelid = 'other'::regclass and not attisdropped order by attnum;
drop table others;
do $$ declare x text collate swedish := 'ä'; y text := 'z'; begin raise notice '% %', x > y, x < y; end $$;
do $$ declare x text collate "C" := 'ä'; y text collate swedish := 'å'; begin raise notice '%', x > y; end $$;
do $$ declare x text collate "C" := 'a'; y text collate swedish := 'B'; begin raise notice '%', x > y collate "C"; end $$;
-- differs: the error's position
do $$ declare x int collate swedish := 1; begin null; end $$;
do $$ declare x text collate no_such := 1; begin null; end $$;
do $$ declare x text collate no_such.swedish := 1; begin null; end $$;
do $$ declare x text collate public.swedish not null := 'ö'; begin x := x || 'a'; raise notice '% %', x, x > 'z'; end $$;
do $$ declare x text collate pg_catalog."sv-x-icu" := 'ö'; r record; begin for r in select v from (values ('z'), ('a')) s(v) where v < x order by v loop raise notice '%', r.v; end loop; end $$;
do $$ declare x varchar(2) collate swedish := 'ö'; n int; begin select count(*) into n from (values ('z'), ('zz')) s(v) where v < x; raise notice '%', n; end $$;
do $$ declare x text collate "C"; begin x := 'b' collate swedish; raise notice '%', x > 'a'; end $$;
do $$ declare x text[] collate swedish := '{ö}'; begin raise notice '%', x > '{z}'; end $$;
create function sorted(a text, b text) returns text language plpgsql as $$ declare x text collate swedish := a; begin if x < b then return a; end if; return b; end $$;
select sorted('ä', 'z'), sorted('z', 'ä');
create function pick(a text, b text) returns text language plpgsql as $$ declare x text := a; begin if x < b then return a; end if; return b; end $$;
select pick('ä', 'z'), pick('ä' collate swedish, 'z'), pick('z', 'ä' collate swedish);
create table parents (k text collate "C" primary key, j text collate swedish unique);
create table children (id int, k text collate swedish references parents, j text references parents (j));
insert into parents values ('a', 'x'), ('ä', 'y'), ('z', 'z');
insert into children values (1, 'a', 'x'), (2, 'ä', 'y'), (3, null, 'y');
insert into children values (4, 'A', 'x');
insert into children values (4, 'a', 'X');
delete from parents where k = 'ä';
update parents set j = 'w' where j = 'x';
update parents set k = 'b' where k = 'a';
delete from parents where k = 'z';
alter table children drop constraint children_k_fkey;
insert into children values (5, 'nobody', 'x');
alter table children add foreign key (k) references parents;
delete from children where id = 5;
alter table children add foreign key (k) references parents on delete cascade on update cascade;
update parents set k = 'ö' where k = 'a';
select id, k from children order by id;
alter table children drop constraint children_j_fkey;
alter table children add foreign key (j) references parents (j) on delete set null;
delete from parents where k = 'ö';
select * from children order by id;
create collation anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table plain (k text primary key);
-- differs: PostgreSQL 18 refuses keys of different collations, one of which is nondeterministic
create table folded (id int, k text collate anycase references plain);
insert into plain values ('a'), ('B');
-- differs: PostgreSQL 18 refuses keys of different collations, one of which is nondeterministic
insert into folded values (1, 'a');
-- differs: PostgreSQL 18 refuses keys of different collations, one of which is nondeterministic
insert into folded values (2, 'A');
-- differs: PostgreSQL 18 refuses keys of different collations, one of which is nondeterministic
delete from plain where k = 'a';
delete from plain where k = 'B';
CREATE TABLE set_parts (a text COLLATE "sv-x-icu", b text COLLATE "C", c varchar(5) COLLATE "sv-x-icu");
INSERT INTO set_parts VALUES ('a', 'B', 'z'), ('a', 'B', 'z'), ('B', 'a', 'ä'), (NULL, 'a', 'Z');
-- unordered
SELECT DISTINCT a FROM set_parts UNION ALL SELECT b FROM set_parts;
-- unordered
SELECT b FROM set_parts UNION ALL SELECT DISTINCT a FROM set_parts;
(SELECT a FROM set_parts ORDER BY a) UNION ALL (SELECT b FROM set_parts ORDER BY b);
(SELECT DISTINCT a FROM set_parts ORDER BY a LIMIT 2) UNION ALL (SELECT DISTINCT c FROM set_parts ORDER BY c) UNION ALL SELECT 'x' COLLATE "C";
-- unordered
SELECT max(a) FROM set_parts UNION ALL SELECT min(b) FROM set_parts UNION ALL SELECT max(c) FROM set_parts;
SELECT a FROM set_parts UNION SELECT b FROM set_parts;
-- unordered
SELECT a FROM set_parts UNION SELECT c FROM set_parts;
SELECT a FROM set_parts UNION ALL SELECT b FROM set_parts ORDER BY 1;
SELECT a FROM set_parts UNION ALL SELECT c FROM set_parts ORDER BY 1 NULLS FIRST;
SELECT count(DISTINCT x) FROM (SELECT a FROM set_parts UNION ALL SELECT b FROM set_parts) s (x);
-- unordered
SELECT DISTINCT least('a'::text COLLATE "C", ''::text) FROM set_parts UNION ALL SELECT a FROM set_parts;
-- unordered
SELECT a FROM set_parts EXCEPT SELECT c FROM set_parts;
SELECT a FROM set_parts INTERSECT SELECT b FROM set_parts;
CREATE COLLATION parts_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT count(*) FROM (SELECT DISTINCT x COLLATE parts_ci FROM (VALUES ('a'), ('A'), ('b')) v (x) UNION ALL SELECT b FROM set_parts) s;
SELECT count(*) FROM (SELECT b FROM set_parts UNION ALL SELECT DISTINCT x COLLATE parts_ci FROM (VALUES ('a'), ('A'), ('b')) v (x)) s;
SELECT count(*) FROM (SELECT x COLLATE parts_ci FROM (VALUES ('a'), ('A'), ('b')) v (x) UNION SELECT 'B') s;
DROP TABLE set_parts;
