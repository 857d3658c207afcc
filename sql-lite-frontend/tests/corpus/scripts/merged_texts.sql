-- Conditions that tell texts apart which a nondeterministic collation merges into one row.
create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create collation cs (provider = icu, locale = 'und');
create table words (id int, x text collate ci);
insert into words values (1, 'ABC'), (2, 'abc'), (3, 'def');
create table more_words (x text collate ci);
insert into more_words values ('ABC'), ('ghi');
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select distinct x from words) s where x = 'abc' collate cs;
select count(*) from (select distinct x from words) s where ascii(x) = 97;
select count(*) from (select distinct x from words) s where x::text collate "C" < 'a';
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select distinct x from words) s where x in ('abc' collate cs);
select count(*) from (select distinct x from words) s where x || '' = 'abc' collate cs;
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x from words union select x from more_words) s where x = 'abc' collate cs;
select count(*) from (select x from words union select x from more_words) s where ascii(x) = 97;
select count(*) from (select x from words union select x from more_words) s where x::text collate "C" < 'a';
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x from words union select x from more_words) s where x in ('abc' collate cs);
select count(*) from (select x from words union select x from more_words) s where x || '' = 'abc' collate cs;
select count(*) from (select x from words intersect select x from more_words) s where x = 'abc' collate cs;
select count(*) from (select x from words intersect select x from more_words) s where ascii(x) = 97;
select count(*) from (select x from words intersect select x from more_words) s where x::text collate "C" < 'a';
select count(*) from (select x from words intersect select x from more_words) s where x in ('abc' collate cs);
select count(*) from (select x from words intersect select x from more_words) s where x || '' = 'abc' collate cs;
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x from words except select x from more_words) s where x = 'abc' collate cs;
select count(*) from (select x from words except select x from more_words) s where ascii(x) = 97;
select count(*) from (select x from words except select x from more_words) s where x::text collate "C" < 'a';
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x from words except select x from more_words) s where x in ('abc' collate cs);
select count(*) from (select x from words except select x from more_words) s where x || '' = 'abc' collate cs;
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x, count(*) from words group by x) s where x = 'abc' collate cs;
select count(*) from (select x, count(*) from words group by x) s where ascii(x) = 97;
select count(*) from (select x, count(*) from words group by x) s where x::text collate "C" < 'a';
-- differs: bug: a comparison under another collation is pushed below what merges texts
select count(*) from (select x, count(*) from words group by x) s where x in ('abc' collate cs);
select count(*) from (select x, count(*) from words group by x) s where x || '' = 'abc' collate cs;
select count(*) from (select id, x, count(*) over (partition by x) as n from words) s where x = 'abc' collate cs;
select count(*) from (select id, x, count(*) over (partition by x) as n from words) s where ascii(x) = 97;
select count(*) from (select id, x, count(*) over (partition by x) as n from words) s where x::text collate "C" < 'a';
select count(*) from (select id, x, count(*) over (partition by x) as n from words) s where x in ('abc' collate cs);
select count(*) from (select id, x, count(*) over (partition by x) as n from words) s where x || '' = 'abc' collate cs;
select count(*) from (select distinct x from words) s where x = 'abc';
-- differs: bug: a comparison under another collation is pushed below what merges texts
select id, n from (select id, x, count(*) over (partition by x) as n from words) s where x = 'abc' collate cs;
select x from (select x from words union all select x from more_words) s where x = 'abc' collate cs;
create view distinct_words as select distinct x from words;
select count(*) from distinct_words where ascii(x) = 97;
