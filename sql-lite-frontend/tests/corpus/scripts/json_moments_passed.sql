-- Dates and times that are passed to a path, and what JSON_VALUE, JSON_QUERY and JSON_TABLE make of them.
set timezone = 'America/Los_Angeles';
select json_value(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56 +10' as ts);
select json_value(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56 +10' as ts returning json);
select json_value(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56 +10' as ts returning jsonb);
select json_value(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56 +10' as ts returning timestamptz);
select json_query(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56.789 +10' as ts);
select json_query(jsonb 'null', '$ts' passing timestamptz '2018-02-21 12:34:56 +10' as ts returning text omit quotes);
select json_query(jsonb 'null', '$ts' passing timestamp '2018-02-21 12:34:56' as ts);
select json_value(jsonb 'null', '$ts' passing timestamp '2018-02-21 12:34:56' as ts returning jsonb);
select json_value(jsonb 'null', '$ts' passing date '2018-02-21' as ts returning json);
select json_value(jsonb 'null', '$ts' passing time '12:34:56' as ts returning json);
select json_value(jsonb 'null', '$ts' passing timetz '12:34:56 +10' as ts returning json);
select json_query(jsonb 'null', '$ts' passing timetz '12:34:56 +10' as ts);
select json_query(jsonb 'null', '$ts.string()' passing timestamptz '2018-02-21 12:34:56 +10' as ts);
select json_query(jsonb 'null', '$ts.type()' passing timestamptz '2018-02-21 12:34:56 +10' as ts);
select json_query(jsonb '["2018-02-21 12:34:56 +10"]', '$[*].timestamp_tz()');
select json_exists(jsonb '["2018-02-21 12:34:56 +10"]', '$[*] ? (@.timestamp_tz() == $ts)' passing timestamptz '2018-02-21 12:34:56 +10' as ts);
select * from json_table(jsonb '[1]', '$[*]' passing timestamptz '2018-02-21 12:34:56 +10' as ts columns (a jsonb path '$ts', b text path '$ts', c timestamptz path '$ts'));
