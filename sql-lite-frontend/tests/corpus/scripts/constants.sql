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
select case when a = 1 then 1 / 0 end from e;
select coalesce(a, 1 / 0) from e;
select count(*) from e having 1 / 0 > 1;
-- differs: it is computed only where there is a row
select (select 1 / 0) from e;
select a from e where a in (1, 1 / 0);
select -5 from e;
select a from e where a = -5 and t = 'x';
update e set a = 1 / 0;
update e set a = a + -3 where t = 'y';
update e set t = 'x' where a > 1 / 0;
update e set t = lower('X') || 5 / 0, a = 1;
delete from e where 1 / 0 = a;
delete from e where a = 6 / 2;
select case when a = 1 then 1 else 1 / 0 end from e;
select case when 1 = 1 then a else 1 / 0 end from e;
select case when 1 = 2 then 1 / 0 else a end from e;
select case when null then 1 / 0 when a = 2 then 2 when true then 3 else 4 / 0 end from e;
select case when 1 / 0 = 1 then 1 end from e;
select case a when 1 then 2 else 3 end from e;
select case 1 when 2 then 1 / 0 end from e;
select case when now() is null then 1 / 0 end from e;
select coalesce(1, 1 / 0) from e;
select coalesce(null, a, 1 / 0) from e;
select coalesce(null, 2, 1 / 0), coalesce(a, 2, 1 / 0) from e;
select a from e where a in (1, 2, 3) and a not in (4, 5 / 5);
select a from e where a = any (array[1, 2 / 0]);
select array[a, 1 / 0] from e;
select greatest(a, 1 / 0) from e;
select (1 / 0) is null, a from e;
select a is distinct from 1 / 0 from e;
select row(a, 1 / 0) from e;
select a from e where a between 1 and 1 / 0;
select (case when a = 1 then 2 / 0 end) + 1 from e where t = 'z';
select a from e where case when a = 1 then 2 / 0 > 1 else true end;
select sum(case when a = 1 then 1 / 0 else 0 end) from e;
select count(*) filter (where a = 1 / 0) from e;
select a from e order by 1 / 0;
select a from e group by a, 1 / 0;
select a from e limit 1 / 0;
select x.a from e x join e y on x.a = y.a + 1 / 0;
select a from (select a, 1 / 0 as b from e) s;
-- differs: it is computed only where there is a row
select b from (select a, 1 / 0 as b from e) s;
select a from e where exists (select 1 / 0 from e);
-- differs: it is computed only where there is a row
select a from e where a in (select 1 / 0 from e);
with x as (select 1 / 0 as b) select a from e;
with x as (select 1 / 0 as b) select b from x, e;
select 1 / 0 from e union all select a from e;
-- differs: it is computed only where there is a row
insert into e select 1 / 0 from e;
-- differs: it is computed only where there is a row
insert into e select a, 'x' from e where a = 1 / 0;
-- differs: it is computed only where there is a row
select generate_series(1, 1 / 0) from e;
-- differs: it is computed only where there is a row
select a from e, generate_series(1, 1 / 0);
insert into e values (1, 'x');
select 1 / 0 from e;
select 6 / 3 from e;
select 6 / 0 from e where a = 7;
