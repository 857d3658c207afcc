-- What a cursor shows does not depend on what its transaction does after DECLARE.

create table t (id int primary key, v int);

create index on t (v);

insert into t select g, g * 10 from generate_series(1, 6) g;

begin;

declare c cursor for select * from t order by id;

fetch 2 from c;

update t set v = -v where id = 4;

update t set id = id + 100 where id = 5;

delete from t where id = 6;

insert into t values (7, 70);

fetch all from c;

fetch backward all from c;

select * from t order by id;

rollback;

begin isolation level repeatable read;

declare c no scroll cursor for select id, v from t where v > 20;

fetch 1 from c;

update t set v = v + 1000;

fetch all from c;

rollback;

begin;

declare c cursor for select id from t order by id;

declare d cursor for select id from t order by id desc;

fetch 1 from c;

delete from t;

fetch 2 from d;

insert into t values (50, 1);

fetch all from c;

fetch all from d;

rollback;

begin;

declare c cursor with hold for select id from t order by id;

fetch 1 from c;

delete from t where id > 3;

commit;

fetch all from c;

close c;

insert into t values (4, 40), (5, 50), (6, 60);

begin;

declare c cursor for select * from t order by id;

fetch 1 from c;

update t set v = 0 where current of c returning *;

fetch 1 from c;

delete from t where current of c;

fetch all from c;

rollback;

begin;

declare c cursor for select id, 10 / (4 - id) from t order by id;

fetch 1 from c;

update t set v = 1;

fetch 2 from c;

fetch 1 from c;

rollback;

begin;

declare c no scroll cursor for select * from (values (1), (2)) v;

move backward all from c;

fetch prior from c;

rollback;

begin;

declare c no scroll cursor for select * from (values (1), (2)) v;

fetch last from c;

rollback;

begin;

declare c no scroll cursor for select * from (values (1), (2)) v;

fetch absolute 2 from c;

fetch relative 0 from c;

rollback;

begin;

declare c no scroll cursor for select * from (values (1), (2)) v;

fetch backward 0 from c;

rollback;
