-- The column that USING and NATURAL make of two has their common type.

create table k1 (a int primary key, b text);

create table k2 (a float8, b varchar(5), c int);

create table k3 (a numeric(4,2), b char(4), c bigint);

insert into k1 values (1, 'a'), (2, 'b'), (4, 'd');

insert into k2 values (1, 'a', 1), (1.5, 'b', 2), (null, null, 3);

insert into k3 values (1.0, 'a', 1), (2.00, 'b', 2), (2.5, 'c', 7);

select a, pg_typeof(a), b from k1 join k2 using (a, b);

select a, pg_typeof(a) from k1 join k3 using (a) order by 1;

select a, pg_typeof(a) from k3 join k1 using (a) order by 1;

select a, pg_typeof(a) from k1 left join k3 using (a) order by 1;

select a, pg_typeof(a) from k1 right join k3 using (a) order by 1;

select a, pg_typeof(a) from k1 full join k3 using (a) order by 1;

select a, pg_typeof(a) from k3 left join k1 using (a) order by 1;

select a, pg_typeof(a) from k3 right join k1 using (a) order by 1;

select b, pg_typeof(b) from k2 join k3 using (b) order by 1;

select b, pg_typeof(b) from k2 left join k3 using (b) order by 1;

select b, pg_typeof(b), k3.b, pg_typeof(k3.b) from k3 left join k2 using (b) order by 1;

select * from k2 natural join k3;

select * from k2 natural left join k3 order by c;

select * from k1 left join k3 using (a) where a = 1;

select * from k1 left join k3 using (a) where a > 1.5 order by a;

select a, count(*), pg_typeof(max(a)) from k1 left join k3 using (a) left join k2 using (a) group by a order by a;

select * from k1 left join k3 using (a) join k2 using (a) order by 1, 2, 3;

select x.a, x.b, pg_typeof(x.a) from k1 left join k3 using (a, b) as x order by 1;

select * from k1 left join k3 using (a) for update of k1;

update k1 set b = s.b from (select a, k3.b from k1 left join k3 using (a)) s where s.a = k1.a returning k1.*;

create view merged as select a, c from k1 left join k3 using (a);

select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'merged'::regclass order by attnum;

select * from merged order by 1;

select * from k1 where a in (select a from k1 left join k3 using (a) where c = 1);

-- differs: the error is about the types, not the operator
select 1 from k1 join (values ('x')) v(a) using (a);

-- differs: the error is about the types, not the operator
select 1 from k1 full join (values (date '2020-01-01')) v(a) using (a);
