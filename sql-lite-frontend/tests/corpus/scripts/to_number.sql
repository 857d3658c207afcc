-- to_number() reads character by character, as its template says.

select to_number('12', '9999.99'), to_number('1,234', 'S999'), to_number('9999', 'FM999'), to_number('12,454.8-', '99G999D9S'), to_number('-12.5', '99.9'), to_number('+7', 'S9');

select to_number('12345', '999V99'), to_number('0.05', '9.99'), to_number('$1,234.56', 'L9,999.99'), to_number('1st', '9TH'), to_number('<12>', '99PR'), to_number('12-', '99MI'), to_number('-12', 'MI99'), to_number('12', 'PL99'), to_number('+12', 'PL99'), to_number('- 12', 'SG99');

select to_number('a1b2', 'x9x9'), to_number('1 2 3', '9 9 9'), to_number('1x2', '9"y"9'), to_number('ä12', '"ü"99'), to_number('12ä3', '99X9'), to_number('1,2,3', '9G9G9'), to_number('123', '9,9,9'), to_number('1,23', 'FM9,99');

select to_number('.5', '9.9'), to_number('5.', '9.9'), to_number('-.5', 'S9.9'), to_number('123.456', '999'), to_number('1.5.5', '9.9.9');

select to_number('1.25', '9.9'), to_number('  42', '99999'), to_number('42  ', '99999'), to_number('4 2', '999'), to_number('5.01-', 'FM9.999999MI'), to_number('.5-', '9.9S'), to_number('123.001-', 'FM9999.9999999S'), to_number('1 -', '9S');

select to_number('', '999');

select to_number('abc', '999');

select to_number('-', 'S9');

select to_number('12', '');

select to_number('12', 'RN');

select to_number('1e2', '9EEEE');

select to_number(to_char(n, f), f), to_char(n, f) from (values (1234.5), (-0.5), (99999), (0)) v(n), (values ('S9999.99'), ('FM9999D99MI'), ('9,999.9PR'), ('00000.00')) w(f);

select to_char(9223372036854775807, 'FMRN');

select to_char(2147483648.0, 'RN');

select to_char(3999, 'FMRN'), to_char(4000, 'RN'), to_char(0, 'FMRN'), to_char(12.6, 'FMrn');

-- What the template has no place for.

select to_number('1,234', '999.99');

select to_number('1234', '999');

select to_number('12345.678', '9,999.9');

select to_number('.5', '.9'), to_number('0.5', '9.9'), to_number('123', '999.99'), to_number('-123', 'S999'), to_number('123456', '999V999');

select to_number('5', '.9');
