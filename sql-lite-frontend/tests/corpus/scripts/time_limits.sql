-- Intervals, bins and clocks at the ends of what there is.

set timezone = 'UTC';

select justify_hours(interval '2147483647 days 24 hours'), 1;

select justify_days(interval '2147483647 mons 30 days');

select justify_interval(interval '2147483647 mons 30 days');

select justify_interval(interval '1 mon -1 hour'), justify_hours(interval '-27 hours'), justify_days(interval '-35 days'), justify_interval(interval '-1 mon 31 days -25 hours');

select justify_hours(interval '-2147483648 days -24 hours');

select justify_days(interval '-2147483648 mons -30 days');

select justify_interval(interval '2147483647 days 2562047788 hours');

select justify_interval(interval '-2147483648 days -2562047788 hours');

select justify_interval(interval '2147483647 mons 2147483647 days -1 hour');

select date_bin('15 minutes', timestamp '2020-02-11 15:44:17', timestamp '2001-01-01'), date_bin('5 days', timestamp '1990-01-01 10:00', timestamp '2001-01-01'), date_bin('2 hours', timestamp '2020-02-11 15:44:17', timestamp '2030-01-01 00:30');

select date_bin('1 mon', timestamp '2020-02-11', timestamp '2001-01-01');

select date_bin('0 days', timestamp '2020-02-11', timestamp '2001-01-01');

select date_bin('-1 day', timestamp '2020-02-11', timestamp '2001-01-01');

select date_bin('1 day', timestamp '294276-12-31', timestamp '4713-01-01 BC'), date_bin('1 day', timestamp 'infinity', timestamp '2001-01-01'), date_bin('1 day', timestamp '2020-01-01', timestamp 'infinity');

select date_bin('15 minutes', timestamp '294276-12-30', timestamp '4000-12-20 BC');

select date_bin('200000000 days', timestamp '2024-02-01', timestamp '2024-01-01');

select date_bin('365000 days', timestamp '4400-01-01 BC', timestamp '4000-01-01 BC');

select date_bin('5 min'::interval, timestamptz '2020-02-01 01:01:01+00', timestamptz '2020-02-01 00:02:30+00'), date_bin('10 day', timestamptz '2020-02-01+00', timestamptz '4713-01-01 00:00+00 BC');

select time '23:59:60';

select time '23:59:60.01';

select time '23:59:59.999999999', time '24:00:00', timetz '23:59:60+02', time '23:59:60.0000001', time '00:00:60', time '10:59:60.5';

select time '24:00:00.01';

select time '24:01:00';

select timetz '23:59:60.01+02';

select timetz '24:00:00.1+02';

select timestamp '2020-12-31 23:59:60', timestamp '2020-12-31 23:59:60.5', timestamptz '2020-12-31 23:59:60.5+00', timestamp '2020-01-01 24:00:00';

select timestamp '2020-01-01 24:00:00.5';

select time(0) '23:59:59.7', timetz(0) '23:59:59.7+00', make_time(23, 59, 60), make_time(24,0,0), make_time(10,59,60.5);

select make_time(23, 59, 60.01);

select make_time(24, 0, 0.1);

select make_timestamp(2020,12,31,23,59,60), make_timestamp(2020,12,31,24,0,0);

select make_timestamp(2020,12,31,23,59,60.5);

select time '23:59:59.99999' + interval '10 us', time '12:00' + interval '1e10 hours';
