SELECT btint4cmp(1, 2), btint4cmp(2, 1), btint4cmp(1, 1), btint2cmp(1::int2, 2::int2), btint8cmp(3, 2::bigint), btint84cmp(3::bigint, 4);
SELECT btint24cmp(1::int2, 2), btint28cmp(1::int2, 1::int8), btint42cmp(1, 0::int2), btint48cmp(1, 5::int8), btint82cmp(9::int8, 1::int2);
SELECT btfloat8cmp('NaN', 'Infinity'), btfloat4cmp(1.5, 1.5), btoidcmp(4000000000, 1), bttidcmp('(0,2)', '(1,1)'), xid8cmp('1', '1');
SELECT numeric_cmp(1.0, 1.00), numeric_cmp('NaN', 1), date_cmp('2000-01-01', '1999-01-01'), time_cmp('1:00', '2:00'), timetz_cmp('1:00+00', '2:00+01');
SELECT timestamp_cmp('2000-01-01', '2000-01-01'), timestamptz_cmp('infinity', 'now'), interval_cmp('1 month', '30 days'), network_cmp('10.0.0.1', '10.0.0.2'), pg_lsn_cmp('0/1', '0/2');
SELECT btarraycmp('{1,2}'::int[], '{1,3}'), btarraycmp('{1}'::int[], '{1}'), btrecordcmp(ROW(1, 'a'::text), ROW(1, 'b'::text)), btint4cmp(NULL, 1);
SELECT v FROM unnest('{3,1,2}'::int[]) v WHERE btint4cmp(v, 2) >= 0 ORDER BY v;
