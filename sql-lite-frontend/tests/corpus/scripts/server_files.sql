-- Files and programs of the server: COPY, pg_read_file() and its like, lo_import() and lo_export().

create table f (a int, b text);
insert into f values (1, 'one'), (2, null), (3, E'tab\there');
copy f to program 'cat > corpus_copy.txt';
copy f to program 'cat > corpus_copy.csv' (format csv, header);
copy f to program 'cat > corpus_copy.bin' (format binary);
select pg_read_file('corpus_copy.txt');
select pg_read_file('corpus_copy.csv', 2, 7), pg_read_file('./corpus_copy.csv', -5, 100), pg_read_file('corpus_copy.csv', 1000, 3);
select pg_read_binary_file('corpus_copy.bin', 0, 11), length(pg_read_binary_file('corpus_copy.bin'));
copy f from 'corpus_copy.txt';
copy f from './corpus_copy.csv' (format csv, header match);
copy f from 'corpus_copy.bin' (format binary);
copy f (b) from 'corpus_copy.txt';
copy f from 'corpus_copy.csv';
copy f from 'corpus_copy.txt' where a = 3;
select a, b, count(*) from f group by 1, 2 order by 1, 2;
copy f from program 'cat corpus_copy.txt' where a < 3;
copy f from program 'cat corpus_copy.bin; cat corpus_copy.bin' (format binary);
copy f from program 'printf "%s\n" "x	y"';
copy f from program 'printf "%s\n" 1';
copy f (a) from program 'printf "%s\n" 7 "\\." eight';
copy f (a) from program 'printf "%s\n" 7 "\\."; yes';
copy f (b) from program 'printf "%s\n" 7 "\\." eight' (format csv);
copy f (b) from program 'printf "%s\n" "\\."' (format csv);
select a, b from f where a = 7 or b in ('7', 'eight', '\.') order by 1, 2;

-- Files that cannot be opened.
copy f from 'corpus_nosuch';
copy f from '/nosuch/corpus';
copy f from '';
copy f to '';
copy f to 'corpus_copy.txt';
copy f to './corpus_copy.txt';
copy f to '/nosuch/corpus';
copy f from '/';
copy f to '/';
copy f from '/etc/passwd/x';
copy f to '/etc/passwd/x';
copy f to '/dev/null';
copy (select i, 'some text' from generate_series(1, 100000) i) to '/dev/null' (format csv);
copy f to '/dev/full';
copy (select i, 'some text' from generate_series(1, 100000) i) to '/dev/full';
copy f from '/dev/null';
copy nosuch from 'corpus_nosuch';
copy nosuch to '/nosuch/corpus';
copy f (nosuch) from 'corpus_nosuch';
copy f from 'corpus_nosuch' (nosuch);
copy f to 'corpus_nosuch' (format xml);

-- Programs that fail.
copy f from program 'exit 3';
copy f from program 'cat corpus_copy.txt; exit 4';
copy f from program 'corpus_no_such_program 2> /dev/null';
copy f from program '/ 2> /dev/null';
copy f from program 'kill -9 $$';
copy f from program 'kill -15 $$';
copy f from program '';
copy f to program 'exit 5';
copy f to program 'cat > /dev/null; true';
copy f to program 'corpus_no_such_program 2> /dev/null';
copy f to program 'kill -9 $$';
copy (select i, 'some text' from generate_series(1, 1000000) i) to program 'true';
copy (select i, 'some text' from generate_series(1, 1000000) i) to program 'exit 6';
copy (select i, 1 / (i - 100000) from generate_series(1, 200000) i) to program 'cat > /dev/null';
copy (select 'out'::text) to program 'cat > corpus_out.txt';
copy (select 'out'::text) to program 'cat > corpus_out.txt' (header);
select pg_read_file('corpus_out.txt');
begin read only;
copy f to program 'cat > /dev/null';
copy f from 'corpus_copy.txt';
rollback;

-- Within routines.
create function export() returns void language plpgsql as $$ begin copy f (a) to program 'sort -u | head -2 | tr "\n" " " > corpus_out.txt'; end $$;
select export();
select pg_read_file('corpus_out.txt');
create function import() returns bigint language plpgsql as $$ declare n bigint; begin copy f from 'corpus_copy.txt'; get diagnostics n = row_count; return n; end $$;
select import();
create function from_client() returns void language plpgsql as $$ begin copy f from stdin; end $$;
select from_client();

-- Encodings.
copy (select 'ä'::text) to program 'cat > corpus_out.txt' (encoding 'latin1');
select pg_read_binary_file('corpus_out.txt');
select pg_read_file('corpus_out.txt');
-- differs: the bytes that the error shows end with the line
copy f (b) from 'corpus_out.txt';
copy f (b) from 'corpus_out.txt' (encoding 'latin1');
select b from f where b = 'ä';

-- Other functions.
select size, isdir, modification > '2020-01-01', creation from pg_stat_file('corpus_copy.txt');
select (pg_stat_file('.')).isdir;
select pg_stat_file('corpus_nosuch');
select pg_stat_file('corpus_nosuch', true) is null;
select * from pg_stat_file('corpus_nosuch', true);
select d from pg_ls_dir('.') d where d like 'corpus\_%' order by 1;
select count(*) from pg_ls_dir('.', false, true) d where d in ('.', '..');
select * from pg_ls_dir('corpus_nosuch');
select * from pg_ls_dir('corpus_nosuch', true, false);
select * from pg_ls_dir('corpus_copy.txt');
select pg_read_file('corpus_nosuch');
select pg_read_file('corpus_nosuch', true), pg_read_binary_file('corpus_nosuch', 0, 1, true);
select pg_read_file('corpus_copy.txt', 0, -1);
select pg_read_file('corpus_copy.txt', 0, 2147483648);
select pg_read_file('.');
select pg_read_file('x/../corpus_copy.txt', 0, 1);
select pg_read_file(null);
select lo_import('corpus_copy.txt', 4711);
select convert_from(lo_get(4711), 'utf8');
select lo_export(4711, 'corpus_lo.txt');
select pg_read_file('corpus_lo.txt') = pg_read_file('corpus_copy.txt');
select lo_export(4711, '/nosuch/corpus');
select lo_export(4712, 'corpus_lo.txt');
select lo_import('corpus_nosuch');
select lo_import('corpus_copy.txt', 4711);
select lo_unlink(4711);
select lo_unlink(lo_import('corpus_copy.bin'));

-- Rights.
create role reader;
create role writer;
create role runner;
create role nothing;
grant all on f to public;
grant pg_read_server_files to reader;
grant pg_write_server_files to writer;
grant pg_execute_server_program to runner;
set role nothing;
copy f from 'corpus_copy.txt';
copy f to '/dev/null';
copy f from program 'true';
copy f to program 'true';
copy nosuch from 'corpus_copy.txt';
select pg_read_file('corpus_copy.txt');
select pg_read_binary_file('corpus_copy.txt');
select pg_stat_file('corpus_copy.txt');
select pg_ls_dir('.');
select lo_import('corpus_copy.txt');
select lo_export(1, 'corpus_lo.txt');
select has_function_privilege('lo_import(text)', 'execute'), has_function_privilege('pg_read_file(text)', 'execute'), has_function_privilege('pg_ls_dir(text)', 'execute'), has_function_privilege('pg_stat_file(text)', 'execute');
set role reader;
copy f from 'corpus_copy.txt';
copy f to '/dev/null';
copy f from program 'true';
select pg_read_file('corpus_copy.txt');
set role writer;
copy f from 'corpus_copy.txt';
copy f to '/dev/null';
copy f to program 'true';
set role runner;
copy f from 'corpus_copy.txt';
copy f to '/dev/null';
copy f from program 'cat corpus_copy.txt';
copy f to program 'cat > /dev/null';
reset role;
copy (select 1) to program 'cat > /dev/null; rm corpus_*';
select count(*) from pg_ls_dir('.') d where d like 'corpus\_%';
