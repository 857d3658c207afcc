-- Set-returning calls in the select list: within one another, with DISTINCT ON, GROUP BY, ORDER BY and LIMIT.

create table lists (id int primary key, items int[], n int);

insert into lists values (1, '{3,1,2}', 2), (2, '{5}', 1), (3, '{}', 0), (4, null, 3);

select id, unnest(items) from lists order by id, 2;

select id, generate_series(1, n) from lists order by 1, 2;

select id, generate_series(1, unnest(items)) from lists order by 1, 2;

select id, generate_series(1, generate_series(1, n)) from lists order by 1, 2;

select generate_series(1, generate_series(1, 3)), generate_series(1, 2);

select generate_series(1, generate_series(1, 3)), generate_series(10, 11), 'x';

select generate_series(1, generate_series(1, 3)) + 1, 10 * generate_series(1, generate_series(1, 2));

select abs(generate_series(-2, generate_series(0, 1)));

select generate_series(generate_series(1, 2), generate_series(2, 4));

select generate_series(1, generate_series(1, generate_series(1, 2)));

select unnest(array[generate_series(1, 2), 7]);

select generate_series(1, 3), unnest(array[unnest(array['a', 'b']), 'c']);

select distinct on (generate_series(1, 3)) generate_series(1, 3), 1;

select distinct on (id) id, unnest(items) from lists order by id, 2;

select distinct on (id) id, unnest(items) as u from lists order by id, u desc;

select distinct on (unnest(items) % 2) unnest(items) from lists order by unnest(items) % 2, 1;

select distinct unnest(items) % 2 as m from lists order by m;

select distinct on (g) generate_series(1, 2) as g, id from lists order by g, id desc;

select unnest(items) as u, count(*) from lists group by u order by u;

select unnest(items) as u, count(*) from lists group by 1 order by 1;

select unnest(items) % 2, count(*), sum(n) from lists group by unnest(items) % 2 order by 1;

select generate_series(1, n) as g, count(*) from lists group by g order by g;

select generate_series(1, 2), count(*) from lists group by 1 order by 1;

select generate_series(1, max(n)) from lists;

select n, generate_series(1, count(*)) from lists group by n order by 1, 2;

select n, generate_series(1, count(*)) as g, max(id) from lists group by n having count(*) > 0 order by g desc, n;

select generate_series(1, n) as g, generate_series(1, 2) as h, count(*) from lists group by g, h order by 1, 2;

select generate_series(1, generate_series(1, 2)) as g, count(*) from lists group by g order by g;

select count(*) from (select generate_series(1, generate_series(1, 3))) s;

select id, row_number() over (order by id), generate_series(1, n) from lists order by 1, 3;

select generate_series(1, row_number() over (order by id)) from lists order by 1;

select sum(n) over (), unnest(items) from lists order by 2;

select id from lists order by unnest(items), id;

select id from lists order by generate_series(1, n) desc, id;

select id, n from lists order by generate_series(1, generate_series(1, n)), id;

select id, unnest(items) from lists order by id limit 3;

select generate_series(1, 1000000000000) limit 3;

select generate_series(1, 3) as a, generate_series(1, 5) as b order by a nulls first, b;

select (select generate_series(1, 3) limit 1);

select array(select generate_series(1, generate_series(1, 2)));

select case when id = 1 then generate_series(1, 3) end from lists;

select coalesce(generate_series(1, 3), 1);

select id from lists where generate_series(1, 3) = 1;

select id from lists group by id having generate_series(1, 2) = 1;

select count(generate_series(1, 3));

select id from lists limit generate_series(1, 2);

select sum(generate_series(1, 2)) over ();

values (generate_series(1, 2)), (3);

insert into lists values (generate_series(100, 101), null, generate_series(1, 2)) returning id, n;

insert into lists values (generate_series(100, 101), null, 1), (200, null, 2);

insert into lists select generate_series(300, 301), null, unnest(array[unnest(array[1, 2]), 3]) returning *;

update lists set n = generate_series(1, 2);

select (json_each(j)).key, (json_each(j)).value::text from (values ('{"a":1,"b":2}'::json)) v(j);

select json_array_elements(json_array_elements('[[1,2],[3]]'));

select jsonb_array_elements_text(jsonb_array_elements('[[1,2],[3]]')) as t, generate_series(1, 2);

select regexp_split_to_table(regexp_split_to_table('a b,c d', ','), ' ');

select * from generate_series(1, generate_series(1, 2));

select * from unnest(array[generate_series(1, 2)]);

select string_to_table('a,b', ',') || generate_series(1, 2);

select generate_subscripts(array[unnest(array[1, 2])], 1);

select unnest(items) from lists union all select generate_series(1, 2) order by 1;

with w as (select unnest(items) as u, generate_series(1, n) as g from lists where id < 3) select * from w order by 1, 2;

-- nextval is called for the rows that are returned.
create sequence s;

create table numbers (a int);

insert into numbers select * from generate_series(1, 10);

select a, nextval('s') from numbers order by a desc limit 3;

select nextval('s');

select a, nextval('s') as v from numbers order by a limit 2 offset 3;

select nextval('s');

select a from numbers order by nextval('s') limit 2;

select nextval('s');

select a, nextval('s') as v from numbers order by v limit 2;

select nextval('s');

select a, setval('s', 100 + a) from numbers order by a desc limit 1;

select nextval('s');

select distinct a, nextval('s') > 0 as v from numbers order by a limit 1;

select nextval('s');

select a, a * 2 as b, (select nextval('s')) as v from numbers order by a desc limit 2;

select nextval('s');

-- differs: PostgreSQL computes the other columns once more where a set ends
select a, generate_series(1, 2), nextval('s') from numbers order by a limit 3;

select setval('s', 200);

select a % 2 as g, nextval('s') from numbers group by 1 order by 1 limit 1;

select nextval('s');

select sum(a) over (order by a), nextval('s') from numbers order by a limit 1;

select nextval('s');

select a, 1 / (a - 10) as inverse from numbers order by a limit 3;

select a, 1 / (a - 10) as inverse from numbers order by a desc limit 3;

select a from numbers order by a offset nextval('s') - nextval('s') + 1 limit 1;
