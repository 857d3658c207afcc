-- Names in ON CONFLICT's condition, and what stands in the place of a procedure's answer.
create table ict (key int4, fruit text);
create unique index on ict (key) where fruit like '%berry';
insert into ict as t values (23, 'Blackberry') on conflict (key) where fruit like '%berry' and t.fruit = 'inconsequential' do nothing;
insert into ict as t values (23, 'Blackberry') on conflict (key) where t.fruit like '%berry' do update set fruit = excluded.fruit where t.fruit <> 'x' returning t.*;
insert into ict values (23, 'Blackberry') on conflict (key) where ict.fruit like '%berry' do nothing;
insert into ict values (23, 'Blackberry') on conflict (key) where excluded.fruit like '%berry' do nothing;
insert into ict as t values (23, 'Blackberry') on conflict (key) where ict.fruit like '%berry' do nothing;
insert into ict as t values (23, 'Blackberry') on conflict (t.key) do nothing;
insert into ict as t values (24, 'Cranberry') on conflict (abs(t.key)) do nothing;
create procedure answers(out a int) language plpgsql as $$ begin a := 1; end $$;
call answers(1/0);
call answers(null);
create procedure answers(out a int, inout b int, in c int) language plpgsql as $$ begin a := b + c; b := c; end $$;
call answers(1/0, 3, 4);
call answers(c => 5, b => 3, a => 1/0);
call answers(a => (select 1/0), b => 1/1, c => 7);
call answers(null, 1/0, 4);
do $$ declare x int; y int := 2; begin call answers(x, y, 9); raise notice '% %', x, y; end $$;
