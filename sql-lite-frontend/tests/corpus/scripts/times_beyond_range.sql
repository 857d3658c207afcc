-- Comparisons of dates and timestamps beyond what the other type can hold.
set timezone = 'UTC-2';
SELECT '4714-11-24 BC'::date < '2020-10-05'::timestamptz as t, '4714-11-24 BC'::date <= '4714-11-24 BC'::date::timestamp;
SELECT '2020-10-05'::timestamptz >= '4714-11-24 BC'::date as t;
SELECT '4714-11-24 BC'::timestamp < '2020-10-05'::timestamptz as t;
SELECT '2020-10-05'::timestamptz >= '4714-11-24 BC'::timestamp as t;
select '4714-11-24 BC'::date < '-infinity'::timestamptz, '4714-11-24 BC'::date > '-infinity'::timestamptz, '4714-11-24 BC'::date = '-infinity'::timestamptz;
select '4714-11-24 BC'::timestamp < '-infinity'::timestamptz, '4714-11-24 BC'::timestamp > '-infinity'::timestamptz,'4714-11-24 BC'::timestamp = '-infinity'::timestamptz;
select '5874897-12-31'::date > '294276-12-31'::timestamptz, '5874897-12-31'::date > 'infinity'::timestamptz,'5874897-12-31'::date < 'infinity'::timestamptz;
select '5874897-12-31'::date > '294276-12-31'::timestamp, '5874897-12-31'::date > 'infinity'::timestamp,'5874897-12-31'::date < 'infinity'::timestamp;
set timezone = 'UTC+2';
select '294276-12-31 23:59:59'::timestamp > '2020-01-01'::timestamptz, '294276-12-31 23:59:59'::timestamp < 'infinity'::timestamptz;
