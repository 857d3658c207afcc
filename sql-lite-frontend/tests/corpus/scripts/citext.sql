-- The extension citext: text of which capital and small letters are the same.
SELECT 'a'::citext;
CREATE TABLE t (a citext);
CREATE EXTENSION citext;
-- differs: the extension's version
SELECT extname, extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'citext';
SELECT typname, typnamespace::regnamespace, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined, typdelim, typelem = 'citext'::regtype AS is_of_citext, typalign, typstorage, typcollation FROM pg_type WHERE typname IN ('citext', '_citext') ORDER BY 1;
SELECT 'citext'::regtype, 'citext[]'::regtype, 'public.citext'::regtype;
SELECT format_type('citext'::regtype, NULL), format_type('citext[]'::regtype, NULL);
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast WHERE castsource = 'citext'::regtype OR casttarget = 'citext'::regtype ORDER BY castsource::regtype::text, casttarget::regtype::text;

-- Comparison.
SELECT 'a'::citext = 'a'::citext, 'a'::citext = 'A'::citext, 'a'::citext = 'b'::citext, 'A'::citext = 'a';
SELECT 'a'::citext <> 'B'::citext, 'a'::citext != 'A', 'a'::citext < 'B', 'B'::citext > 'a', 'a'::citext <= 'A', 'a'::citext >= 'A';
SELECT 'a'::citext = 'A'::text, 'a'::text = 'A'::citext, 'a'::citext = 'A'::varchar;
SELECT 'aardvark'::citext = 'aardVark'::citext, 'aardvark'::citext < 'AARDVARK1', ''::citext < 'a';
SELECT citext_cmp('aardvark', 'aardVark'), citext_cmp('AARDVARK', 'aardbark'), citext_cmp('a', 'B');
SELECT citext_hash('aBc') = citext_hash('AbC'), citext_hash('abc') = hashtext('abc'), citext_hash_extended('ABC', 7) = hashtextextended('abc', 7);
SELECT citext_eq('a', 'A'), citext_ne('a', 'A'), citext_lt('a', 'B'), citext_le('a', 'A'), citext_gt('b', 'A'), citext_ge('b', 'B');
SELECT 'a'::citext ~<~ 'B', 'a'::citext ~<=~ 'A', 'b'::citext ~>~ 'A', 'b'::citext ~>=~ 'B', citext_pattern_cmp('a', 'B');
SELECT NULL::citext = 'a', 'a'::citext IS DISTINCT FROM 'A', 'a'::citext IS DISTINCT FROM NULL;
SELECT CASE 'a'::citext WHEN 'A' THEN 'same' ELSE 'other' END, nullif('a'::citext, 'A'), coalesce(NULL::citext, 'X');
SELECT 'a'::citext IN ('B', 'A'), 'a'::citext NOT IN ('B', 'C'), 'a'::citext = ANY (ARRAY['B', 'A']::citext[]), 'a'::citext = ALL (ARRAY['A', 'a']::citext[]), 'b'::citext < ANY ('{A,C}'::citext[]);
SELECT ('a'::citext, 1) = ('A'::citext, 1), ROW('a'::citext) = ROW('A'::citext), ARRAY['a', 'B']::citext[] = ARRAY['A', 'b']::citext[];
SELECT greatest('a'::citext, 'B'), least('a'::citext, 'B'), pg_typeof(greatest('a'::citext, 'B'));

-- Casts.
SELECT 'Abc'::citext::text, 'Abc'::citext::varchar, 'Abc'::citext::varchar(2), 'Abc '::citext::bpchar, 'Abc'::citext::char(2);
SELECT 'Abc'::text::citext, 'Abc'::varchar::citext, 'Abc '::bpchar::citext, true::citext, '192.168.100.128'::inet::citext;
SELECT citext('x '::bpchar), citext(true), citext('10.0.0.0/8'::inet);
SELECT 4::citext, 4.5::citext, '5'::citext::int, '2001-02-03'::citext::date, date '2001-02-03'::citext, 't'::citext::boolean;
SELECT 'x'::citext || 'y', pg_typeof('x'::citext || 'y'), 'x'::citext || 'y'::citext, pg_typeof('x'::citext || 'y'::citext), 1 || 'y'::citext;
SELECT pg_typeof(lower('AbC'::citext)), lower('AbC'::citext), upper('AbC'::citext), initcap('abc'::citext), length('abc'::citext), substr('abcd'::citext, 2, 2), md5('a'::citext);
SELECT concat('a'::citext, 'B'), format('%s', 'Xy'::citext), quote_literal('a''b'::citext), btrim(' a '::citext), lpad('a'::citext, 3), reverse('aB'::citext), position('B' in 'abc'::citext);
SELECT to_jsonb('Ab'::citext), jsonb_build_object('k', 'Ab'::citext), row_to_json(r) FROM (SELECT 'Ab'::citext AS c) r;

-- Patterns.
SELECT 'aBc'::citext LIKE 'AB%', 'aBc'::citext NOT LIKE 'AB%', 'aBc'::citext ILIKE 'AB%', 'aBc'::citext LIKE 'A_C'::text, 'aBc'::citext ~~ 'abc'::citext, 'aBc'::citext !~~ 'abd';
SELECT 'aBc'::citext ~ '^AB', 'aBc'::citext !~ '^AB', 'aBc'::citext ~* 'C$', 'aBc'::citext !~* 'x', 'aBc'::citext ~ 'B'::text;
SELECT 'a%c'::citext LIKE 'A\%C', 'abc'::citext LIKE 'A#%' ESCAPE '#', 'abc'::citext SIMILAR TO 'A(b|x)C';
SELECT regexp_match('foobarbequebaz'::citext, '(BAR)(BEQUE)'::citext), regexp_match('foobarbequebaz'::citext, '(BAR)(BEQUE)'::citext, ''), regexp_match('foobarbequebaz'::citext, '(BAR)(BEQUE)'::citext, 'c');
SELECT regexp_matches('foobarbequebaz'::citext, '(BAR)(BEQUE)'::citext), regexp_matches('foobarbequebazilbarfbonk'::citext, '(B[^B]+)(B[^B]+)'::citext, 'g');
SELECT regexp_replace('Thomas'::citext, '.[MN]a.'::citext, 'M'), regexp_replace('Thomas'::citext, '.[MN]A.', 'M', 'c'), regexp_replace('aXbX'::citext, 'x'::citext, '-', 'g');
SELECT regexp_split_to_array('helloTworldTfoo'::citext, 't'::citext), regexp_split_to_array('helloTworld'::citext, 't'::citext, 'c');
SELECT * FROM regexp_split_to_table('hello WORLD tworld'::citext, 'W'::citext) AS words;
SELECT strpos('abCd'::citext, 'cD'::citext), replace('abcdefabcdef'::citext, 'CD'::citext, 'XX'), split_part('abcTdefTghi'::citext, 't'::citext, 2), translate('abCdef'::citext, 'CDE'::citext, '12');
SELECT strpos('a.C'::citext, '.c'), replace('a.b.c'::citext, '.'::citext, '+'::citext), split_part('a|b|c'::citext, '|'::citext, 3);

-- In tables: keys, indexes, groups, joins.
CREATE TABLE people (id int PRIMARY KEY, name citext UNIQUE NOT NULL, tags citext[] DEFAULT '{}', CHECK (name <> ''));
INSERT INTO people VALUES (1, 'Larry'), (2, 'Damian', '{Perl,C}'), (3, 'Tom'), (4, 'bjørn'), (5, 'Neal');
INSERT INTO people VALUES (6, 'larry');
INSERT INTO people VALUES (6, 'LARRY') ON CONFLICT (name) DO UPDATE SET id = 10 RETURNING *;
INSERT INTO people VALUES (7, '');
SELECT * FROM people ORDER BY name;
SELECT id FROM people WHERE name = 'LARRY';
SELECT id FROM people WHERE name = 'LARRY'::text;
SELECT id FROM people WHERE name::text = 'Larry';
SELECT id FROM people WHERE name IN ('TOM', 'neal') ORDER BY id;
SELECT id FROM people WHERE name >= 'n' AND name < 'U' ORDER BY name;
SELECT id FROM people WHERE name LIKE 'L%';
SELECT name FROM people ORDER BY name DESC LIMIT 2;
SELECT min(name), max(name), pg_typeof(min(name)), count(DISTINCT name) FROM people;
SELECT max(n), min(n) FROM (VALUES ('a'::citext), ('B'), ('C'), (NULL)) v(n);
SELECT tags, 'perl' = ANY (tags), tags @> '{PERL}' FROM people WHERE cardinality(tags) > 0;
CREATE TABLE words (w citext);
INSERT INTO words SELECT CASE WHEN i % 2 = 0 THEN 'Word' ELSE 'wORD' END || i / 2 FROM generate_series(1, 200) i;
CREATE INDEX words_w ON words (w);
ANALYZE words;
SET enable_seqscan = off;
SELECT count(*) FROM words WHERE w = 'WORD7';
SELECT w FROM words WHERE w >= 'word98' ORDER BY w, w::text;
RESET enable_seqscan;
SELECT lower(w::text), count(*) FROM words WHERE w < 'word11' GROUP BY w ORDER BY w;
SELECT count(*) FROM (SELECT DISTINCT w FROM words) d;
SELECT count(*) FROM words a JOIN words b ON a.w = b.w;
SELECT count(*) FROM words a JOIN words b USING (w) WHERE w = 'word5';
SELECT p.id FROM people p WHERE EXISTS (SELECT FROM (VALUES ('TOM'::citext)) v(n) WHERE v.n = p.name);
SELECT 'a'::citext UNION SELECT 'A'::citext;
SELECT count(*) FROM (SELECT w FROM words EXCEPT SELECT upper(w::text)::citext FROM words) e;
SELECT w, row_number() OVER (PARTITION BY w ORDER BY w::text) FROM words WHERE w <= 'word10' ORDER BY 1, 2;
UPDATE people SET name = upper(name) WHERE name = 'tom' RETURNING name, pg_typeof(name);
CREATE TABLE child (name citext REFERENCES people (name) ON UPDATE CASCADE);
INSERT INTO child VALUES ('TOM'), ('dAmian');
INSERT INTO child VALUES ('nobody');
UPDATE people SET name = 'Tommy' WHERE name = 'tom';
SELECT * FROM child ORDER BY 1;
DELETE FROM people WHERE name = 'tommy';
CREATE VIEW named AS SELECT id, name FROM people WHERE name = 'LARRY' OR name LIKE 'd%';
SELECT * FROM named ORDER BY id;
SELECT pg_get_viewdef('named');
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype <> 'n' and conrelid = 'people'::regclass ORDER BY 1;
SELECT column_name, data_type, udt_schema, udt_name FROM information_schema.columns WHERE table_name = 'people' ORDER BY ordinal_position;
CREATE FUNCTION find_person(n citext) RETURNS int LANGUAGE plpgsql AS $$ DECLARE c citext := n; BEGIN IF c = 'NEAL' THEN RETURN -1; END IF; RETURN (SELECT id FROM people WHERE name = n); END $$;
SELECT find_person('neal'), find_person('LARRY'), find_person('x');
CREATE DOMAIN email AS citext CHECK (VALUE ~ '^[a-z]+@');
SELECT 'ABC@x'::email, 'ABC@x'::email = 'abc@X';
SELECT '1@x'::email;
PREPARE q(citext) AS SELECT id FROM people WHERE name = $1;
EXECUTE q('DAMIAN');
PREPARE r AS SELECT id FROM people WHERE name = $1;
EXECUTE r('damian');
COPY people (id, name) TO STDOUT;
SELECT string_agg(name, ',' ORDER BY name), array_agg(name ORDER BY name) FROM people;

-- What belongs to it.
DROP TYPE citext;
DROP FUNCTION citext_eq(citext, citext);
ALTER TABLE words ALTER w TYPE text;
SELECT count(*) FROM words WHERE w = 'WORD7';
ALTER TABLE words ALTER w TYPE citext;
SELECT count(*) FROM words WHERE w = 'WORD7';
-- differs: the order of dependents
DROP EXTENSION citext;
CREATE SCHEMA other;
ALTER EXTENSION citext SET SCHEMA other;
SELECT 'a'::citext;
SELECT 'a'::other.citext = 'A';
SELECT 'a'::other.citext OPERATOR(other.=) 'A';
SELECT id FROM people WHERE name OPERATOR(other.=) 'LARRY';
ALTER EXTENSION citext SET SCHEMA public;
DROP TABLE people, words, child CASCADE;
DROP FUNCTION find_person;
DROP DOMAIN email;
DROP EXTENSION citext;
SELECT 'a'::citext;
CREATE EXTENSION citext SCHEMA other;
SET search_path = public, other;
SELECT 'x'::citext = 'X', 'other.citext'::regtype;
