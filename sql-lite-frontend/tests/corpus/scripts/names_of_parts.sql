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
