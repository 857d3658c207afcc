-- Aggregates of an outer query in a subquery, with FILTER, DISTINCT and ORDER BY.

create table sales (shop int, item text, amount int);

insert into sales values (1, 'a', 10), (1, 'b', 20), (2, 'a', 5), (2, 'c', null), (3, 'b', 7);

create table shops (id int primary key, least int);

insert into shops values (1, 15), (2, 1), (3, 100);

select shop, (select sum(s.amount) from shops where id = 1) from sales s group by shop order by shop;

select shop, (select sum(s.amount) filter (where s.item = 'a') from shops where id = 1) from sales s group by shop order by shop;

select shop, (select count(*) filter (where s.item = 'a') from shops where id = 1) from sales s group by shop order by shop;

select shop, (select sum(s.amount) filter (where s.amount > shops.least) from shops where id = 1) from sales s group by shop order by shop;

select shop, (select count(s.amount) filter (where least > 1) from shops where id = 1) from sales s group by shop order by shop;

select shop, (select sum(1) filter (where s.item = 'a') from shops) from sales s group by shop order by shop;

select shop, (select count(distinct s.item) filter (where s.amount > 5) from shops where id = 2) from sales s group by shop order by shop;

select shop, (select string_agg(s.item, ',' order by s.item desc) filter (where s.amount is not null) from shops where id = 2) from sales s group by shop order by shop;

select (select max(s.amount) filter (where s.shop = 1)) from sales s;

select (select max((select i.id from shops i where i.id = o.shop)) from shops limit 1) from sales o;

select shop from sales s group by shop having exists (select 1 from shops where least < sum(s.amount) filter (where s.item <> 'c')) order by shop;

select shop from sales s group by shop having (select sum(s.amount) filter (where item = 'a')) > 4 order by shop;

select shop, (select sum(s.amount + least) from shops where id = 1) from sales s where shop < 3 group by shop order by shop;

select id, (select sum(amount) filter (where amount > least) from sales where shop = id) from shops order by id;

select id, (select count(*) filter (where id = shop) from sales) from shops order by id;

select id, (select count(*) filter (where id = 1) from sales) from shops order by id;

select count(*) filter (where exists (select 1 from sales where shop = id)) from shops;

select sum(id) filter (where id in (select shop from sales where amount > least)) from shops;

select (select sum(id) filter (where sales.shop = 1) from shops) from sales order by 1;

select (select (select sum(s.amount) filter (where s.shop < 3) from shops limit 1)) from sales s;

select (select percentile_cont(0.5) within group (order by s.amount) filter (where s.amount > 5)) from sales s;

select shop, sum(sum(amount) filter (where item = 'a')) over (order by shop) from sales group by shop order by shop;

select count(*) filter (where count(*) > 1) from sales;

select shop, (select count(*) filter (where s.amount > sum(s.amount))) from sales s group by shop;

select (select sum(s.amount) filter (where shops.id = 1) from shops where shops.id = 1) from sales s;

select shop, rank() filter (where true) over () from sales;

select shop, count(*) filter (where item = 'a') over (partition by shop) from sales order by 1, 2;

-- A window function without an argument or a star.
select count() over () from sales;

select count() from sales;

select count() filter (where true) from sales;

select sum() over () from sales;

select row_number(*) over () from sales;

select sum(*) over () from sales;

select rank(1) over () from sales;
