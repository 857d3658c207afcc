-- aclexplode and acldefault.
create role exploded_reader;
create role "Odd name";
create table kept (a int, b int);
select a.privilege_type, a.is_grantable, a.grantor = a.grantee from pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a where c.relname = 'kept' order by 1;
grant select, insert on kept to exploded_reader with grant option;
grant update (b) on kept to "Odd name";
grant select on kept to public;
select coalesce(r.rolname, 'public') as grantee, a.privilege_type, a.is_grantable from pg_class c cross join lateral aclexplode(c.relacl) a left join pg_roles r on r.oid = a.grantee where c.relname = 'kept' and a.grantee <> c.relowner order by 1, 2;
select attname, r.rolname, x.privilege_type, x.is_grantable from pg_attribute a, aclexplode(a.attacl) x, pg_roles r where a.attrelid = 'kept'::regclass and r.oid = x.grantee;
select (aclexplode(relacl)).privilege_type, (aclexplode(relacl)).grantee = 0 as everybody from pg_class where relname = 'kept' order by 2, 1;
select count(*) from aclexplode(null);
-- differs: an empty array of privileges has no dimension to be wrong
select count(*) from aclexplode('{}');
select k, replace(acldefault(k::"char", r.oid)::text, rolname, 'owner') from (values ('c'), ('r'), ('s'), ('d'), ('f'), ('l'), ('L'), ('n'), ('p'), ('t'), ('F'), ('S'), ('T')) v(k), pg_roles r where rolname = 'exploded_reader' order by k;
select acldefault('r', oid) from pg_roles where rolname = 'Odd name';
drop table kept;
drop role exploded_reader;
drop role "Odd name";
