-- Arguments for which PostgreSQL's own arithmetic overflows, or that are otherwise at an end.
select right('true', -2147483648), right('true', -2147483647), right('', -2147483648), left('true', -2147483648), right('äöü', -2147483648);
create table u (id int primary key, v varchar(9) collate "sv-x-icu", w text collate "de-x-icu", p text);
insert into u select g, 'b' || g % 7, 'c' || g, 'd' || g % 3 from generate_series(1, 300) g;
analyze u;
select attname, null_frac, n_distinct, most_common_vals, most_common_freqs from pg_stats where tablename = 'u' and attname <> 'id' order by 1;
select attname, histogram_bounds from pg_stats where tablename = 'u' and attname in ('w', 'v', 'p') order by 1;
