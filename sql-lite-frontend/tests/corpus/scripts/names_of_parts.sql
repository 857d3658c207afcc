-- The parts of an index are named by what its expressions are called now.
create function indexed_by(int) returns int language sql immutable as 'select $1';
create domain positive as int check (value > 0);
create table p (a int, b int) partition by range (a);
create table p1 partition of p for values from (0) to (10);
create index on p (indexed_by(b));
create index on p ((indexed_by(b) + 1));
create index on p (lower(b::text), indexed_by(a));
create index on p ((b::positive));
create table p2 partition of p for values from (10) to (20) partition by range (b);
create table p21 partition of p2 for values from (0) to (10);
select relname from pg_class where relname ~ '^p[0-9]*_' and relkind in ('i', 'I') order by 1;
drop table p;
-- differs: refused: COMPRESSION
create table compressed (a text compression pglz);
create table c (a text compression default, b int);
-- differs: refused: COMPRESSION
alter table c add d text compression pglz;
-- differs: refused: COMPRESSION
alter table c alter a set compression pglz;
create table d (a text compression default, b int);
select attname, attcompression from pg_attribute where attrelid = 'd'::regclass and attnum > 0 order by attnum;
create table e (a int, b int);
create index on e (indexed_by(b), (a + 1), lower(b::text));
create table f (like e including indexes);
select relname from pg_class where relname ~ '^[ef]_' order by 1;
select attname from pg_attribute where attrelid = 'f_indexed_by_expr_lower_idx'::regclass order by attnum;
drop table e, f;
-- Long names keep their kind and their number.
create table long_names (a_very_very_long_column_name_to_exceed_63_characters int unique, check (a_very_very_long_column_name_to_exceed_63_characters > 0), check (a_very_very_long_column_name_to_exceed_63_characters > 1));
create table refers_to_long (x int references long_names (a_very_very_long_column_name_to_exceed_63_characters), a_very_very_long_column_name_to_exceed_63_characters int references long_names (a_very_very_long_column_name_to_exceed_63_characters), foreign key (a_very_very_long_column_name_to_exceed_63_characters) references long_names (a_very_very_long_column_name_to_exceed_63_characters));
create index on long_names (a_very_very_long_column_name_to_exceed_63_characters);
create index on long_names (a_very_very_long_column_name_to_exceed_63_characters desc);
alter table refers_to_long add constraint refers_to_long_a_very_very_long_column_name_to_exceed_63__fkey2 check (true), add foreign key (a_very_very_long_column_name_to_exceed_63_characters) references long_names (a_very_very_long_column_name_to_exceed_63_characters);
select conrelid::regclass, conname from pg_constraint where conrelid in ('long_names'::regclass, 'refers_to_long'::regclass) order by 1, 2;
select indexrelid::regclass from pg_index where indrelid = 'long_names'::regclass order by indexrelid::regclass::text;
create domain a_very_very_long_domain_name_to_exceed_the_63_characters_of_a as int check (value > 0) check (value > 1);
select conname from pg_constraint where contypid = 'a_very_very_long_domain_name_to_exceed_the_63_characters_of_a'::regtype order by 1;
drop table long_names, refers_to_long;
