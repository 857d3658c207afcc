-- What has no variables is computed before the first row, whether there is one or not, and
-- however often a statement of that shape came before.
create table e (a int, t text);
select 1 / 0 from e;
select 6 / 3 from e;
select 1 / 0 from e;
select a from e where a = 10 / 2;
select a from e where a = 10 / 0;
select a from e where t = 'x' and a > 5 - 3;
select a from e where 5 % 0 = 1;
select a + 1 / 0 from e;
select a from e where a > 1 and 1 / 0 > a;
select a from e where a > 1 and 1 = 2 and 1 / 0 > a;
select a from e where 1 / 0 > a and 1 = 2;
select a from e where a = 3 or 1 = 1 or 1 / 0 > a;
select a from e where not (1 / 0 > a);
select 2147483 * 1000000 from e;
select 'x' || 1 / 0 from e;
select lower('X'), a from e where length('abc') = 3;
select 'abc' like 'a\' from e;
select 'a' ~ '(' from e;
select 'a' ~ 'b' from e;
-- differs: it is computed only where there is a row
select case when a = 1 then 1 / 0 end from e;
-- differs: it is computed only where there is a row
select coalesce(a, 1 / 0) from e;
select count(*) from e having 1 / 0 > 1;
-- differs: it is computed only where there is a row
select (select 1 / 0) from e;
-- differs: it is computed only where there is a row
select a from e where a in (1, 1 / 0);
select -5 from e;
select a from e where a = -5 and t = 'x';
-- differs: it is computed only where there is a row
update e set a = 1 / 0;
update e set a = a + -3 where t = 'y';
insert into e values (1, 'x');
select 1 / 0 from e;
select 6 / 3 from e;
select 6 / 0 from e where a = 7;
