-- The extension hstore: texts by keys.
SELECT 'a=>1'::hstore;
CREATE EXTENSION hstore;
SELECT typname, typnamespace::regnamespace, typlen, typbyval, typtype, typcategory, typispreferred, typalign, typstorage FROM pg_type WHERE typname IN ('hstore', '_hstore') ORDER BY 1;
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast WHERE castsource = 'hstore'::regtype OR casttarget = 'hstore'::regtype ORDER BY castsource::regtype::text, casttarget::regtype::text;
SELECT oprname, oprleft::regtype, oprright::regtype, oprresult::regtype FROM pg_operator WHERE oprright = 'hstore'::regtype OR oprleft = 'hstore'::regtype ORDER BY oprname COLLATE "C", oprleft::regtype::text, oprright::regtype::text;

-- Texts.
SELECT ''::hstore, 'a=>b'::hstore, ' a=>b'::hstore, 'a =>b'::hstore, 'a=>b '::hstore, 'a=> b'::hstore, '"a"=>"b"'::hstore, ' "a" => "b" '::hstore;
SELECT 'aa=>bb'::hstore, 'aa=>"b b"'::hstore, 'a=>b, b=>"c d", c=>NULL'::hstore, 'a=>"NULL"'::hstore, 'a=>null'::hstore, 'a=>nUlL'::hstore, 'a=>NULLx'::hstore;
SELECT E'a=>\\"b\\"'::hstore, E'"a\\"b"=>"c\\\\d"'::hstore, E'\\=a=>q=w'::hstore, E'"=a"=>q\\=w'::hstore, E'a=>q>w, b=>"x,y"'::hstore, E'\\"a=>q>w'::hstore;
SELECT 'b=>1, aa=>2, a=>3, ccc=>4, bb=>5'::hstore, 'a=>1, a=>2'::hstore, 'a=>1,b=>2,c=>3'::hstore, '""=>""'::hstore, 'a=>""'::hstore;
SELECT 'a=>,b=>1'::hstore;
SELECT 'ä=>ö, "日本"=>"x y"'::hstore;
SELECT 'a'::hstore;
SELECT 'a=b'::hstore;
SELECT 'a=>'::hstore;
SELECT '=>b'::hstore;
SELECT 'a=>"b'::hstore;
SELECT '"a'::hstore;
SELECT 'a=>b c=>d'::hstore;
SELECT 'a=>b, =>c'::hstore;
SELECT E'a=>b\\'::hstore;
SELECT 'a =x b'::hstore;
SELECT 'a=>b,'::hstore, 'a=>b , '::hstore;

-- Operators.
SELECT 'a=>1, b=>NULL'::hstore -> 'a', 'a=>1, b=>NULL'::hstore -> 'b', 'a=>1'::hstore -> 'c', 'a=>1'::hstore -> NULL;
SELECT 'aa=>1, b=>2, c=>3'::hstore -> ARRAY['aa', 'c', 'x', NULL], 'a=>1'::hstore -> '{}'::text[], 'a=>1'::hstore -> ARRAY[['a', 'b'], ['b', 'a']];
SELECT 'a=>1, b=>NULL'::hstore ? 'a', 'a=>1, b=>NULL'::hstore ? 'b', 'a=>1'::hstore ? 'c';
SELECT 'a=>1, b=>2'::hstore ?| ARRAY['a', 'c'], 'a=>1'::hstore ?| ARRAY['b', 'c'], 'a=>1'::hstore ?| '{}', 'a=>1'::hstore ?| ARRAY[NULL, 'a'];
SELECT 'a=>1, b=>2'::hstore ?& ARRAY['a', 'b'], 'a=>1'::hstore ?& ARRAY['a', 'c'], 'a=>1'::hstore ?& '{}', 'a=>1'::hstore ?& ARRAY[NULL, 'a'];
SELECT 'a=>1, b=>2'::hstore @> 'a=>1', 'a=>1, b=>2'::hstore @> 'a=>2', 'a=>1, b=>NULL'::hstore @> 'b=>NULL', 'a=>1'::hstore @> '', 'a=>NULL'::hstore @> 'a=>1', 'a=>1'::hstore @> 'c=>1';
SELECT 'a=>1'::hstore <@ 'a=>1, b=>2', 'a=>1, b=>2'::hstore <@ 'a=>1';
SELECT 'a=>1, b=>2'::hstore || 'b=>3, c=>4', ''::hstore || 'a=>1', 'a=>1'::hstore || '', 'a=>1'::hstore || NULL::hstore;
SELECT 'a=>1, b=>2, c=>3'::hstore - 'b'::text, 'a=>1, b=>2, c=>3'::hstore - ARRAY['a', 'c', NULL], 'a=>1, b=>2, c=>3'::hstore - 'a=>1, b=>3, c=>3'::hstore, 'a=>NULL, b=>1'::hstore - 'a=>NULL'::hstore;
SELECT 'a=>1, b=>2'::hstore - 'a';
SELECT %% 'aa=>1, b=>NULL'::hstore, %# 'aa=>1, b=>NULL'::hstore, %% ''::hstore, %# ''::hstore;
SELECT 'a=>1'::hstore = 'a=>1', 'a=>1, b=>2'::hstore = 'b=>2, a=>1', 'a=>1'::hstore <> 'a=>2', 'a=>NULL'::hstore = 'a=>""';
SELECT 'a=>1'::hstore #<# 'a=>2', 'a=>1'::hstore #<=# 'a=>1', 'b=>1'::hstore #># 'a=>9', ''::hstore #>=# 'a=>1';
SELECT 'a=>1'::hstore < 'a=>2';

-- Functions.
SELECT fetchval('a=>1', 'a'), slice_array('a=>1', ARRAY['a', 'b']), slice('a=>1, b=>2, c=>3', ARRAY['c', 'b', 'x', 'c']), exist('a=>1', 'a'), defined('a=>NULL', 'a'), defined('a=>1', 'a'), isexists('a=>1', 'b'), isdefined('a=>1', 'b');
SELECT delete('a=>1, b=>2'::hstore, 'a'::text), delete('a=>1, b=>2'::hstore, ARRAY['b']), delete('a=>1, b=>2'::hstore, 'a=>1'::hstore);
SELECT akeys('aa=>1, b=>2, c=>NULL'), avals('aa=>1, b=>2, c=>NULL'), akeys(''), avals('');
SELECT skeys('aa=>1, b=>2'), svals('aa=>1, b=>NULL');
SELECT * FROM skeys('aa=>1, b=>2') k;
SELECT * FROM each('aa=>1, b=>2, c=>NULL');
SELECT (each('aa=>1, b=>2')).key, each('x=>y');
SELECT key, count(*) FROM (VALUES ('a=>1, b=>2'::hstore), ('a=>3')) v(h), LATERAL each(h) GROUP BY key ORDER BY key;
SELECT hstore('a', 'b'), hstore('a', NULL), hstore(NULL, 'b'), tconvert('a', 'b'), hstore('a=>b, "', 'c"d\e');
SELECT hstore(ARRAY['a', '1', 'b', '2']), hstore(ARRAY[['a', '1'], ['b', NULL]]), hstore('{}'::text[]), ARRAY['x', 'y']::hstore;
SELECT hstore(ARRAY['a', 'b'], ARRAY['1', NULL]), hstore(ARRAY['a', 'b'], NULL), hstore(NULL::text[], ARRAY['a']), hstore('{}'::text[], '{}'::text[]);
SELECT hstore(ARRAY['a']);
SELECT hstore(ARRAY[['a', 'b', 'c']]);
SELECT hstore(ARRAY[[['a', 'b']]]);
SELECT hstore(ARRAY[NULL, 'b']);
SELECT hstore(ARRAY['a', NULL], ARRAY['b']);
SELECT hstore(ARRAY[['a']], ARRAY[['b']]);
SELECT hstore(ARRAY[NULL, 'a'], ARRAY['b', 'c']);
SELECT hstore(r) FROM (SELECT 1 AS a, 'x'::text AS b, NULL::int AS c, true AS d, date '2001-02-03' AS e) r;
SELECT hstore(ROW(1, 'x'));
CREATE TABLE rows (id int, name text, at date, n numeric(5, 2));
INSERT INTO rows VALUES (1, 'one', '2001-02-03', 1.5), (2, NULL, NULL, NULL);
SELECT hstore(rows) FROM rows ORDER BY id;
CREATE TYPE r AS (id int, name text, at date, n numeric(5, 2));
SELECT hstore(NULL::r), hstore(ROW(1, 'x', NULL, 2)::r);
SELECT populate_record(NULL::r, 'id=>5, name=>x, other=>1'), populate_record(ROW(1, 'one', '2001-02-03', 1)::r, 'name=>NULL, n=>"2.345"'), populate_record(ROW(1, 'one', NULL, NULL)::r, '');
SELECT (ROW(1, 'one', NULL, NULL)::r #= 'name=>changed').*, (NULL::r #= 'id=>7').id;
SELECT ROW(1, 'one', NULL, NULL)::r #= NULL::hstore, NULL::r #= NULL;
SELECT populate_record(NULL::r, 'id=>x');
SELECT populate_record(1, 'a=>1');
SELECT hstore_to_json('a=>1, bb=>NULL, c=>"x\"y"'), hstore_to_jsonb('bb=>1, a=>NULL, c=>t'), 'a=>1'::hstore::json, 'a=>1'::hstore::jsonb, hstore_to_json('');
SELECT hstore_to_json_loose('a=>1, b=>t, c=>f, d=>-1.5e3, e=>01, f=>1e, g=>NULL, h=>"1 ", i=>0.5, j=>"+1", k=>0x10'), hstore_to_jsonb_loose('a=>1.50, b=>t, c=>x');
SELECT hstore_cmp('a=>1', 'a=>1'), hstore_eq('a=>1', 'a=>1'), hstore_ne('a=>1', 'a=>1'), hstore_lt('a=>1', 'a=>2'), hstore_le('a=>1', 'a=>1'), hstore_gt('a=>1', 'a=>2'), hstore_ge('a=>1', 'a=>1');
SELECT hstore_hash('a=>1, b=>2') = hstore_hash('b=>2, a=>1');
SELECT 'a=>1'::hstore::text, 'a=>1'::text::hstore, ('a=>1'::hstore)::varchar;

-- In tables.
CREATE TABLE docs (id int PRIMARY KEY, h hstore, hs hstore[] DEFAULT '{}');
INSERT INTO docs SELECT i, hstore(ARRAY['k', 'n' || i % 10], ARRAY[(i % 7)::text, i::text]) FROM generate_series(1, 100) i;
INSERT INTO docs VALUES (101, NULL), (102, '', ARRAY['a=>1', 'b=>2']::hstore[]);
SELECT id FROM docs WHERE h @> 'k=>3' ORDER BY id LIMIT 3;
SELECT count(*) FROM docs WHERE h ? 'n3';
SELECT h, hs, hs[2] -> 'b' FROM docs WHERE id > 100 ORDER BY id;
SELECT h, count(*) FROM (SELECT hstore('k', h -> 'k') AS h FROM docs) d GROUP BY h ORDER BY h;
SELECT count(DISTINCT h) FROM docs;
SELECT count(*) FROM docs a JOIN docs b ON a.h = b.h;
SELECT id FROM docs ORDER BY h, id LIMIT 4;
UPDATE docs SET h = h || hstore('new', id::text) WHERE id IN (1, 101, 102) RETURNING id, h;
UPDATE docs SET h = delete(h, 'k') WHERE id = 2 RETURNING h;
CREATE UNIQUE INDEX docs_h ON docs (h);
INSERT INTO docs VALUES (200, 'n2=>2');
SELECT id FROM docs WHERE h = 'n2=>2';
CREATE INDEX docs_k ON docs ((h -> 'k'));
SELECT count(*) FROM docs WHERE h -> 'k' = '3';
CREATE VIEW keys AS SELECT id, h -> 'k' AS k, h ? 'new' AS is_new FROM docs WHERE h ?| ARRAY['k', 'new'];
SELECT count(*), count(*) FILTER (WHERE is_new) FROM keys;
SELECT pg_get_viewdef('keys');
COPY (SELECT id, h FROM docs WHERE id IN (1, 2, 101) ORDER BY id) TO STDOUT;
CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE d hstore := hstore(NEW) - hstore(OLD); k text; BEGIN FOREACH k IN ARRAY akeys(d) LOOP RAISE NOTICE '% is %', k, d -> k; END LOOP; RETURN NEW; END $$;
CREATE TRIGGER n BEFORE UPDATE ON rows FOR EACH ROW EXECUTE FUNCTION note_change();
UPDATE rows SET name = 'other', n = 3 WHERE id = 1;
SELECT string_agg(key || '=' || coalesce(value, '-'), ',' ORDER BY key) FROM each('z=>1, a=>NULL');

-- Subscripts.
SELECT ('a=>1, b=>NULL'::hstore)['a'], ('a=>1'::hstore)['x'], ('a=>1'::hstore)[NULL], (NULL::hstore)['a'];
SELECT h['k'] FROM docs WHERE id = 3;
UPDATE docs SET h['k'] = 'changed', h['more'] = 5::text WHERE id = 3 RETURNING h;
UPDATE docs SET h['k'] = NULL WHERE id = 3 RETURNING h;
UPDATE docs SET h = NULL WHERE id = 4;
UPDATE docs SET h['first'] = 'x' WHERE id = 4 RETURNING h;
UPDATE docs SET h[NULL] = 'x' WHERE id = 4;
UPDATE docs SET h['a']['b'] = 'x' WHERE id = 4;
SELECT h['a':'b'] FROM docs WHERE id = 4;
SELECT h['a']['b'] FROM docs WHERE id = 4;
SELECT h[1] FROM docs WHERE id = 4;
INSERT INTO docs (id, h['p'], h['q']) VALUES (300, '1', '2') RETURNING h;

DROP INDEX docs_k;
-- differs: the order of dependents
DROP EXTENSION hstore;
-- differs: the order of dependents
DROP EXTENSION hstore CASCADE;
SELECT column_name FROM information_schema.columns WHERE table_name = 'docs';
