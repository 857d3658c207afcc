-- What a long command says of itself while it runs.
create table long (a int primary key, b text);
insert into long select i, 'row ' || i from generate_series(1, 3) i;
copy (select datname = current_database() as here, relid, command, type, bytes_total, tuples_processed, tuples_excluded from pg_stat_progress_copy where pid = pg_backend_pid()) to stdout;
create function say_copy() returns trigger language plpgsql as $$ declare p record; begin for p in select * from pg_stat_progress_copy where pid = pg_backend_pid() loop raise notice '% % % %', p.command, p.type, p.relid::regclass, p.bytes_total; end loop; return new; end $$;
create trigger say before insert on long for each row execute function say_copy();
copy long from stdin where a % 2 = 0;
7	seven
8	eight
\.
insert into long values (9, 'nine');
create function say_index(int) returns int immutable language plpgsql as $$ declare p record; begin select * into p from pg_stat_progress_create_index where pid = pg_backend_pid(); raise notice '% % % %', p.command, p.phase, p.relid::regclass, p.partitions_total; return $1; end $$;
-- differs: the context has the function's schema
create index long_said on long (say_index(a)) where a = 1;
-- differs: the context has the function's schema
reindex index long_said;
select count(*) from pg_stat_progress_copy;
select count(*) from pg_stat_progress_create_index;
select count(*) from pg_stat_progress_analyze;
select count(*) from pg_stat_progress_vacuum;
select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'pg_stat_progress_copy'::regclass and attnum > 0 order by attnum;
select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'pg_stat_progress_create_index'::regclass and attnum > 0 order by attnum;
select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'pg_stat_progress_analyze'::regclass and attnum > 0 order by attnum;
