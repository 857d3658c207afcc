-- Text compared with names: both are in one family of operators, so an index serves.
create table t (id int primary key, owner text, v varchar(20), c text collate "C", n name);
insert into t select i, 'u' || i, 'u' || i, 'u' || i, 'u' || i from generate_series(1, 2000) i;
insert into t values (0, current_user, current_user, current_user, current_user), (-1, null, null, null, null);
create index t_owner on t (owner);
create index t_v on t (v);
create index t_c on t (c);
create index t_n on t (n);
analyze t;
explain (costs off) select * from t where c = current_user;
explain (costs off) select * from t where n = 'u7'::text;
explain (costs off) select * from t where c = 'u7'::name;
-- differs: there are no bitmap scans
explain (costs off) select * from t where c < 'u1'::name;
-- differs: "default" is the order of bytes here, so the index has the comparison's order
explain (costs off) select * from t where owner = current_user;
-- differs: the same
explain (costs off) select * from t where v = current_user;
select id from t where owner = current_user;
select id from t where current_user = owner;
select id from t where v = current_user;
select id from t where c = session_user;
select id from t where n = 'u7'::text;
select id from t where 'u7'::text = n;
select id from t where owner = 'u17'::name;
select count(*) from t where owner < 'u2'::name;
select count(*) from t where c >= 'u2'::name and c < 'u3'::name;
select count(*) from t where n > 'u2'::text and n <= 'u3'::varchar;
select count(*) from t where 'u2'::name > c;
select id from t where n = repeat('x', 70);
select id from t where n > repeat('u', 70) order by id limit 1;
select id from t where owner = null::name;
select count(*) from t a join t b on a.owner = b.n;
select count(*) from t a join t b on a.n = b.v and a.id > b.id - 1;
select count(*) from t where owner in (select n from t where id < 10);
select count(*) from t where n not in (select owner from t where id < 10 and owner is not null);
select id from t where owner = any (array['u5', 'u6']::name[]) order by id;
select a.id from t a, lateral (select b.id from t b where b.n = a.c offset 0) l where a.id in (3, 4) order by 1;
create function who() returns name language sql stable as 'select ''u9''::name';
select id from t where c = who();
update t set id = -5 where c = 'u9'::name returning id;
delete from t where n = 'u9'::text returning id;

-- Under a collation that has another order.
create table w (id int, a text collate "en-x-icu", n name);
insert into w values (1, 'a', 'a'), (2, 'B', 'B'), (3, 'b', 'b'), (4, 'A', 'A');
create index w_a on w (a);
create index w_n on w (n);
select id from w where a = 'B'::name;
select id from w where a < 'B'::name order by id;
select id from w where a < ('B'::name collate "en-x-icu") order by id;
select id from w where n < ('B'::text collate "en-x-icu") order by id;
select id from w where a = current_user;
-- differs: the message, which says what was about to be done
select x.id, y.id from w x join w y on x.a = y.n order by 1;
