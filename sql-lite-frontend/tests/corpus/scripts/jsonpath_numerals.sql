-- Numbers of other bases and with underscores in paths.
select '0b100101'::jsonpath, '0o273'::jsonpath, '0x42F'::jsonpath, '0X1EEE_FFFF'::jsonpath, '0b10_0101'::jsonpath;
select '1_000_000'::jsonpath, '1_000.000_005'::jsonpath, '1_000.'::jsonpath, '.000_005'::jsonpath, '1_000.5e0_1'::jsonpath;
select '0b'::jsonpath;
select '1b'::jsonpath;
select '1abc'::jsonpath;
select '0b0x'::jsonpath;
select '0x'::jsonpath;
select '0x0y'::jsonpath;
select '00'::jsonpath;
select '012'::jsonpath;
select '_100'::jsonpath;
select '100_'::jsonpath;
select '100__000'::jsonpath;
select '1_000_.5'::jsonpath;
select '1_000._5'::jsonpath;
select '1_000.5_'::jsonpath;
select '1_000.5e_1'::jsonpath;
select '0b_10'::jsonpath;
select '1e'::jsonpath;
-- differs: the error's text
select '1e+'::jsonpath;
select '1ea'::jsonpath;
select '1.type()'::jsonpath;
select '$[0x1 to 1_0]'::jsonpath, '$ ? (@ > 0xFF)'::jsonpath, '$.decimal(0x10, 2)'::jsonpath;
select jsonb_path_query('[1, 2, 3, 255]', '$[0b1]'), jsonb_path_query('[1, 2, 3, 255]', '$[*] ? (@ == 0xFF)');
