-- Functions that return a table's rows, and records of PL/pgSQL.
create table t (a int, b text);
insert into t values (1, 'one'), (2, 'two');
create function sql_rows() returns setof t language sql as 'select * from t order by a';
create function sql_row() returns t language sql as 'select * from t order by a limit 1';
create function pl_rows() returns setof t language plpgsql as $$begin return query select * from t order by a; end$$;
create function pl_loop() returns setof t language plpgsql as $$declare r t; begin for r in select * from t order by a loop return next r; end loop; end$$;
create function pl_record() returns setof t language plpgsql as $$declare r record; begin for r in select * from t order by a loop return next r; end loop; end$$;
create function pl_row() returns t language plpgsql as $$declare r t; begin select * into r from t order by a limit 1; return r; end$$;
create function pl_execute() returns setof t language plpgsql as $$begin return query execute 'select * from t order by a'; end$$;
create function sql_old() returns setof t language sql as $$select 1, 'fixed'$$;
create function takes(t) returns text language sql as 'select $1.b';
select * from sql_rows();
select * from sql_row();
select * from pl_rows();
select * from pl_loop();
select * from pl_record();
select * from pl_row();
select * from pl_execute();
select * from sql_old();
prepare p as select * from sql_rows();
prepare q as select (pl_row()).*, (sql_row()).b;
execute q;
execute p;
-- A column more.
alter table t add column c int default 7;
select * from sql_rows();
select * from sql_row();
select * from pl_rows();
select * from pl_loop();
select * from pl_record();
select * from pl_row();
select * from pl_execute();
select * from sql_old();
-- differs: the columns of a prepared statement must stay
execute p;
-- differs: the columns of a prepared statement must stay
execute q;
select takes(t) from t order by a;
-- One less.
alter table t drop column b;
select * from sql_rows();
select * from sql_row();
select * from pl_rows();
select * from pl_loop();
select * from pl_record();
select * from pl_row();
select * from pl_execute();
select * from sql_old();
select c from sql_rows();
select a, c, to_json(r) from pl_rows() r;
select sql_row(), pl_row();
select (sql_row()).c, (pl_row()).*;
-- differs: the columns of a prepared statement must stay
execute p;
-- Another name, another type.
alter table t rename column c to d;
alter table t alter column a type text;
select * from sql_rows();
select * from sql_row();
select * from pl_rows();
select * from pl_loop();
select * from pl_record();
select * from pl_row();
select * from pl_execute();
select d, pg_typeof(a) from sql_rows();
-- The same within one session, before and behind a change by itself.
create function changes() returns setof t language plpgsql as $$begin alter table t add column e int; return query select * from t order by 1; end$$;
select * from changes();
select * from pl_loop();
-- Composite types.
create type pair as (x int, y text);
create function pairs_of(n int) returns setof pair language plpgsql as $$begin return query select g, g::text from generate_series(1, n) g; end$$;
create function pairs_whole(n int) returns setof pair language plpgsql as $$begin return query select row(g, g::text)::pair from generate_series(1, n) g; end$$;
create function pairs_executed(n int) returns setof pair language plpgsql as $$begin return query execute 'select g, g::text from generate_series(1, $1) g' using n; end$$;
create function pairs_next(n int) returns setof pair language plpgsql as $$declare p pair; begin for i in 1..n loop p.x := i; p.y := 'n' || i; return next p; end loop; return next row(9, 'nine'); end$$;
create function pairs_wrong() returns setof pair language plpgsql as $$begin return query select 1; end$$;
create function pairs_wrong_type() returns setof pair language plpgsql as $$begin return query select 'a'::text, 1; end$$;
select * from pairs_of(2);
-- differs: the error's detail
select * from pairs_whole(2);
select * from pairs_executed(2);
-- differs: an untyped literal in a returned row is read as the attribute's type
select * from pairs_next(2);
select pairs_of(2);
select (pairs_of(1)).y;
select * from pairs_wrong();
select * from pairs_wrong_type();
create function returning_rows() returns setof pair language plpgsql as $$begin return query insert into pairs_kept select 1, 'kept' returning x, y; end$$;
create table pairs_kept (x int, y text);
select * from returning_rows();
create domain pair_d as pair check ((value).x > 0);
create function pairs_d() returns setof pair_d language plpgsql as $$begin return query select 1, 'd'::text; end$$;
select * from pairs_d();
-- RETURNS TABLE and a row.
create function as_row() returns table (a int, b text) language sql as $$select (1, 'one'::text)$$;
create function as_rows() returns table (a int, b text) language sql as $$select row(g, g::text) from generate_series(1, 2) g$$;
create function as_pair() returns pair language sql as $$select row(1, 'p')::pair$$;
create function as_pair_row() returns pair language sql as $$select row(1, 'p'::text)$$;
create function as_pair_columns() returns pair language sql as $$select 1, 'p'$$;
create function as_one() returns table (a pair) language sql as $$select row(1, 'p')::pair$$;
create function as_short() returns table (a int, b text) language sql as $$select row(1)$$;
select * from as_row();
select * from as_rows();
select * from as_pair();
select * from as_pair_row();
select * from as_pair_columns();
select * from as_one();
select as_row(), as_rows(), as_pair(), as_one();
create table tt (x int, y int);
select row(1, 2)::tt;
select (row(1, 2)::tt).*, pg_typeof(row(1, 2)::tt);
create function as_tt() returns tt language sql as 'select row(1, 2)::tt';
create function as_tts() returns setof tt language sql as 'select row(1, 2)::tt union all select (3, 4)::tt';
select * from as_tt(), as_tts();
select as_tt(), as_tts();
alter table tt add column z int;
select row(1, 2)::tt;
select row(1, 2, 3)::tt;
-- differs: the error's context: nothing is inlined before the statement is planned
select * from as_tt();
alter table tt drop column x;
select row(1, 2)::tt, (row(1, 2)::tt).y;
select * from as_tts();
