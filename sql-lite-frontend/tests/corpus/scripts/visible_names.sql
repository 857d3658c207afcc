-- What the search path finds by its name alone: pg_…_is_visible, and the schema that reg… types write.
CREATE SCHEMA shop;
CREATE TABLE people (id int PRIMARY KEY, name text);
CREATE INDEX people_name ON people (name);
CREATE SEQUENCE numbers;
CREATE TYPE pair AS (a int, b int);
CREATE TYPE shop.pair AS (a int);
CREATE TYPE shop.single AS (a int);
CREATE TYPE mood AS ENUM ('sad', 'ok');
SELECT oid::regclass, pg_table_is_visible(oid) FROM pg_class WHERE relname IN ('pair', 'single', 'people', 'people_pkey', 'people_name', 'numbers', 'mood') ORDER BY oid::regclass::text;
SELECT 'pair'::regclass, 'shop.pair'::regclass, 'shop.single'::regclass, to_regclass('single'), to_regclass('mood'), to_regclass('nowhere.pair');
SELECT 'single'::regclass;
SELECT attname, attrelid::regclass FROM pg_attribute WHERE attrelid IN ('pair'::regclass, 'shop.pair'::regclass) ORDER BY attrelid::regclass::text, attnum;
SELECT typname, typrelid::regclass FROM pg_type WHERE typname IN ('pair', 'single', 'mood') ORDER BY typname, typrelid::regclass::text;
-- psql's \d pair
SELECT n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(pair)$' COLLATE pg_catalog.default AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2;
-- one before the other
CREATE TABLE shop.people (id int);
CREATE INDEX people_name ON shop.people (id);
SET search_path TO shop, public;
SELECT oid::regclass, pg_table_is_visible(oid) FROM pg_class WHERE relname IN ('pair', 'people', 'people_pkey', 'people_name', 'numbers') ORDER BY oid::regclass::text;
SELECT 'people_name'::regclass, 'people_pkey'::regclass, 'pair'::regclass;
-- a type hides no relation, a relation no type
CREATE TYPE shop.numbers AS ENUM ('one');
SELECT oid::regclass, pg_table_is_visible(oid) FROM pg_class WHERE relname = 'numbers';
-- a name of the catalog's
CREATE TABLE shop.pg_class (a int);
CREATE TEMP TABLE people (id int);
SELECT oid::regclass, pg_table_is_visible(oid) FROM pg_catalog.pg_class WHERE relname IN ('pg_class', 'people') AND relnamespace::regnamespace::text !~ '^pg_temp' ORDER BY oid::regclass::text;
SET search_path TO shop, pg_catalog;
SELECT oid::regclass, pg_table_is_visible(oid) FROM pg_catalog.pg_class WHERE relname IN ('pg_class', 'people_pkey') ORDER BY oid::regclass::text;
RESET search_path;
DROP TABLE people;
SELECT 'information_schema.tables'::regclass, pg_table_is_visible('information_schema.tables'::regclass), 'pg_tables'::regclass, pg_table_is_visible('pg_tables'::regclass);
SET search_path TO information_schema;
SELECT 'tables'::regclass, pg_table_is_visible('information_schema.tables'::regclass);
RESET search_path;
-- functions
CREATE FUNCTION added(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION shop.added(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION shop.added(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE shop.done() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE shop.total(int) (SFUNC = int4pl, STYPE = int);
CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION lower(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
SELECT oid::regprocedure, pg_function_is_visible(oid) FROM pg_proc WHERE proname IN ('added', 'done', 'total', 'lower') ORDER BY oid::regprocedure::text;
SET search_path TO shop, public;
SELECT oid::regprocedure, pg_function_is_visible(oid) FROM pg_proc WHERE proname IN ('added', 'done', 'total', 'lower') ORDER BY oid::regprocedure::text;
SET search_path TO public, pg_catalog;
SELECT oid::regprocedure, pg_function_is_visible(oid) FROM pg_proc WHERE proname IN ('added', 'lower') ORDER BY oid::regprocedure::text;
RESET search_path;
SELECT count(*) FROM pg_proc WHERE NOT pg_function_is_visible(oid) AND pronamespace = 'pg_catalog'::regnamespace;
SELECT pg_function_is_visible(4000000000), pg_operator_is_visible(4000000000), pg_table_is_visible(4000000000), pg_type_is_visible(4000000000);
-- operators
CREATE OPERATOR shop.### (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl);
CREATE OPERATOR public.+ (LEFTARG = int, RIGHTARG = int, FUNCTION = int4mul);
CREATE OPERATOR public.### (LEFTARG = text, RIGHTARG = text, FUNCTION = textcat);
SELECT oid::regoperator, pg_operator_is_visible(oid) FROM pg_operator WHERE oprname = '###' OR oprname = '+' AND oprleft = 'int'::regtype AND oprright = 'int'::regtype ORDER BY oid::regoperator::text;
SET search_path TO shop, public, pg_catalog;
SELECT oid::regoperator, pg_operator_is_visible(oid) FROM pg_operator WHERE oprname = '###' OR oprname = '+' AND oprleft = 'int'::regtype AND oprright = 'int'::regtype ORDER BY oid::regoperator::text;
RESET search_path;
SELECT count(*) FROM pg_operator WHERE NOT pg_operator_is_visible(oid) AND oprnamespace = 'pg_catalog'::regnamespace;
-- languages, by the numbers of their handlers
-- differs: numbers of the language's functions
SELECT oid, lanname, lanispl, lanpltrusted, lanplcallfoid, laninline, lanvalidator, lanacl FROM pg_language ORDER BY oid;
SELECT l.lanname FROM pg_catalog.pg_language l WHERE l.lanplcallfoid != 0;
