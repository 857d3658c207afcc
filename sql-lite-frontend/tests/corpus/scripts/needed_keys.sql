-- A primary key that a view groups by cannot go alone.

create table kv(id int primary key, n text, m int unique);

create view kvv as select id, n, count(*) from kv group by id;

alter table kv drop constraint kv_pkey;

alter table kv drop constraint kv_pkey restrict;

alter table kv drop constraint kv_m_key;

create view kvw as select id, n from kv group by id, n;

alter table kv drop constraint kv_pkey cascade;

select * from kvv;
