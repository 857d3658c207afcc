-- What stands between FETCH FIRST and ROWS may be any expression; a view keeps it.
create table t (a int);
insert into t values (1), (1), (2), (3);
create view ties as select a from t order by a fetch first (1::bigint) rows with ties;
create view sums as select a from t order by a fetch first (1 + 1) rows with ties;
create view calls as select a from t order by a fetch first (abs(-3)) rows with ties;
create view inner_ones as
  select * from (select a from t order by a fetch first (2 - 1) rows with ties) s
  where a::text <> ' ROWS ' order by a fetch first (select 2) rows with ties;
create view constants as select a from t order by a fetch first 1 row with ties;
select * from ties;
select * from sums;
select * from calls;
select * from inner_ones;
select * from constants;
select count(*) from pg_views where schemaname = 'public' and definition is not null;
select count(*) from information_schema.views where table_schema = 'public' and view_definition is not null;
