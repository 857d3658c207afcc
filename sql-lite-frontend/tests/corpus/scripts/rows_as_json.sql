-- Rows of joins that found no partner, and rows as JSON.
create table zoo (id int primary key, name text, tags text[], price numeric(8,2), born date);
create table cage (zoo int, size int, note text);
insert into zoo values (1, 'lion', '{big,"has mane"}', 10.50, '2020-01-02'), (2, 'owl', null, null, null), (3, 'a "quoted" one', '{}', 0, 'infinity');
insert into cage values (1, 4, 'a'), (1, null, null), (null, null, null);
select z.id, count(c), count(c.*), c is null, c is not null from zoo z left join cage c on c.zoo = z.id group by z.id, c order by z.id, 2;
select z.id, count(c.*) from zoo z left join cage c on c.zoo = z.id group by z.id order by z.id;
select count(z), count(c), count(*) from cage c left join zoo z on z.id = c.zoo;
-- differs: a row of NULLs is taken for none where no column is NOT NULL
select count(z), count(c), count(*) from cage c full join zoo z on z.id = c.zoo;
select count(z), count(c), count(*) from cage c right join zoo z on z.id = c.zoo;
select count(c) from cage c;
select count(x), count(y) from (values (1), (2)) x(a) left join (values (2, null::int)) y(a, b) on x.a = y.a;
select z.id from zoo z left join cage c using (zoo);
select z.id, c is null from zoo z left join lateral (select size from cage where zoo = z.id and size > 3) c on true order by 1;
select row_to_json(z) from zoo z order by id;
select row_to_json(z, true) from zoo z where id = 1;
select row_to_json(row(1, 'a', null, row(true, array[1, 2])));
select to_json(z), to_jsonb(z) from zoo z where id < 3 order by id;
select json_agg(z order by id) from zoo z;
select jsonb_agg(z order by id) from zoo z where id > 1;
select json_agg(c.*) from zoo z left join cage c on c.zoo = z.id where z.id = 2;
select coalesce(json_agg(c) filter (where c.zoo is not null), '[]') from zoo z left join cage c on c.zoo = z.id where z.id = 2;
select json_build_object('animal', z, 'cages', (select json_agg(c order by size) from cage c where c.zoo = z.id)) from zoo z order by id;
select row_to_json(t) from (select id as "Number", upper(name) as name from zoo where id = 1) t;
select json_agg(t) from (select id, (select row_to_json(c) from cage c where c.zoo = zoo.id order by size limit 1) as cage from zoo order by id) t;
select json_object_agg(z.name, c) from zoo z join cage c on c.zoo = z.id where c.size = 4;
select json_agg(array[1, 2]) from zoo;
select json_build_array(z.id, row(z.name)) from zoo z where id = 2;
with t as (select id, name from zoo) select json_agg(t order by id desc) from t;
select array_to_json(array_agg(id)) from zoo;
select row_to_json(null::record);
select word, catcode, barelabel, catdesc, baredesc from pg_get_keywords() where word in ('select', 'between', 'left', 'abort', 'day') order by word;
-- differs: we have the words of our own grammar
select catcode, barelabel, count(*) from pg_get_keywords() group by 1, 2 order by 1, 2;
-- differs: we have the words of our own grammar
select string_agg(word, ',' order by word) from pg_catalog.pg_get_keywords() where word <> all ('{abort,absolute}'::text[]) and word < 'al';
select jsonb_insert('{"a": [0, 1, 2]}', '{a,1}', '"new"'), jsonb_insert('{"a": [0, 1, 2]}', '{a,1}', '"new"', true);
select jsonb_insert('{"a": [0, 1, 2]}', '{a,-1}', '9'), jsonb_insert('{"a": [0, 1, 2]}', '{a,-1}', '9', true), jsonb_insert('{"a": [0]}', '{a,7}', '9'), jsonb_insert('{"a": [0]}', '{a,-7}', '9', true);
select jsonb_insert('{"a": {"b": 1}}', '{a,c}', '2'), jsonb_insert('{"a": {"b": 1}}', '{x,c}', '2');
select jsonb_insert('{"a": {"b": 1}}', '{a,b}', '2');
select jsonb_insert('[1]', '{x}', '2');
select jsonb_insert('1', '{0}', '2');
select jsonb_insert('[1]', '{0}', '{"k": 1}');
