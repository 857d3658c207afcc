-- CREATE INDEX and what an index must keep true: uniqueness, NULLs, expressions, predicates, order.
create table t (a int, b text, c int, d timestamp);
insert into t select n, 'b' || n % 7, case when n % 4 = 0 then null else n % 10 end, timestamp '2024-01-01' + n * interval '1 hour' from generate_series(1, 200) n;
create index on t (a);
create index t_b on t (b);
create index t_b on t (b);
create index if not exists t_b on t (b);
create index if not exists on t (b);
create index t_ca on t (c desc nulls last, a);
create index on t (nosuch);
create index on nosuch (a);
create index on t (a, a);
create index on t ((a + c));
create index on t (lower(b), a desc);
create index on t (a) where c is not null;
create index on t (count(*));
create index on t ((select 1));
create index on t ((random()));
create index on t (a) where random() > 0.5;
create index on t (a) where c;
create index on t (a) include (b, c);
create index t_inc on t (b) include (nosuch);
-- differs: refused: access method "nosuch"
create index on t using nosuch (a);
create index on t using btree (a);
create index on t (b text_pattern_ops);
-- differs: bug: PostgreSQL refuses it
create index on t (b nosuch_ops);
create index on t (b collate "C");
-- differs: bug: PostgreSQL refuses it
create index on t (b collate "nosuch");
create index concurrently t_conc on t (d);
create index on t (a) with (fillfactor = 50);
-- differs: bug: PostgreSQL refuses it
create index on t (a) with (nosuch = 50);
create index t_space on t (a) tablespace pg_default;
-- differs: bug: other rows
select relname from pg_class where relkind = 'i' and relname like 't\_%' order by 1;
-- differs: bug: other rows
select indexdef from pg_indexes where tablename = 't' order by indexname;
select a from t where a = 100;
select count(*) from t where a > 190;
select count(*) from t where a between 10 and 20;
select a from t where a in (5, 500, 7) order by a;
select count(*) from t where b = 'b3';
select a from t where b = 'b3' and a < 20 order by a;
select a from t where b = 'b3' order by a desc limit 2;
select c, a from t order by c desc nulls last, a limit 3;
select c, a from t order by c, a desc limit 3;
select c, a from t order by c nulls first, a limit 3;
select count(*) from t where c is null;
select count(*) from t where c is not null;
select count(*) from t where c = 3 and a < 50;
select count(*) from t where c > 7 or a < 5;
select count(*) from t where c in (1, 2) and a in (1, 2, 11, 12);
select max(a), min(a) from t;
select max(c), min(c) from t;
select max(b) from t where a < 100;
select count(*) from t where a + c = 20;
select count(*) from t where lower(b) = 'b1';
select count(*) from t where b like 'b1%';
select count(*) from t where b >= 'b5' and b < 'b6';
select count(*) from t where d >= '2024-01-05' and d < '2024-01-06';
select count(*) from t where a = 5.5;
select count(*) from t where a = 5.0;
select count(*) from t where a = 5::bigint;
select count(*) from t where a > 198.5;
select count(*) from t where a < 3::numeric;
select count(*) from t where a = null;
select count(*) from t where a is not distinct from 5;
select count(*) from t where a <> 5;
select count(*) from t where not a > 5;
select count(*) from t where a > 5 and a > 100 and a < 150 and a < 120;
select count(*) from t where a > 100 and a < 50;
select count(*) from t where a >= 5 and a <= 5;
select count(*) from t where (a, b) > (198, 'b0');
select count(*) from t where (a, b) = (10, 'b3');
select count(*) from t where (c, a) > (8, 100);
select x.a from t x join t y on y.a = x.a + 1 where x.a > 197 order by 1;
select count(*) from t x join t y on y.b = x.b and y.a = x.a;
select a from t where a = any (array[1, 2, 3]) order by a desc;
select a from t where a = (select max(a) from t);
select a from t where a >= all (select a from t);
create unique index t_unique on t (a);
create unique index t_unique_b on t (b) where a in (1, 8);
insert into t values (1, 'dup', 1, null);
insert into t values (null, 'n1', 1, null), (null, 'n2', 1, null);
update t set a = a + 1 where a = 200;
update t set a = 5 where a = 6;
update t set a = a + 1;
create unique index t_nnd on t (b, c) nulls not distinct where a is null;
insert into t values (null, 'n1', 1, null);
insert into t values (null, 'n3', null, null), (null, 'n3', null, null);
create unique index t_lower on t (lower(b)) where a > 195;
insert into t values (300, 'B4', null, null);
insert into t values (300, 'Z4', null, null);
insert into t values (301, 'z4', null, null);
update t set b = 'z4' where a = 299;
update t set b = 'z4' where a = 198;
update t set a = 1000 where a = 10;
delete from t where a = 300;
insert into t values (301, 'z4', null, null);
drop index t_unique;
insert into t values (1, 'dup', 1, null);
drop index nosuch;
drop index if exists nosuch;
drop index t_b, t_ca;
drop index t;
drop table t_lower;
select count(*) from t where b = 'b3';
-- differs: refused: REINDEX
reindex table t;
-- differs: refused: REINDEX
reindex index t_lower;
-- differs: refused: CLUSTER
cluster t using t_lower;
create table u (k1 int, k2 text, v int, primary key (k1, k2));
insert into u select n % 5, 'k' || n, n from generate_series(1, 50) n;
select v from u where k1 = 3 and k2 = 'k3';
select count(*) from u where k1 = 3;
select k2 from u where k1 = 2 order by k2 desc limit 2;
select k1, max(k2) from u group by k1 order by k1;
select v from u where k2 = 'k7';
select v from u where k1 in (1, 2) and k2 in ('k1', 'k2', 'k6') order by v;
select v from u where (k1, k2) in ((1, 'k1'), (2, 'k2'), (3, 'k1')) order by v;
insert into u values (1, 'k1', 0);
update u set k2 = 'k6' where k1 = 1 and k2 = 'k1';
update u set k1 = k1 + 10 where k1 = 1;
select count(*) from u where k1 = 11;
drop index u_pkey;
create table e (a int unique nulls not distinct);
insert into e values (null);
insert into e values (null);
drop table e;
create table big_keys (k text primary key);
-- differs: bug: it fails
insert into big_keys values (repeat('x', 1000)), (repeat('y', 2000));
-- differs: bug: PostgreSQL refuses it
insert into big_keys values (repeat('x', 1000));
-- differs: bug: other rows
select length(k) from big_keys order by k;
-- differs: bug: other rows
select length(k) from big_keys where k = repeat('y', 2000);
drop table t, u, big_keys;
