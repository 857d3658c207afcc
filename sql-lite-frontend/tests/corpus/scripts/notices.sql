-- Names that are cut, and precisions that are reduced.
create table aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg (a int);
select relname from pg_class where relname like 'aaaaaaaaaabbb%';
SELECT 1 AS AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDDEEEEEEEEEEFFFFFFFFFFGGGGGGGGGG;
select 1 as "AAAAAAAAAA bbbbbbbbb ""ccccccccc dddddddddd eeeeeeeeee ffffffffff gggggggggg";
select 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg' as x -- aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg
;
select 1 as aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1ä3, 2 as aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff12ä;
drop table aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg;
-- parameters: 1
select $1::int as aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg;
-- differs: the warning's position
create table times (a timestamp(7), b timestamptz(8), c time(9), d timetz(10), e interval(7), f interval second(7), g timestamp(6));
select column_name, datetime_precision from information_schema.columns where table_name = 'times' order by 1;
-- differs: the warning's position
select '2001-02-03 04:05:06.1234567'::timestamp(7);
select current_timestamp(7) is not null, localtime(9) is not null;
-- differs: the warning's position
select interval(8) '1 second', interval '1 second';
set client_min_messages = error;
select '2001-02-03 04:05:06.7654321'::timestamp(9);
select 1 as aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggh;
