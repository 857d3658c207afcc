-- Sizes of relations, and sizes as people write them.

select pg_size_pretty(x) from (values (0::bigint), (1023), (10239), (10240), (20971519), (-10240), (9223372036854775807)) v(x);

select pg_size_pretty(x) from (values (0::numeric), (1.5), (10239.9), (10240), (20971519), (-10240.5), (1e30)) v(x);

select pg_size_pretty(sum(x)) from (values (1000000::bigint), (2000000)) v(x);

select x, pg_size_bytes(x) from (values ('1'), ('123bytes'), ('1kB'), (' 1 MB '), ('1.5 GB'), ('1TB'), ('1 pb'), ('-1 kb'), ('1e3'), ('1e1 kB'), ('.5 MB'), ('5.')) v(x);

select pg_size_bytes('1 AB');

select pg_size_bytes('1 B x');

select pg_size_bytes('');

select pg_size_bytes('kb');

select pg_size_bytes('1e100');

select pg_size_bytes('.');

create table empty (a int);

select pg_relation_size('empty', 'fsm'), pg_relation_size('empty', 'init'), pg_indexes_size('empty');

select pg_relation_size('empty', 'nope');

select pg_relation_size('nothing');

select pg_relation_size(99999), pg_total_relation_size(99999), pg_database_size(99999);

select pg_database_size('nothing');

create table filled (a int primary key, b text);

insert into filled select g, repeat('x', 500) from generate_series(1, 2000) g;

create index on filled (b);

select pg_relation_size('filled') between 900000 and 2000000, pg_table_size('filled') >= pg_relation_size('filled'), pg_indexes_size('filled') > 0, pg_total_relation_size('filled') = pg_table_size('filled') + pg_indexes_size('filled'), pg_relation_size('filled_b_idx') > 0;

select pg_database_size(current_database()) >= pg_total_relation_size('filled');
