-- Functions that give the bytes of the binary format, which applications call to shorten numbers.
SELECT int2send('258'::int2), int4send(16909060), int8send(72623859790382856), oidsend(1::oid), boolsend(true), charsend('x'::"char");
SELECT float4send(1.5::float4), float8send(1.5::float8), float8send('-0'), float8send('NaN'), float8send('Infinity'), float4send('5e-20'::float4);
SELECT numeric_send(12345.678), numeric_send('NaN'), numeric_send(0), cash_send('1.50'::money);
SELECT textsend('añb'), varcharsend('ab'), bpcharsend('ab '::char(4)), namesend('n'), byteasend('\x00ff');
SELECT date_send('2000-01-02'), time_send('00:00:01'), timetz_send('00:00:01+01'), timestamp_send('2000-01-01 00:00:01'), timestamptz_send('2000-01-01 00:00:01+00'), interval_send('1 month 2 days 3 seconds');
SELECT encode(uuid_send('00112233-4455-6677-8899-aabbccddeeff'), 'hex'), inet_send('10.0.0.1/8'), cidr_send('10.0.0.0/8'), macaddr_send('08:00:2b:01:02:03'), macaddr8_send('08:00:2b:01:02:03:04:05');
SELECT json_send('{"a": 1}'), jsonb_send('{"a": 1}'), xml_send('<a/>'), bit_send(B'101'), varbit_send(B'1010');
SELECT point_send('(1,2)'), lseg_send('[(0,0),(1,1)]'), box_send('(1,1),(0,0)'), path_send('[(0,0),(1,1)]'), poly_send('((0,0),(1,1))'), line_send('{1,2,3}'), circle_send('<(0,0),1>');
SELECT array_send(ARRAY[1, NULL]), array_send(ARRAY['a']), record_send(ROW(1, 'x'::text)), range_send(int4range(1, 5)), multirange_send(int4multirange(int4range(1, 5)));
SELECT tsvectorsend('a:1 b:2'), tsquerysend('a & b'), pg_lsn_send('0/16'), xidsend('7'), cidsend('8'), xid8send('9'), tidsend('(1,2)');
CREATE TYPE colour AS ENUM ('red', 'green');
SELECT enum_send('green'::colour), textsend(NULL), int4send(NULL::int);
CREATE TABLE ids (id uuid, n int8);
INSERT INTO ids VALUES ('00112233-4455-6677-8899-aabbccddeeff', 258);
SELECT encode(uuid_send(id), 'base64'), encode(int8send(n), 'hex'), octet_length(int8send(n)) FROM ids;
CREATE INDEX ON ids (int8send(n));
SELECT n FROM ids WHERE int8send(n) = '\x0000000000000102';
