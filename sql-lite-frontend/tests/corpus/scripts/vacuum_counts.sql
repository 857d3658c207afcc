-- What VACUUM leaves for those who watch it.
create table vacuumed (id int primary key, created int, note text);
create index on vacuumed (created);
insert into vacuumed select i, i, 'note ' || i from generate_series(1, 2000) i;
select n_dead_tup, vacuum_count, last_vacuum is null as never, autovacuum_count from pg_stat_user_tables where relname = 'vacuumed';
delete from vacuumed where id % 10 <> 0;
vacuum vacuumed;
select vacuum_count, last_vacuum is null as never from pg_stat_user_tables where relname = 'vacuumed';
select n_dead_tup, pg_stat_get_dead_tuples('vacuumed'::regclass), pg_stat_get_vacuum_count('vacuumed'::regclass), pg_stat_get_last_vacuum_time('vacuumed'::regclass) = last_vacuum as same from pg_stat_user_tables where relname = 'vacuumed';
select count(*), min(id), max(created) from vacuumed;
vacuum (analyze) vacuumed;
select vacuum_count from pg_stat_user_tables where relname = 'vacuumed';
select count(*) from vacuumed where created > 1000;
drop table vacuumed;
