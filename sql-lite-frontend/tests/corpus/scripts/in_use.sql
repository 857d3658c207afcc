-- Definitions and rows that a cursor reads, or that checks are outstanding for; cursors' options.

create table par (id int primary key, v int);

create table chi (id int primary key, p int references par deferrable initially deferred);

insert into par values (1, 10), (2, 20);

begin;

declare c cursor for select * from par order by id;

fetch c;

savepoint s;

alter table par add column x int;

rollback to s;

truncate par;

rollback to s;

drop table par cascade;

rollback to s;

create index on par (v);

rollback to s;

reindex table par;

rollback to s;

alter table chi add column x int;

fetch c;

close c;

alter table par add column x int;

rollback;

begin;

insert into chi values (1, 9);

alter table chi add column x int;

rollback;

begin;

insert into chi values (1, 1);

drop table chi;

rollback;

begin;

insert into chi values (1, 1);

set constraints all immediate;

alter table chi add column x int;

rollback;

begin;

declare c scroll no scroll cursor for select 1;

rollback;

begin;

declare c insensitive asensitive cursor for select 1;

rollback;

begin;

declare c scroll cursor for select * from par for share;

rollback;

begin;

declare c insensitive cursor for select * from par for no key update;

rollback;

begin;

declare c cursor with hold for select * from par for key share;

rollback;

declare c cursor with hold for select * from par for update;

begin;

declare c insensitive no scroll cursor for select * from par order by id;

fetch 2 from c;

commit;
