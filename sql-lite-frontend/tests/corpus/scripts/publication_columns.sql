-- Columns that a publication's filter reads keep their type.
create table pt (a int primary key, b text, c int);
create publication pp for table pt where (a > 0 and b <> 'x');
alter table pt alter b type varchar(9);
alter table pt alter a type bigint;
alter table pt alter c type bigint;
alter table pt rename b to bb;
alter table pt alter bb type varchar(9);
alter table pt drop bb;
alter publication pp set table pt (a, bb);
alter table pt alter bb type varchar(9);
alter publication pp set table pt;
alter table pt alter bb type text;
drop publication pp;
