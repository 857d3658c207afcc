-- json_populate_record and its like.
CREATE TYPE inner_type AS (x int, y text);
CREATE TYPE outer_type AS (a int, b text[], c inner_type, d jsonb, e date, f inner_type[]);
SELECT * FROM jsonb_populate_record(NULL::outer_type, '{"a": 1, "b": ["p", null], "c": {"x": 2, "y": "q"}, "d": {"k": 1}, "e": "2020-01-02", "f": [{"x": 1}, {"y": "z"}], "g": 0}');
SELECT * FROM json_populate_record(NULL::outer_type, '{"a": "7", "c": "(3,r)", "d": [1,  2]}');
SELECT jsonb_populate_record(NULL::inner_type, '{"x": 1}'), jsonb_populate_record(ROW(5, 'old')::inner_type, '{"x": 1}'), jsonb_populate_record(ROW(5, 'old')::inner_type, '{"x": null}');
SELECT jsonb_populate_record(ROW(5, 'old')::inner_type, NULL), jsonb_populate_record(NULL::inner_type, NULL);
SELECT (jsonb_populate_record(NULL::inner_type, '{"x": 1, "y": 2}')).y;
SELECT jsonb_populate_record(NULL::inner_type, '[1]');
SELECT jsonb_populate_record(NULL::inner_type, '5');
SELECT jsonb_populate_record(NULL::inner_type, '{"x": "no number"}');
SELECT jsonb_populate_record(NULL::outer_type, '{"b": 5}');
SELECT * FROM jsonb_populate_recordset(NULL::inner_type, '[{"x": 1}, {"y": "b"}, {}]');
SELECT * FROM json_populate_recordset(ROW(0, 'base')::inner_type, '[{"x": 1}, {"y": "b"}]');
SELECT * FROM jsonb_populate_recordset(NULL::inner_type, '{"x": 1}');
SELECT * FROM json_populate_recordset(NULL::inner_type, '[1]');
SELECT * FROM jsonb_populate_recordset(NULL::inner_type, NULL);
SELECT count(*) FROM jsonb_populate_recordset(NULL::inner_type, '[]');
