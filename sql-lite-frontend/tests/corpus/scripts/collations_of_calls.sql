-- oracle: 15
-- What a routine's parameters and variables are compared by: the collation of the call's arguments.
create collation swedish (provider = icu, locale = 'sv');
create collation german (provider = icu, locale = 'de');
create function smaller(a text, b text) returns text language sql as 'select case when a < b then a else b end';
create function smaller_dollar(text, text) returns text language sql stable as 'select case when $1 < $2 then $1 else $2 end';
create function smaller_too(a text, b text) returns text language plpgsql as 'begin if a < b then return a; end if; return b; end';
select smaller('a', 'B'), smaller('a' collate swedish, 'B'), smaller('a', 'B' collate swedish), smaller('a' collate "C", 'B');
select smaller_dollar('a', 'B'), smaller_dollar('a' collate swedish, 'B'), smaller_dollar('a', 'B' collate "C");
select smaller_too('a', 'B'), smaller_too('a' collate swedish, 'B'), smaller_too('a', 'B' collate swedish), smaller_too('a' collate "C", 'B');
select smaller('ä' collate swedish, 'z'), smaller('ä' collate german, 'z'), smaller_too('ä' collate swedish, 'z'), smaller_too('ä' collate german, 'z');
select smaller('ä' collate swedish, 'z' collate german);
select smaller_too('ä' collate swedish, 'z' collate german);
create table words (id int primary key, c text collate "C", s text collate swedish, g text collate german, plain text);
insert into words values (1, 'ä', 'ä', 'ä', 'ä'), (2, 'z', 'z', 'z', 'z'), (3, 'a', 'a', 'a', 'a'), (4, 'B', 'B', 'B', 'B');
select id, smaller(c, 'b') as c, smaller(s, 'b') as s, smaller(g, 'z') as g, smaller(plain, 'b') as p from words order by id;
select id, smaller_too(c, 'b') as c, smaller_too(s, 'b') as s, smaller_too(g, 'z') as g, smaller_too(plain, 'b') as p from words order by id;
select id, smaller(s, plain) from words order by id;
select id, smaller_too(s, plain || '') from words order by id;
select id from words where smaller(s, 'å') = s order by id;
-- columns that disagree
select smaller(s, g) from words order by id;
select smaller_too(s, g) from words order by id;
select smaller(s, g) < 'b' from words;
-- the result's collation is that of the call
select collation for (smaller(s, 'x')), collation for (smaller(g, 'x')), collation for (smaller_too(s, 'x')), collation for (smaller('x', 'y')) from words where id = 1;
select smaller(s, 'zz') as w from words order by 1;
select smaller(g, 'zz') as w from words order by 1;
select smaller(c, 'zz') as w from words order by 1;
-- variables
create function declared(a text, b text) returns text language plpgsql as 'declare x text := a; y text; z varchar(5); begin y := b; z := b; return (x < y)::text || (a < y)::text || (x < z)::text || coalesce(x, z); end';
select declared('a', 'B'), declared('a' collate swedish, 'B'), declared('ä' collate german, 'z');
create function of_row(a text, b text) returns text language plpgsql as 'declare r record; begin select a as x, b as y into r; return (r.x < r.y)::text; end';
select of_row('a', 'B'), of_row('a' collate swedish, 'B');
create function sorted(a text, b text) returns text language plpgsql as $$ declare x text := a; y text := b; z text collate "C" := b; begin return (x < y)::text || (x < z)::text || (a < b)::text; end $$;
select sorted('ä', 'z');
select sorted('ä' collate swedish, 'z');
select sorted('a' collate "C", 'z');
create function sorted_c(a text, b text) returns text language plpgsql as $$ declare x text := a; z text collate "C" := b; begin return (x < b)::text || (x < z)::text; end $$;
select sorted_c('a', 'B');
select sorted_c('a' collate swedish, 'B');
create function in_statement(a text, b text) returns setof text language plpgsql as $$ declare w text; begin for w in select v from (values (a), (b), ('å')) v(v) order by v loop return next w; end loop; return query select max(v) from (values (a), (b)) v(v); execute 'select min(v) from (values ($1), ($2)) v(v)' into w using a, b; return next w; perform 1 from words where plain > a; return next found::text; end $$;
select * from in_statement('ä', 'z');
select * from in_statement('ä' collate swedish, 'z');
select * from in_statement('ä' collate german, 'z');
-- sets, FROM, several statements
create function larger(a text, b text) returns setof text language sql as 'select v from (values (a), (b)) v(v) where v >= a order by v';
select * from larger('z', 'ä');
select * from larger('z' collate swedish, 'ä');
select * from larger('z' collate german, 'ä');
select larger('ä' collate german, 'z'), larger('ä' collate swedish, 'z');
-- arrays, varchar, polymorphic types
create function first_of(a text[]) returns text language sql as 'select min(v) from unnest(a) v';
select first_of(array['z', 'ä']), first_of(array['z', 'ä'] collate german), first_of(array['a', 'B']), first_of(array['a', 'B'] collate german);
create function least_of(a anyelement, b anyelement) returns anyelement language sql as 'select least(a, b)';
select least_of('a'::text, 'B'), least_of('a'::text collate german, 'B'), least_of(1, 2);
create function least_too(a anyelement, b anyelement) returns anyelement language plpgsql as 'begin return least(a, b); end';
select least_too('a'::text, 'B'), least_too('a'::text collate german, 'B'), least_too(1, 2);
create function least_of_some(variadic a text[]) returns text language plpgsql as 'declare x text; begin select min(v) into x from unnest(a) v; return x; end';
select least_of_some('a', 'B'), least_of_some('a', 'B' collate german, 'C');
-- a call within a call
create function outer_one(a text, b text) returns text language plpgsql as 'begin return smaller(a, b) || smaller_too(b, a); end';
select outer_one('a', 'B'), outer_one('a' collate swedish, 'B');
create function outer_two(a text, b text) returns text language sql as 'select smaller_too(a, b) || smaller(b, a)';
select outer_two('a', 'B'), outer_two('a' collate swedish, 'B');
create function of_its_own(a text, b text) returns boolean language sql as 'select a collate "C" < b';
select of_its_own('a', 'B'), of_its_own('a' collate swedish, 'B');
create function upper_of(a text) returns text language sql as 'select upper(a)';
select upper_of('ä'), upper_of('ä' collate swedish), upper_of('i' collate "tr-x-icu");
create procedure shows(a text, b text, inout c text) language plpgsql as 'begin c := (a < b)::text; end';
call shows('a', 'B', null);
call shows('a' collate swedish, 'B', null);
call shows('a', 'B' collate swedish, null);
do $$ declare r text; x text collate swedish := 'a'; begin call shows(x, 'B', r); raise notice '%', r; end $$;
-- in an index, a check, a generated column
create function key_of(a text) returns text language sql immutable as 'select least(a, ''B'')';
create index words_key on words (key_of(s));
create index words_key_c on words (key_of(c));
set enable_seqscan = off;
select id, key_of(s) from words where key_of(s) = 'a' order by id;
select id, key_of(c) from words where key_of(c) = 'B' order by id;
select id, key_of(s) from words order by key_of(s), id;
reset enable_seqscan;
create table checked (s text collate swedish check (smaller_too(s, 'z') = s));
insert into checked values ('a');
insert into checked values ('ä');
-- operators of ours
create function is_before(a text, b text) returns boolean language sql as 'select a < b';
create operator <<< (leftarg = text, rightarg = text, function = is_before);
select 'a' <<< 'B', 'a' collate swedish <<< 'B', 'ä' <<< 'z' collate german;
-- a row's fields have the collations of its type's attributes
create type numbered as (n int, w text);
create type german_word as (n int, w text collate german);
select row(1, s)::numbered <> row(1, 'b')::numbered, row(1, s)::numbered < row(1, 'b')::numbered, row(1, s)::german_word < row(1, 'b')::german_word, (row(1, s)::numbered).w from words where id = 3;
select row(id, greatest(s, 'B'))::numbered from words where id < 5 order by id;
-- LIKE and indexes of other orders
create index words_s on words (s);
create index words_pattern on words (s text_pattern_ops);
insert into words select g, chr(64 + g % 50), chr(64 + g % 50) || g, 'ß' || g, 'a' || g from generate_series(10, 500) g;
analyze words;
set enable_seqscan = off;
select count(*) from words where s like 'a%';
select count(*) from words where s like 'A%';
select count(*) from words where s ilike 'a%';
select count(*) from words where s ~ '^a';
select count(*) from words where s ~* '^a1';
select count(*) from words where s ^@ 'A';
select count(*) from words where starts_with(s, 'a');
select count(*) from words where s ~>=~ 'a' and s ~<~ 'b';
select count(*) from words where s similar to 'a%';
select s from words where s ~>=~ 'y' order by s using ~>~ limit 3;
select count(*) from words where s like 'ä%';
select count(*) from words where s like 'ä';
select count(*) from words where g like 'ß1%';
select count(*) from words where s > 'a' and s like 'a%';
select count(*) from words where s like any (array['a%', 'B1%']);
drop index words_pattern;
select count(*) from words where s like 'a%';
select count(*) from words where s like 'A%';
select count(*) from words where s collate "C" like 'A%';
drop index words_s;
create index words_s on words (s collate "C");
select count(*) from words where s like 'A%';
select count(*) from words where s ^@ 'A';
select count(*) from words where s collate "C" >= 'A' and s collate "C" < 'B';
create collation no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
select count(*) from words where s collate no_case like 'a%';
select count(*) from words where s collate no_case ~ '^a';
select count(*) from words where s collate no_case ^@ 'a';
select smaller('a' collate no_case, 'A'), smaller_too('A' collate no_case, 'a');
create function is_same(a text, b text) returns boolean language plpgsql as 'begin return a = b; end';
select is_same('a', 'A'), is_same('a' collate no_case, 'A');
create collation root_of_all (provider = icu, locale = '');
select 'a' < 'B' collate root_of_all, 'ä' < 'z' collate root_of_all;
-- differs: 18 calls the column otherwise
select collname, colliculocale from pg_collation where collname = 'root_of_all';
-- COLLATE within a call of an aggregate or of a window function.
create table w (id int primary key, plain text, sv text collate "sv-x-icu", de text collate "de-x-icu");
insert into w values (1, 'a', 'b', 'c'), (2, 'ä', 'z', 'å');
-- unordered
select sv from w intersect select max(plain collate "de-x-icu") from w;
-- differs: the error's position
select sv from w union select max(de) from w;
-- unordered
select sv from w union select max(de collate "de-x-icu") from w;
-- unordered
select sv from w union select string_agg(plain, ',' collate "de-x-icu") from w;
-- unordered
select sv from w union select string_agg(plain, ',' order by plain collate "de-x-icu") from w;
-- unordered
select sv from w union select first_value(plain collate "de-x-icu") over () from w;
-- unordered
select sv from w union select max(plain collate "de-x-icu") over () from w;
-- differs: the error's position
select sv from w union select first_value(de) over () from w;
select max(plain collate "de-x-icu") < sv from w group by sv order by 1;
select max(plain collate "de-x-icu") < min(sv), max(plain collate "de-x-icu") > max(sv) from w;
select max(de) < min(sv) from w;
-- differs: the error's position
select max(plain collate "de-x-icu") < min(sv collate "sv-x-icu") from w;
select lower(max(plain collate "de-x-icu")) < min(sv) from w;
-- differs: COLLATE within array_agg() is not that of the array
select (array_agg(plain collate "de-x-icu"))[1] < min(sv) from w;
select pg_collation_for(max(plain collate "de-x-icu")), pg_collation_for(min(sv)) from w;
select m < sv from (select max(plain collate "de-x-icu") as m from w) x, w;
select mode() within group (order by plain collate "de-x-icu") < min(sv) from w;
select max(plain collate "de-x-icu") || min(sv) collate "de-x-icu" from w;
