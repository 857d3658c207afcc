-- INCLUDE and NULLS NOT DISTINCT: default names, and what definitions say.
create table t (a int, b int, c int, primary key (a) include (b), unique (b) include (c, a));
create index on t (a) include (b, c);
create index on t ((a + 1), b) include (c);
alter table t add unique (c) include (a);
alter table t add unique nulls not distinct (a, c);
alter table t add unique (b) include (b);
create table t2 (like t including all);
create unique index ti on t (a) include (b);
alter table t add unique using index ti;
select conrelid::regclass, conname, pg_get_constraintdef(oid), conkey from pg_constraint where contype <> 'n' and conrelid in ('t'::regclass, 't2'::regclass) order by 1, 2;
select indrelid::regclass, indexrelid::regclass, pg_get_indexdef(indexrelid), indnkeyatts, indnatts from pg_index where indrelid in ('t'::regclass, 't2'::regclass) order by 1, 2;
create table a_table_of_a_rather_long_name (a_column_of_a_rather_long_name int, another_column_of_a_long_name int);
create index on a_table_of_a_rather_long_name (a_column_of_a_rather_long_name) include (another_column_of_a_long_name);
alter table a_table_of_a_rather_long_name add unique (another_column_of_a_long_name) include (a_column_of_a_rather_long_name);
select relname from pg_class where relname like 'a\_table\_of%' order by 1;
