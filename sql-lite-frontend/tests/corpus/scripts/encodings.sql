-- Names of encodings
SELECT n, pg_encoding_to_char(n), pg_encoding_max_length(n) FROM generate_series(-1, 43) n;
SELECT name, pg_char_to_encoding(name) FROM unnest('{abc,ALT,big5,euc_cn,euc-jis-2004,EUC_JP,euckr,euc_tw,gb18030,GBK,iso-8859-1,
  ISO_8859-10,iso885913,iso885914,iso885915,ISO885916,iso88592,iso88593,iso88594,iso88595,iso-8859-6,iso88597,ISO88598,iso88599,
  johab,koi8,koi8r,koi8-u,latin1,LATIN2,latin3,latin4,latin5,latin6,latin7,latin8,latin9,latin10,mskanji,Mule_Internal,shift_jis,
  shiftjis2004,sjis,sql_ascii,tcvn,tcvn5712,uhc,unicode,utf8,UTF-8,vscii,win,win1250,win1251,win1252,win1253,win1254,win1255,
  win1256,win1257,win1258,win866,win874,win932,win936,win949,win950,windows1250,windows-1251,windows1252,windows1253,windows1254,
  windows1255,windows1256,windows1257,windows1258,windows866,windows874,windows932,windows936,windows949,windows950,
  latin11,utf16,"",cp1252}'::text[]) name;
SELECT getdatabaseencoding(), pg_client_encoding(), pg_encoding_max_length(NULL), pg_typeof(getdatabaseencoding());
-- convert_to and convert_from
SELECT e, convert_to('Grüße', e) FROM unnest('{LATIN1,LATIN2,LATIN9,WIN1252,WIN1250,UTF8,SQL_ASCII,GB18030,EUC_JIS_2004}'::name[]) e;
SELECT convert_to('Привет', 'KOI8R'), convert_to('Привет', 'WIN1251'), convert_to('Привет', 'WIN866'),
       convert_to('Привет', 'ISO_8859_5'), convert_to('Привет', 'KOI8U');
SELECT convert_to('日本語テスト', 'EUC_JP'), convert_to('日本語テスト', 'SJIS'), convert_to('日本語テスト', 'EUC_JIS_2004'),
       convert_to('日本語テスト', 'SHIFT_JIS_2004'), convert_to('日本語テスト', 'GB18030');
SELECT convert_to('中文', 'EUC_CN'), convert_to('中文', 'GBK'), convert_to('中文', 'BIG5'), convert_to('中文', 'EUC_TW');
SELECT convert_to('한국어', 'EUC_KR'), convert_to('한국어', 'UHC'), convert_to('한국어', 'JOHAB');
SELECT convert_to('€', 'LATIN9'), convert_to('€', 'WIN1252'), convert_to('€', 'GBK'), convert_to('😀', 'GB18030'), convert_to('か゚', 'EUC_JIS_2004');
SELECT convert_to('€', 'LATIN1');
SELECT convert_to('a😀', 'SJIS');
SELECT convert_to('ж', 'LATIN10');
SELECT convert_from('\x4772fcdf65', 'LATIN1'), convert_from('\x5c', 'SJIS'), convert_from('\x955c', 'SJIS'), convert_from('\x', 'BIG5');
SELECT convert_from('\xcbd4c5c4', 'EUC_JP'), convert_from('\x9439ac39', 'GB18030'), convert_from('\xa4f7a4ab', 'EUC_JIS_2004');
SELECT convert_from('\x81', 'WIN1252');
SELECT convert_from('\x4181ff', 'WIN1253');
SELECT convert_from('\x41a1', 'EUC_JP');
SELECT convert_from('\xa1a1ff', 'EUC_JP');
SELECT convert_from('\x8fa1', 'EUC_JP');
SELECT convert_from('\x8ea1a1', 'EUC_CN');
SELECT convert_from('\x8eb0a1a1', 'EUC_TW');
SELECT convert_from('\x80', 'SJIS');
SELECT convert_from('\x8100', 'SJIS');
SELECT convert_from('\x8d20', 'BIG5');
SELECT convert_from('\x813081', 'GB18030');
SELECT convert_from('\x81308130ff', 'GB18030');
SELECT convert_from('\x4100', 'LATIN1');
SELECT convert_from('\x4100', 'UTF8');
SELECT convert_from('\xfcfc', 'JOHAB');
SELECT convert_from('\x9fa1ff', 'JOHAB');
SELECT convert_from('\xe4f6', 'UTF8');
SELECT convert_from('\xc3a4', 'SQL_ASCII'), convert_to('ä', 'SQL_ASCII');
SELECT convert_from('\xe4', 'SQL_ASCII');
SELECT convert_from('abc', 'klingon');
SELECT convert_to('abc', 'klingon');
SELECT convert_from('abc', 'MULE_INTERNAL');
SELECT convert_to('abc', 'MULE_INTERNAL');
SELECT convert_from(NULL, 'klingon'), convert_to('x', NULL), convert(NULL, 'LATIN1', 'UTF8');
-- convert
SELECT convert('\xe4', 'LATIN1', 'UTF8'), convert('\xc3a4', 'UTF8', 'LATIN1'), convert('\xc3a4', 'UTF8', 'UTF8'), convert('\xe4', 'LATIN1', 'LATIN1');
SELECT convert('\xc1', 'KOI8R', 'WIN1251'), convert('\xe0', 'WIN1251', 'WIN866'), convert('\xc6fc', 'EUC_JP', 'SJIS'), convert('\xa440', 'BIG5', 'EUC_TW'),
       convert('\xb1', 'LATIN2', 'WIN1250'), convert('\x93fa', 'SHIFT_JIS_2004', 'EUC_JIS_2004');
SELECT convert('abc', 'LATIN1', 'LATIN2');
SELECT convert('abc', 'EUC_JP', 'BIG5');
SELECT convert('\xe4', 'LATIN1', 'SQL_ASCII'), convert('\xc3a4', 'SQL_ASCII', 'UTF8');
SELECT convert('\xe4', 'SQL_ASCII', 'UTF8');
SELECT convert('abc', 'klingon', 'UTF8');
SELECT convert('abc', 'UTF8', 'klingon');
SELECT convert('\xe2', 'UTF8', 'LATIN1');
-- length
SELECT length('\xe4f6fc', 'LATIN1'), length('\xc3a4', 'UTF8'), length('\xc6fccbdc', 'EUC_JP'), length('\x93fa955c5c', 'SJIS'), length('\x81308130', 'GB18030'),
       length('\xe4ff', 'SQL_ASCII'), length('\x', 'UHC');
SELECT length('\xe4f6', 'UTF8');
SELECT length('\xc6', 'EUC_JP');
SELECT length('abc', 'klingon');
-- every character of the encodings of one byte, and back
SELECT e, md5(string_agg(convert_from(set_byte('\x00', 0, n), e), '' ORDER BY n))
  FROM unnest('{LATIN1,LATIN2,LATIN3,LATIN4,LATIN5,LATIN6,LATIN7,LATIN8,LATIN9,LATIN10,WIN866,KOI8R,KOI8U,ISO_8859_5,WIN1256}'::name[]) e,
       generate_series(160, 255) n WHERE NOT (e = 'LATIN3' AND n IN (165, 174, 190, 195, 208, 227, 240)) GROUP BY e ORDER BY e;
SELECT e, md5(string_agg(convert_to(convert_from(set_byte('\x00', 0, n), e), e), '' ORDER BY n))
  FROM unnest('{LATIN1,LATIN2,LATIN4,LATIN5,WIN866,KOI8R,KOI8U,ISO_8859_5,WIN1256}'::name[]) e, generate_series(160, 255) n GROUP BY e ORDER BY e;
-- client_encoding
SHOW client_encoding;
SET client_encoding = 'klingon';
SET client_encoding TO 'MULE_INTERNAL';
SET NAMES 'latin1';
SHOW client_encoding;
SELECT pg_client_encoding();
SET client_encoding = 'win';
SHOW client_encoding;
SET client_encoding = 'Unicode';
SHOW client_encoding;
SET client_encoding = 'UNICODE';
SHOW client_encoding;
SELECT pg_client_encoding();
SET client_encoding = 'sql-ascii';
SHOW client_encoding;
SELECT pg_client_encoding();
SET client_encoding TO DEFAULT;
BEGIN;
SET client_encoding = 'EUC_JP';
SELECT pg_client_encoding(), textsend(U&'\65e5\672c'), array_send(ARRAY[U&'\65e5', U&'\672c']), record_send(ROW(U&'\65e5', 1)),
       jsonb_send(jsonb_build_object('a', U&'\65e5')), namesend(U&'\672c'::name);
SELECT textsend(U&'\20ac');
ROLLBACK;
SHOW client_encoding;
BEGIN;
SET LOCAL client_encoding = 'SHIFT_JIS_2004';
SHOW client_encoding;
COMMIT;
SHOW client_encoding;
SELECT set_config('client_encoding', 'koi8', false);
SHOW client_encoding;
RESET client_encoding;
SHOW client_encoding;
SHOW server_encoding;
CREATE ROLE roaming;
ALTER ROLE roaming SET client_encoding = 'klingon';
ALTER ROLE roaming SET client_encoding = 'MULE_INTERNAL';
ALTER ROLE roaming SET client_encoding = 'latin1';
DROP ROLE roaming;
-- refused
-- differs: refused: CREATE CONVERSION
CREATE CONVERSION mine FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
CREATE TABLE t (a text);
COPY t TO STDOUT (ENCODING 'klingon');
COPY t FROM STDIN (ENCODING klingon);
\.
COPY t TO STDOUT (ENCODING 'MULE_INTERNAL');
COPY t TO STDOUT (ENCODING 'latin1', ENCODING 'utf8');
INSERT INTO t VALUES ('ж');
COPY t TO STDOUT (ENCODING 'latin1');
CREATE FUNCTION latin() RETURNS bytea LANGUAGE sql SET client_encoding = 'latin1' AS $$SELECT textsend(U&'\00e4')$$;
SELECT latin(), textsend(U&'\00e4');
-- differs: refused: databases of another encoding
CREATE DATABASE other ENCODING 'LATIN1';
CREATE DATABASE other ENCODING 'klingon';
CREATE DATABASE other ENCODING 'SJIS';
CREATE DATABASE other ENCODING 99;
