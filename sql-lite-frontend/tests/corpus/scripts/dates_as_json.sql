-- JSON has dates as ISO 8601, whatever DateStyle is.

select to_json(timestamp '2020-01-02 03:04:05'), to_json(timestamptz '2020-01-02 03:04:05+00'), to_json(date 'infinity'), to_json(timestamptz '-infinity');

set datestyle = 'German';

select to_json(timestamp '2020-01-02 03:04:05'), to_jsonb(date '2020-01-02'), json_build_array(timestamptz '2020-01-02 03:04:05.5+00'), row_to_json(row(date '2020-01-02'));

select array_to_json(array[date '2020-01-02', date 'infinity']), json_object_agg(date '2020-01-01', timestamp '-infinity'), json_build_object(timestamp '2020-01-01 00:00', 1);

set datestyle = 'SQL, DMY';

select to_jsonb(timestamptz '0044-03-15 10:00:00+00 BC'), to_json(timestamp '0044-03-15 BC'), to_json(array[timestamp '2020-02-29 12:00']), json_agg(d) from (values (date '2020-12-31')) v(d);

set timezone = 'Asia/Kolkata';

select to_json(timestamptz '2020-01-02 03:04:05+00'), json_build_object('t', timestamptz '1900-01-01 00:00+00'), time '10:00', to_json(timetz '10:00+01');

set datestyle = 'Postgres';

select to_json(timestamptz '2020-01-02 03:04:05+00'), timestamptz '2020-01-02 03:04:05+00', jsonb_build_object(date '2020-01-01', date '2020-01-02');
