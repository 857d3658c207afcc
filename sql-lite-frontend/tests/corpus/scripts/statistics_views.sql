-- What ANALYZE leaves in the catalogs, and counters that begin anew.
create table counted (id int primary key, n int);
create index counted_n on counted (n);
select relpages = 0 as none, reltuples from pg_class where relname = 'counted';
insert into counted select i, i % 10 from generate_series(1, 5000) i;
analyze counted;
select relname, relpages > 5 as several, reltuples from pg_class where relname in ('counted', 'counted_n') order by 1;
select relname, last_analyze > now() - interval '10 minutes' as just_now, last_autoanalyze, analyze_count from pg_stat_user_tables where relname = 'counted';
select age('100'::xid) is not null, mxid_age('1'::xid) is not null, pg_typeof(age('5'::xid)), pg_typeof(mxid_age('5'::xid));
select pg_stat_reset() is null;
select pg_stat_reset_single_table_counters('counted'::regclass) is null;
create extension if not exists plpgsql;
create extension plpgsql;
-- differs: refused: extensions
create extension if not exists nosuch;
drop table counted;
