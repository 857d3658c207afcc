-- VARIADIC with an array, for functions over "any".

select concat(variadic array['a','b']), num_nulls(variadic array[1,null]), json_build_array(variadic array[1,2]), concat_ws(',', variadic array['a',null,'c']), format('%s-%s', variadic array['x','y']), num_nonnulls(variadic '{1,null,3}'::int[]), jsonb_build_object(variadic array['a','1']);

select concat(variadic null::text[]), concat(variadic '{}'::text[]), json_build_object(variadic '{}'::text[]), format('%s', variadic null::text[]);

select concat(variadic 'a');

select concat(variadic 1);

select concat(variadic null);

select num_nulls(variadic null::int[]);

select json_build_array(variadic null::int[]);

select jsonb_build_array(variadic array[[1,2],[3,4]]);

select concat('x', variadic array[1, 2]), num_nulls(null, variadic array[null, 1]), format('%2$s %1$s', variadic array['a', 'b']);

select json_build_array(variadic array['2020-02-29'::date]), jsonb_build_array(variadic array[1.50, null]), json_build_array(variadic array['{"a":1}'::json]);

create table v (id int primary key, a text[] not null);

insert into v values (1, '{a,b}'), (2, '{}'), (3, '{c,null}');

select id, concat_ws('-', variadic a), num_nulls(variadic a), json_build_array(variadic a) from v order by id;

select id from v where num_nulls(variadic a) > 0 and num_nulls(a) = 0;

create index on v (array_length(a, 1));

create view w as select id, concat(variadic a) as c from v;

select * from w order by id;

select concat(variadic a) from v group by concat(variadic a) order by 1;

select greatest(variadic array[1]);
select int4multirange(variadic null);
select int4multirange(variadic null::int4range[]);
select int8multirange(variadic null), nummultirange(variadic null), datemultirange(variadic null), tsmultirange(variadic null), tstzmultirange(variadic null);
select int4multirange(variadic '{"[1,3)","[5,6)"}');
select int4multirange(variadic '[1,3)');
select concat(variadic null);
select json_build_array(variadic null);
select num_nulls(variadic null), num_nonnulls(variadic null);
select make_interval(variadic null);
select abs(variadic null);
select lower(variadic null);
select format('%s', variadic null);
select int4multirange(int4range(1, 2), variadic null);
create function least_of(anycompatible, variadic anycompatiblearray) returns anycompatible language sql as 'select least($1, min($2[i])) from generate_subscripts($2,1) g(i)';
select least_of(1, 2.5, 0), least_of(1, variadic array[2.5, -1]), least_of('2024-01-01'::date, '2023-01-01'::timestamp);
select least_of(1, 'x'::text);
select proargtypes::regtype[], provariadic::regtype from pg_proc where proname = 'least_of';
create aggregate least_agg(variadic items anycompatiblearray) (stype = anycompatible, sfunc = least_of);
select least_agg(4.5, f1) from (values (1), (2)) v(f1);
select least_agg(f1, 2, 0.5) from (values (1), (2)) v(f1);
create function no_array(variadic anycompatible) returns int language sql as 'select 1';
