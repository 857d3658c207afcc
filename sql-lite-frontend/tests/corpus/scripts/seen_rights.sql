-- What the catalogs show of rights and definitions is for whom they concern.
create role owner_r; create role holder_r; create role other_r; create role member_r in role owner_r;
grant create on schema public to owner_r, other_r;
set role owner_r;
create table t (id int primary key, n int not null check (n > 0), unique (n));
create table k (id int primary key references t);
create view v as select id from t;
create sequence s;
create table open_t (a int);
grant select on open_t to public;
grant select, insert on t to holder_r with grant option;
grant update (n) on t to holder_r;
grant usage on sequence s to holder_r;
set role holder_r;
-- Whoever is neither giver nor taker sees none but what everybody has.
-- differs: information_schema's types have no lengths
select grantor, grantee, table_name, privilege_type, is_grantable from information_schema.table_privileges where table_schema = 'public' order by 1, 2, 3, 4;
select grantor, grantee, table_name, privilege_type from information_schema.role_table_grants where table_schema = 'public' order by 1, 2, 3, 4;
select grantor, grantee, table_name, column_name, privilege_type from information_schema.column_privileges where table_schema = 'public' order by 1, 2, 3, 4, 5;
select constraint_name, check_clause from information_schema.check_constraints where constraint_schema = 'public' order by 2;
select constraint_name, unique_constraint_name from information_schema.referential_constraints order by 1;
select view_name, table_name from information_schema.view_table_usage where table_schema = 'public' order by 1, 2;
select sequence_name from information_schema.sequences order by 1;
select constraint_name, constraint_type from information_schema.table_constraints where table_schema = 'public' and constraint_name !~ 'not_null' order by 1;
set role other_r;
select grantor, grantee, table_name, privilege_type from information_schema.table_privileges where table_schema = 'public' order by 1, 2, 3, 4;
select grantor, grantee, table_name, privilege_type from information_schema.role_table_grants where table_schema = 'public' order by 1, 2, 3, 4;
select grantor, grantee, table_name, column_name, privilege_type from information_schema.column_privileges where table_schema = 'public' order by 1, 2, 3, 4, 5;
select count(*) from information_schema.check_constraints where constraint_schema = 'public';
select constraint_name from information_schema.referential_constraints order by 1;
select view_name, table_name from information_schema.view_table_usage where table_schema = 'public' order by 1, 2;
select sequence_name from information_schema.sequences order by 1;
set role member_r;
select grantor, grantee, table_name, privilege_type from information_schema.table_privileges where table_schema = 'public' and table_name = 't' order by 1, 2, 3, 4;
select check_clause from information_schema.check_constraints where constraint_schema = 'public' order by 1;
select constraint_name from information_schema.referential_constraints order by 1;
select view_name, table_name from information_schema.view_table_usage where table_schema = 'public' order by 1, 2;
select sequence_name from information_schema.sequences order by 1;
-- What only superusers may read.
select count(*) from pg_backend_memory_contexts;
select count(*) from pg_config;
select count(*) from pg_file_settings;
select count(*) from pg_hba_file_rules;
select count(*) from pg_ident_file_mappings;
select count(*) from pg_largeobject;
select count(*) from pg_replication_origin_status;
select count(*) from pg_shmem_allocations;
select count(*) from pg_statistic;
select count(*) from pg_statistic_ext_data;
select count(*) from pg_user_mapping;
select count(*) from pg_authid;
select count(*) from pg_shadow;
reset role;
-- DISCARD ALL closes what was held, too.
begin;
declare held cursor with hold for select 1;
commit;
discard all;
fetch held;
-- What was prepared asks for the schema's right again.
create schema guarded;
create table guarded.g (a int);
insert into guarded.g values (1);
grant usage on schema guarded to other_r;
grant select on guarded.g to other_r;
set role other_r;
prepare p as select a from guarded.g;
execute p;
reset role;
revoke usage on schema guarded from other_r;
set role other_r;
-- differs: the error's position
execute p;
reset role;
grant usage on schema guarded to other_r;
set role other_r;
execute p;
-- And so does a temporary table that is not the session's first.
create temp table first_temp (a int);
reset role;
do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$;
set role other_r;
do $$ begin create temp table second_temp (a int); exception when insufficient_privilege then raise notice 'refused'; end $$;
