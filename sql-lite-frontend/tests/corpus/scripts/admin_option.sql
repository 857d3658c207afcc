-- WITH ADMIN OPTION: who makes whom a member of what.

create role a;

create role b;

create role c;

create role d createrole;

create role su superuser;

create role z admin a role b, a;

create view members as select roleid::regrole, member::regrole, coalesce((select rolname from pg_roles where oid = grantor), 'gone') as grantor, admin_option from pg_auth_members where roleid >= 16384 order by 1, 2;

table members;

grant z to b with admin option;

grant z to b with admin option;

grant z to b;

revoke admin option for z from b;

revoke admin option for z from b;

revoke admin option for z from c;

revoke z from c;

grant z to b granted by a;

grant z to b with admin option granted by c;

grant z to b with admin option granted by nobody;

table members;

grant b to z;

grant z to z with admin option;

grant b (x) to c;

grant select to c;

grant b to c, public;

grant nobody to public;

grant c to a;

grant select on members to public;

grant usage on schema public to public;

-- What a holder of the option may do.
set role a;

grant z to c;

grant z to c with admin option granted by b;

grant z to c granted by a;

table members;

revoke z from c granted by b;

revoke z from c granted by nobody;

grant z, b to d;

table members;

grant b to d;

grant su to d;

grant a to d;

select pg_has_role('z', 'member with admin option'), pg_has_role('z', 'usage with grant option, foo');

select pg_has_role('z', 'member with admin option') as z, pg_has_role('z', 'usage with grant option') as z2, pg_has_role('a', 'usage with admin option') as a, pg_has_role('b', 'z', 'usage with grant option') as b, pg_has_role('d', 'z', 'Member with ADMIN option') as d, pg_has_role('su', 'z', 'usage with admin option') as su;

select pg_has_role('d', 'z', 'member  ,   usage with admin option') as neither, pg_has_role('c', 'member with admin option, usage') as second;

select pg_has_role('a', 'member with admin  option');

select grantee, role_name, is_grantable::text from information_schema.applicable_roles where grantee in ('a', 'b', 'c', 'd') order by 1, 2;

select grantee, role_name, is_grantable::text from information_schema.administrable_role_authorizations order by 1, 2;

revoke z from a;

grant z to c;

reset role;

-- By way of another role, inheriting or not.
grant z to a with admin option;

create role through noinherit in role a;

set role through;

select pg_has_role('z', 'usage with admin option'), pg_has_role('z', 'usage'), pg_has_role('z', 'member');

grant z to c;

revoke z from a;

reset role;

drop role through;

alter role z admin c;

create role twice admin a admin b;

create role twice login nologin;

create role twice role a user b;

create role twice in role a in group b;

alter role z createdb nocreatedb;

create role twice password 'x' encrypted password 'y';

-- CREATEROLE has it of all but superusers.
set role d;

create role y in role su;

create role y admin c, d;

create role x in role y admin y;

create role x admin pg_database_owner;

grant pg_database_owner to c with admin option;

grant su to d with admin option;

revoke admin option for su from d;

grant z to c with admin option;

grant z to b granted by c;

reset role;

-- A grantor that is gone stays gone.
drop role d;

select roleid::regrole, member::regrole, grantor::regrole::text ~ '^[0-9]+$' as gone, admin_option from pg_auth_members where roleid >= 16384 order by 1, 2;

set role c;

grant y to b;

grant y to b with admin option;

revoke admin option for y from b;

drop role y;

alter group y add user a;

alter group y drop user b;

reset role;

create user w admin current_user;

select pg_has_role('postgres', 'w', 'member');

drop role w;

begin;

grant y to a with admin option;

table members;

rollback;

table members;

-- differs: a role that grants cannot be dropped before what it granted
drop role a, b, c, z, y, su;

drop owned by c;

select count(*) from pg_auth_members where roleid >= 16384;
