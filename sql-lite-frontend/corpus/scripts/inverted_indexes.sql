-- CREATE INDEX … USING gin, what it refuses, and how it is shown.
CREATE TABLE d (id int PRIMARY KEY, tags text[], nums int[], data jsonb, body text, n numeric[], js json[]);
CREATE INDEX d_tags ON d USING gin (tags);
CREATE INDEX ON d USING gin (data);
CREATE INDEX d_paths ON d USING gin (data jsonb_path_ops);
CREATE INDEX d_two ON d USING gin (data jsonb_ops, nums array_ops) WHERE id > 5;
CREATE INDEX d_part ON d USING gin ((data -> 'labels'));
CREATE INDEX d_words ON d USING gin (string_to_array(body, ' '));
CREATE INDEX d_opts ON d USING gin (nums) WITH (fastupdate = off, gin_pending_list_limit = 128);
CREATE INDEX d_numbers ON d USING gin (n);
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'd' AND indexname <> 'd_opts' ORDER BY 1;
SELECT pg_get_indexdef('d_two'::regclass, 1, false), pg_get_indexdef('d_two'::regclass, 2, true);
SELECT c.relname, a.amname, c.relkind, i.indnatts, i.indkey, i.indisunique FROM pg_class c JOIN pg_am a ON a.oid = c.relam JOIN pg_index i ON i.indexrelid = c.oid WHERE i.indrelid = 'd'::regclass ORDER BY 1;
SELECT c.relname, o.opcname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid, LATERAL unnest(i.indclass::oid[]) WITH ORDINALITY u(oid, n) JOIN pg_opclass o ON o.oid = u.oid WHERE i.indrelid = 'd'::regclass ORDER BY 1, n;
SELECT o.oid, opcname, opcfamily, opcintype::regtype, opcdefault, opckeytype::regtype FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'gin' AND opcname <> 'tsvector_ops' ORDER BY 1;
SELECT f.oid, opfname FROM pg_opfamily f JOIN pg_am a ON a.oid = opfmethod WHERE amname = 'gin' AND opfname <> 'tsvector_ops' ORDER BY 1;
-- What is refused.
CREATE UNIQUE INDEX ON d USING gin (tags);
CREATE INDEX ON d USING gin (tags) INCLUDE (id);
CREATE INDEX ON d USING gin (tags DESC);
CREATE INDEX ON d USING gin (tags NULLS FIRST);
CREATE INDEX ON d USING gin (id);
CREATE INDEX ON d USING gin (body);
CREATE INDEX ON d USING gin (js);
CREATE INDEX ON d USING gin (tags no_ops);
CREATE INDEX ON d USING gin (tags jsonb_ops);
CREATE INDEX ON d USING gin (data array_ops);
CREATE INDEX ON d USING gin (tags) WITH (fillfactor = 50);
CREATE INDEX ON d USING gin (tags) WITH (fastupdate = maybe);
CREATE INDEX ON d USING gin (tags) WITH (gin_pending_list_limit = 3);
CREATE INDEX ON d USING gin (nothing);
CREATE INDEX d_tags ON d USING gin (tags);
CREATE INDEX IF NOT EXISTS d_tags ON d USING gin (tags);
ALTER TABLE d ADD CONSTRAINT u UNIQUE USING INDEX d_tags;
INSERT INTO d (id, tags) VALUES (1, '{a}') ON CONFLICT (tags) DO NOTHING;
-- Rows by them.
INSERT INTO d VALUES
  (1, '{a,b}', '{1,2}', '{"a": 1, "b": ["x", "y"]}', 'one two'),
  (2, '{b,c,NULL}', '{2,3,2}', '{"a": 1.0, "c": {"d": "x"}}', 'two three'),
  (3, '{}', '{}', '{}', ''),
  (4, NULL, NULL, NULL, NULL),
  (5, '{NULL}', '{NULL}', '["x", "a", null, true, 5]', 'a'),
  (6, '{{a,b},{c,d}}', '{5}', '"a"', 'four'),
  (7, '{d}', '{7,1}', '{"c": {"d": "y", "a": [1, [2, {"e": null}]]}}', 'one'),
  (8, '{A}', '{8}', '17.50', 'ONE');
SET enable_seqscan = off;
SELECT id FROM d WHERE tags @> '{a}' ORDER BY id;
SELECT id FROM d WHERE tags @> '{a,b}' ORDER BY id;
SELECT id FROM d WHERE tags @> '{}' ORDER BY id;
SELECT id FROM d WHERE tags @> '{NULL}' ORDER BY id;
SELECT id FROM d WHERE tags @> NULL ORDER BY id;
SELECT id FROM d WHERE tags && '{c,zz}' ORDER BY id;
SELECT id FROM d WHERE tags && '{}' ORDER BY id;
SELECT id FROM d WHERE tags && '{NULL}' ORDER BY id;
SELECT id FROM d WHERE tags <@ '{a,b,c}' ORDER BY id;
SELECT id FROM d WHERE tags <@ '{}' ORDER BY id;
SELECT id FROM d WHERE tags = '{a,b}' ORDER BY id;
SELECT id FROM d WHERE tags = '{}' ORDER BY id;
SELECT id FROM d WHERE tags = '{NULL}' ORDER BY id;
SELECT id FROM d WHERE '{b}' <@ tags ORDER BY id;
SELECT id FROM d WHERE '{b,d}' && tags ORDER BY id;
SELECT id FROM d WHERE nums @> '{2}' AND tags @> '{c}' ORDER BY id;
SELECT id FROM d WHERE nums @> '{2,2}' ORDER BY id;
SELECT id FROM d WHERE data @> '{"a": 1}' ORDER BY id;
SELECT id FROM d WHERE data @> '{"a": 1.00}' ORDER BY id;
SELECT id FROM d WHERE data @> '{}' ORDER BY id;
SELECT id FROM d WHERE data @> '[]' ORDER BY id;
SELECT id FROM d WHERE data @> '{"b": ["x"]}' ORDER BY id;
SELECT id FROM d WHERE data @> '{"c": {"d": "x"}}' ORDER BY id;
SELECT id FROM d WHERE data @> '{"c": {}}' ORDER BY id;
SELECT id FROM d WHERE data @> '"a"' ORDER BY id;
SELECT id FROM d WHERE data @> '["a"]' ORDER BY id;
SELECT id FROM d WHERE data @> '[null, true]' ORDER BY id;
SELECT id FROM d WHERE data @> '17.5' ORDER BY id;
SELECT id FROM d WHERE data @> '{"c": {"a": [[{"e": null}]]}}' ORDER BY id;
SELECT id FROM d WHERE '{"a": 1}' <@ data ORDER BY id;
SELECT id FROM d WHERE data <@ '{"a": 1, "b": ["x", "y", "z"]}' ORDER BY id;
SELECT id FROM d WHERE data ? 'a' ORDER BY id;
SELECT id FROM d WHERE data ? 'd' ORDER BY id;
SELECT id FROM d WHERE data ?| '{a,c}' ORDER BY id;
SELECT id FROM d WHERE data ?| '{}' ORDER BY id;
SELECT id FROM d WHERE data ?| '{NULL,c}' ORDER BY id;
SELECT id FROM d WHERE data ?& '{a,b}' ORDER BY id;
SELECT id FROM d WHERE data ?& '{}' ORDER BY id;
SELECT id FROM d WHERE data ?& '{a,NULL}' ORDER BY id;
SELECT id FROM d WHERE id > 5 AND data ? 'c' AND nums && '{1}' ORDER BY id;
SELECT id FROM d WHERE string_to_array(body, ' ') && '{one,four}' ORDER BY id;
SELECT a.id, b.id FROM d a JOIN d b ON b.tags && a.tags AND a.id < b.id ORDER BY 1, 2;
SELECT id FROM d WHERE tags @> (SELECT tags FROM d WHERE id = 7) ORDER BY id;
SELECT count(*) FROM d WHERE NOT tags @> '{a}';
SELECT id FROM d WHERE tags @> '{a}' OR tags @> '{d}' ORDER BY id;
-- Long elements.
INSERT INTO d (id, tags, data) SELECT 100 + i, ARRAY[repeat('long', 5000) || i], jsonb_build_object(repeat('key', 3000) || i, repeat('v', 9000) || i) FROM generate_series(1, 3) i;
SELECT id FROM d WHERE tags @> ARRAY[repeat('long', 5000) || 2];
SELECT id FROM d WHERE tags && ARRAY[repeat('long', 5000) || 3, repeat('long', 5000) || 4];
SELECT id FROM d WHERE data ? (repeat('key', 3000) || 1);
SELECT id FROM d WHERE data @> jsonb_build_object(repeat('key', 3000) || 3, repeat('v', 9000) || 3);
-- Changes.
UPDATE d SET tags = array_append(tags, 'new') WHERE id <= 3;
SELECT id FROM d WHERE tags @> '{new}' ORDER BY id;
SELECT id FROM d WHERE tags <@ '{}' ORDER BY id;
UPDATE d SET id = id + 1000 WHERE id = 2;
SELECT id FROM d WHERE tags @> '{c}' ORDER BY id;
DELETE FROM d WHERE id = 1;
SELECT id FROM d WHERE tags @> '{new}' ORDER BY id;
BEGIN;
UPDATE d SET data = '{"gone": 1}' WHERE id = 7;
SELECT id FROM d WHERE data ? 'gone';
ROLLBACK;
SELECT id FROM d WHERE data ? 'gone';
SELECT id FROM d WHERE data @> '{"c": {"d": "y"}}';
REINDEX INDEX d_tags;
REINDEX TABLE d;
SELECT id FROM d WHERE tags @> '{new}' ORDER BY id;
ALTER INDEX d_tags RENAME TO d_labels;
ALTER TABLE d RENAME COLUMN tags TO labels;
SELECT indexdef FROM pg_indexes WHERE indexname = 'd_labels';
ALTER TABLE d ALTER labels TYPE varchar(20)[];
ALTER TABLE d ALTER nums TYPE bigint[];
SELECT id FROM d WHERE nums @> '{7}';
ALTER TABLE d ALTER nums TYPE text USING nums::text;
DROP INDEX d_labels;
ALTER TABLE d DROP COLUMN data;
SELECT indexname FROM pg_indexes WHERE tablename = 'd' ORDER BY 1;
COMMENT ON ACCESS METHOD gin IS 'x';
CREATE TABLE e (LIKE d INCLUDING INDEXES);
SELECT substr(indexdef, strpos(indexdef, ' ON ')) FROM pg_indexes WHERE tablename = 'e' AND indexdef NOT LIKE '%nums%' ORDER BY 1;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN labels AS text[];
CREATE TABLE f (id int, m mood[], l labels);
CREATE INDEX f_m ON f USING gin (m);
CREATE INDEX f_l ON f USING gin (l);
INSERT INTO f VALUES (1, '{sad}', '{a}'), (2, '{happy,sad}', '{b}');
SELECT id FROM f WHERE m @> '{happy}';
SELECT id FROM f WHERE l @> '{a}';
TRUNCATE f;
SELECT id FROM f WHERE l @> '{a}';
