-- Publications and replica identities: definitions, what the catalogs say, what is refused.
create table t (id int primary key, v text, n int, g int generated always as (n * 2) stored);
create table nokey (a int, b int not null);
create view w as select 1 as x;
create schema more;
create table more.one (a int primary key);

-- definitions
create publication p1 for table t;
create publication p1 for table t;
create publication p2 for table t (id, v) where (n > 3), nokey;
create publication p3;
create publication p4 for all tables with (publish = 'insert, delete');
create publication p5 for tables in schema more with (publish = 'truncate');
select pubname, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot from pg_publication order by 1;
select p.pubname, r.prrelid::regclass, r.prattrs from pg_publication_rel r join pg_publication p on p.oid = r.prpubid order by 1, 2;
select p.pubname, n.pnnspid::regnamespace from pg_publication_namespace n join pg_publication p on p.oid = n.pnpubid;
select * from pg_publication_tables order by 1, 2, 3;
select pg_get_expr(prqual, prrelid) from pg_publication_rel where prqual is not null;

-- refused definitions
create publication x with (publish = 'insert, upsert');
create publication x with (nonsense);
create publication x with (publish = 'insert', publish = 'update');
create publication x for table w;
create publication x for table pg_class;
create publication x for table nosuch;
create publication x for table t (nosuch);
create publication x for table t (id, id);
create publication x for table t (g);
create publication x for table t (ctid);
create publication x for table t where (n);
create publication x for table t where (n > random());
create publication x for table t where (nosuch > 1);
create publication x for table t (id), t (v);
create publication x for table t where (n > 1), t;
create publication x for table t (id), tables in schema more;
create publication x for tables in schema nosuch;
create publication x for tables in schema pg_catalog;
create temp table tt (a int);
create publication x for table tt;

-- changes
alter publication p3 add table nokey;
alter publication p3 add table nokey;
alter publication p3 drop table t;
alter publication p3 drop table nokey;
alter publication p3 set table t, nokey;
alter publication p3 set (publish = 'update');
alter publication p4 add table t;
alter publication p4 add tables in schema more;
alter publication p3 add tables in schema more;
alter publication p3 drop tables in schema public;
alter publication p3 rename to p6;
alter publication p6 rename to p1;
alter publication nosuch rename to x;
alter publication nosuch add table t;
select pubname, schemaname, tablename from pg_publication_tables where pubname = 'p6' order by 1, 2, 3;
comment on publication p6 is 'about it';
create role plain;
set role plain;
alter publication p6 set (publish = 'insert');
drop publication p6;
reset role;

-- columns that publications name
alter table t drop column v;
-- differs: the error's detail names one of the two
alter table t drop column n;
alter table t rename column n to m;
select pg_get_expr(prqual, prrelid) from pg_publication_rel where prqual is not null;

-- replica identity
select relname, relreplident from pg_class where relname in ('t', 'nokey', 'w') order by 1;
update nokey set a = 1;
insert into nokey values (1, 1);
update nokey set a = 1;
delete from nokey;
update nokey set a = 1 where false;
alter table nokey replica identity nothing;
update nokey set a = 1;
alter table nokey replica identity full;
update nokey set a = 2;
select relreplident from pg_class where relname = 'nokey';
create unique index by_a on nokey (a);
create unique index by_b on nokey (b);
create index plain_b on nokey (b);
create unique index part_b on nokey (b) where a > 1;
create unique index expr_b on nokey ((b + 1));
alter table nokey replica identity using index by_a;
alter table nokey replica identity using index plain_b;
alter table nokey replica identity using index part_b;
alter table nokey replica identity using index expr_b;
alter table nokey replica identity using index nosuch;
alter table nokey replica identity using index by_b;
select relreplident, indexrelid::regclass from pg_class c join pg_index i on i.indrelid = c.oid where relname = 'nokey' and indisreplident;
select pg_get_replica_identity_index('nokey'), pg_get_replica_identity_index('t');
delete from nokey;
alter table w replica identity full;
insert into t values (1, 'a', 1);
update t set v = 'b';
delete from t;

-- ends
drop table more.one;
select * from pg_publication_tables where schemaname = 'more';
drop schema more;
select count(*) from pg_publication_namespace;
drop publication p1, p2;
drop publication if exists p1;
drop publication p1;
drop table t;
select pubname from pg_publication order by 1;
drop publication p4, p5, p6;

-- whose they are
create role pub_owner superuser;
create role pub_heir;
create publication owned for all tables;
alter publication owned owner to pub_owner;
drop role pub_owner;
alter role pub_heir superuser;
reassign owned by pub_owner to pub_heir;
select pubname, pubowner::regrole from pg_publication;
drop role pub_owner;
drop owned by pub_heir;
select count(*) from pg_publication;
drop role pub_heir;
