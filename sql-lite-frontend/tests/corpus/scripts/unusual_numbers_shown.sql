-- NaN and infinities by to_char().

select to_char('NaN'::numeric, t), to_char('Infinity'::numeric, t), to_char('-Infinity'::numeric, t) from unnest(array['9', '999', '9999', '9.99', '999.99', '00000', 'FM999', '9.99EEEE', 'S999', '999PR', '999MI', '9,999', '99999999', '999999999.9', 'SG99999999']) t;

select to_char('NaN'::float8, t), to_char('Infinity'::float8, t), to_char('-Infinity'::float8, t) from unnest(array['9', '999', '9999', '9.99', '999.99', '00000', 'FM999', '9.99EEEE', 'S999', '999PR', '999MI', '9,999', '99999999', '999999999.9', 'SG99999999']) t;

select to_char('NaN'::float4, '999'), to_char('-Infinity'::float4, '99999999.9'), to_char('Infinity'::float4, '99EEEE');

select to_char('NaN'::numeric, 'RN');

select to_char('Infinity'::numeric, 'RN');

select to_char('NaN'::numeric, '99V9'), to_char('-Infinity'::numeric, '99999999V9');

select to_char('NaN'::numeric, '999th');

-- What rounds to zero has no sign, unless it is a float.

select to_char(-0.05::numeric, t), to_char(-0.4::numeric, t), to_char(-0.05::float8, t), to_char(-0.0::float8, t) from unnest(array['9', '9.', '99999', '9.9', 'S9', '9MI', '9PR', 'FM9.99', '0']) t;
