-- REASSIGN OWNED and DROP OWNED.

drop owned by nobody_at_all;

create table k (a int);

create role leaver;

create role heir;

grant select on k to leaver;

create table rt(a int);

alter table rt owner to leaver;

create view rv as select 1 as x;

alter view rv owner to leaver;

create schema rs authorization leaver;

grant usage on schema public to leaver;

reassign owned by leaver to heir;

select relname, pg_get_userbyid(relowner) from pg_class where relname in ('rt','rv','k') order by 1;

select nspname, pg_get_userbyid(nspowner) from pg_namespace where nspname='rs';

select grantee, privilege_type from information_schema.role_table_grants where table_name = 'k' and grantee like 'leaver' order by 1, 2;

drop role leaver;

drop owned by leaver;

drop role leaver;

drop owned by heir;

select relname from pg_class where relname in ('rt','rv','k') order by 1;

select nspname from pg_namespace where nspname='rs';

drop owned by heir cascade;

drop role heir;

create role leaver;

create table ro(a int primary key);

alter table ro owner to leaver;

create table rf(a int references ro);

drop owned by leaver;

drop owned by leaver restrict;

drop owned by leaver, current_user cascade;

drop owned by leaver cascade;

drop role leaver;

reassign owned by nobody to postgres;
