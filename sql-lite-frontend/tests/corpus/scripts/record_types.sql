-- What clients are told of the types in records.
select record_send(row('a', 1)), record_send(row('a'::text, null)), record_send(row());
select record_send(r) from (select 'a', 1) r;
select row('a', 'b')::text, to_json(row('a', 1)), row('a') = row('a');
select row('x', null, 1.5);
