-- Arguments for which PostgreSQL's own arithmetic overflows, or that are otherwise at an end.
select right('true', -2147483648), right('true', -2147483647), right('', -2147483648), left('true', -2147483648), right('äöü', -2147483648);
create table u (id int primary key, v varchar(9) collate "sv-x-icu", w text collate "de-x-icu", p text);
insert into u select g, 'b' || g % 7, 'c' || g, 'd' || g % 3 from generate_series(1, 300) g;
analyze u;
select attname, null_frac, n_distinct, most_common_vals, most_common_freqs from pg_stats where tablename = 'u' and attname <> 'id' order by 1;
select attname, histogram_bounds from pg_stats where tablename = 'u' and attname in ('w', 'v', 'p') order by 1;
-- Infinities and NaN in templates of numbers with an ordinal's ending or Roman.
-- unordered
select to_char(n::float8, f), to_char(n::numeric, f) from (values ('Infinity'), ('-Infinity')) v(n), (values ('999th'), ('999TH'), ('999.99th'), ('FM999th'), ('S999th'), ('999V99th'), ('999999999.9th'), ('999')) w(f);
select to_char('Infinity'::float4, '999th'), to_char('-Infinity'::float4, 'FM999th');
select to_char('Infinity'::float8, '9999999999th');
select to_char('-Infinity'::float8, '9999999999th');
select to_char('NaN'::float8, '99.9th'), to_char('NaN'::float8, '99th'), to_char('NaN'::numeric, '999.9th');
select to_char('NaN'::float8, '999th');
select to_char('Infinity'::float8, 'RN'), to_char('-Infinity'::float4, 'RN'), to_char('NaN'::float8, 'FMRN'), to_char(1e20::float8, 'RN'), to_char(3e9::float8, 'RN');
select to_char('Infinity'::numeric, 'RN');
