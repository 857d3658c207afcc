-- Two-phase commit: PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED. The servers allow five.
show max_prepared_transactions;
create table t(id int primary key, v text);
insert into t values (1, 'one');

-- Outside a block, and where that has failed.
prepare transaction 'nothing';
select 1; prepare transaction 'nothing'; select 2;
commit prepared 'nothing';
rollback prepared 'nothing';
begin;
select 1/0;
commit prepared 'nothing';
prepare transaction 'nothing';
select gid from pg_prepared_xacts;

begin;
update t set v = 'changed' where id = 1;
insert into t values (2, 'two');
commit prepared 'nothing';
rollback;
begin;
update t set v = 'changed' where id = 1;
insert into t values (2, 'two');
rollback prepared 'nothing';
rollback;

begin;
update t set v = 'changed' where id = 1;
savepoint a;
insert into t values (2, 'two');
rollback to a;
insert into t values (3, 'three');
savepoint b;
insert into t values (4, 'four');
prepare transaction 'first';
select gid, owner, database = current_database(), prepared between now() - interval '1 hour' and now() from pg_prepared_xacts;
select gid, ownerid::regrole, dbid = (select oid from pg_database where datname = current_database()) from pg_prepared_xact();
select count(*) from pg_prepared_xacts x where x.transaction is not null;
-- unordered
select * from t;
select * from t where id = 1 for update nowait;
select * from t where id = 1 for key share skip locked;
set lock_timeout = '20ms';
-- differs: the error's context
insert into t values (3, 'mine');
alter table t add column w int;
reset lock_timeout;
-- pg_locks says so without a process.
select l.locktype, l.mode, l.granted, l.pid is null from pg_locks l where l.relation = 't'::regclass and l.locktype = 'relation' order by 2;

-- An identifier is one transaction's.
begin;
insert into t values (10, 'ten');
prepare transaction 'first';
select * from t where id = 10;
begin;
prepare transaction '0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901';
begin;
prepare transaction '';
select gid, length(gid) from pg_prepared_xacts order by gid;
rollback prepared '';

commit prepared 'first';
commit prepared 'first';
select * from t order by id;
select count(*) from pg_prepared_xacts;

-- Taken back.
begin;
delete from t where id > 1;
update t set v = 'for nothing';
prepare transaction 'second';
rollback prepared 'second';
select * from t order by id;

-- What SET said holds from now on, and what was LOCAL ends.
begin;
set application_name = 'kept';
set local work_mem = '1MB';
prepare transaction 'settings';
show application_name;
show work_mem;
rollback prepared 'settings';
show application_name;
reset application_name;

-- Reading alone, and nothing at all.
begin isolation level serializable read only;
select count(*) from t;
prepare transaction 'reader';
begin;
prepare transaction 'nobody';
select gid from pg_prepared_xacts order by gid;
commit prepared 'reader';
commit prepared 'nobody';

-- As many as there may be.
begin;
prepare transaction 'p1';
begin;
prepare transaction 'p2';
begin;
prepare transaction 'p3';
begin;
prepare transaction 'p4';
begin;
prepare transaction 'p5';
begin;
insert into t values (66, 'one too many');
prepare transaction 'p6';
select count(*) from pg_prepared_xacts;
select * from t where id = 66;
rollback prepared 'p1';
rollback prepared 'p2';
commit prepared 'p3';
commit prepared 'p4';
commit prepared 'p5';

-- What cannot be prepared.
begin;
create temp table x(i int);
prepare transaction 'temporary';
create temp table x(i int);
begin;
select * from x;
prepare transaction 'temporary';
begin;
insert into x values (1);
prepare transaction 'temporary';
begin;
insert into t values (7, 'beside it');
prepare transaction 'not temporary';
rollback prepared 'not temporary';
begin;
drop table x;
prepare transaction 'temporary';
begin;
listen channel;
prepare transaction 'listening';
begin;
notify channel;
prepare transaction 'saying';
begin;
unlisten *;
prepare transaction 'deaf';
rollback prepared 'deaf';
begin;
declare c cursor with hold for select 1;
prepare transaction 'holding';
begin;
declare c cursor for select 1;
fetch c;
prepare transaction 'cursor';
fetch c;
rollback prepared 'cursor';
begin;
select pg_advisory_lock(1);
select pg_advisory_xact_lock(1);
prepare transaction 'advisory';
select pg_advisory_unlock(1);
begin;
select pg_advisory_xact_lock(2), pg_advisory_xact_lock_shared(3, 4);
prepare transaction 'advisory';
select pg_try_advisory_lock(2), pg_try_advisory_lock(3, 4), pg_try_advisory_xact_lock_shared(3, 4);
select locktype, classid, objid, objsubid, mode, granted, pid is null from pg_locks where locktype = 'advisory' order by 2, 3;
commit prepared 'advisory';
select pg_try_advisory_xact_lock(2), pg_try_advisory_xact_lock(3, 4);

-- Deferred constraints are asked at the preparation.
create table parent(id int primary key);
create table child(parent int references parent deferrable initially deferred, n int unique deferrable initially deferred);
begin;
insert into child values (1, 1);
prepare transaction 'deferred';
select count(*) from child;
begin;
insert into child values (1, 1), (1, 1);
insert into parent values (1);
prepare transaction 'deferred';
begin;
insert into child values (1, 1);
insert into parent values (1);
prepare transaction 'deferred';
set lock_timeout = '20ms';
-- differs: the error's context
insert into child values (null, 1);
reset lock_timeout;
commit prepared 'deferred';
select * from child;

-- Definitions.
begin;
create table made(id serial primary key, v text);
insert into made(v) select 'row ' || g from generate_series(1, 100) g;
create index on made(v);
create view seen as select count(*) as n from made;
create type mood as enum ('sad', 'happy');
create function twice(int) returns int language sql as 'select $1 * 2';
alter table t add column w int default 5;
drop table child;
prepare transaction 'definitions';
select * from made;
select to_regclass('made'), to_regtype('mood'), to_regproc('twice');
set lock_timeout = '20ms';
-- differs: the error's position
select * from child;
reset lock_timeout;
commit prepared 'definitions';
select n from seen;
insert into made(v) values ('more') returning id > 100;
select 'happy'::mood > 'sad', twice(21);
select * from t where id = 1;
select * from child;
begin;
drop table made cascade;
truncate t;
prepare transaction 'definitions';
rollback prepared 'definitions';
select n from seen;
select count(*) from t;

-- By another role.
create role alice;
create role bob;
begin;
set local role alice;
prepare transaction 'of alice';
select gid, owner from pg_prepared_xacts;
set role bob;
commit prepared 'of alice';
rollback prepared 'of alice';
set role alice;
commit prepared 'of alice';
reset role;
drop role alice, bob;

-- AND CHAIN is for others, and routines have none of it.
do $$ begin execute 'prepare transaction ''x'''; end $$;
do $$ begin execute 'commit prepared ''x'''; end $$;
begin;
prepare transaction 'left';
select pg_size_pretty(0::bigint); rollback prepared 'left';
rollback prepared 'left';
