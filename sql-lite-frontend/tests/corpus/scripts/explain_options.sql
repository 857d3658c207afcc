-- Options of EXPLAIN that PostgreSQL 16 to 18 have, as far as an answer is no plan.

explain (serialize text) select 1;
explain (serialize) select 1;
explain (serialize binary) select 1;
explain (serialize none, costs off) select 1;
explain (serialize off, costs off) select 1;
explain (serialize nosuch) select 1;
explain (serialize 5) select 1;
explain (analyze, generic_plan) select 1;
explain (generic_plan maybe) select 1;
explain (memory maybe) select 1;
explain (memory off, costs off) select 1;
explain (nosuch) select 1;
explain (analyze off, serialize off, memory false, generic_plan false, costs off) select 1;
set transaction_timeout = '5s';
show transaction_timeout;
set transaction_timeout = '1 day';
select name, setting, unit, min_val, max_val, vartype, context from pg_settings where name = 'transaction_timeout';
begin;
set local transaction_timeout = '1h';
show transaction_timeout;
commit;
reset transaction_timeout;
show transaction_timeout;
explain (costs off, generic_plan) select $1;
explain (generic_plan) select * from nosuch where a = $1;
explain (costs off) select $1 + 1;
create table explained (a int primary key, b text);
explain (generic_plan, analyze) select * from explained where a = $1;
-- differs: a parameter that is not used, between used ones
explain (generic_plan) select * from explained where a = $1 and b = $3;
explain (format xml, costs off) select 1;
explain (format yaml, costs off) select 1;
explain (format json, costs off) select 1;
explain (format yaml, costs off) select * from explained where b = '<a> & "b"';
explain (format xml, costs off) select * from explained where b = '<a> & "b"';
-- differs: the plan is our own
explain (format xml, costs off) select count(*) from explained where b > 'a' and a = (select max(a) from explained);
-- differs: the plan is our own
explain (format yaml, costs off) select count(*) from explained where b > 'a' and a = (select max(a) from explained);
explain (format toml) select 1;
explain (format) select 1;
explain (settings, costs off) select 1;
set enable_hashjoin = off;
set search_path = public, pg_catalog;
set work_mem = '1MB';
explain (settings, costs off) select 1;
explain (settings off, costs off) select 1;
explain (settings, costs off, format json) select 1;
explain (settings, costs off, format yaml) select 1;
explain (settings, costs off, format xml) select 1;
reset work_mem;
reset enable_hashjoin;
reset search_path;
explain (settings, costs off, format xml) select 1;
explain (wal) select 1;
explain (settings maybe) select 1;
