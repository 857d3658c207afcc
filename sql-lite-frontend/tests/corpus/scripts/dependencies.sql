-- pg_depend, as tools read it.
CREATE SCHEMA s; CREATE TABLE s.p (id int PRIMARY KEY, a int, b text); CREATE TABLE s.t (id serial, f int REFERENCES s.p, u text UNIQUE, g int GENERATED ALWAYS AS (f + 1) STORED, x int DEFAULT 5, CHECK (f > 0), CONSTRAINT fixed CHECK (true));
CREATE INDEX ti ON s.t (u, x) INCLUDE (g); CREATE INDEX te ON s.t ((x + 1)) WHERE f > 0; CREATE VIEW s.v AS SELECT t.id, p.a FROM s.t JOIN s.p ON p.id = t.f; CREATE VIEW s.v2 AS SELECT a FROM s.v; CREATE SEQUENCE s.q; CREATE SEQUENCE s.owned OWNED BY s.p.b;
CREATE FUNCTION s.tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER tr BEFORE INSERT ON s.p FOR EACH ROW EXECUTE FUNCTION s.tf(); CREATE FUNCTION s.sf(s.p) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE PUBLICATION pub FOR TABLE s.p;
-- differs: as PostgreSQL 18
SELECT pg_describe_object(classid, objid, objsubid), pg_describe_object(refclassid, refobjid, refobjsubid), deptype FROM pg_depend WHERE (objid >= 16384 OR refobjid >= 16384) AND pg_describe_object(classid, objid, objsubid) !~ 'toast|RI_Cons' ORDER BY 1, 2, 3;
SELECT DISTINCT c.relname FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = r.ev_class WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = 's.p'::regclass AND d.refobjsubid = 2 AND d.deptype = 'n';
SELECT DISTINCT c.relname FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = r.ev_class WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = 's.p'::regclass AND d.refobjsubid = 3 AND d.deptype = 'n';
SELECT s.relname, t.relname, a.attname, d.deptype FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid WHERE s.relkind = 'S' ORDER BY 1;
-- differs: as PostgreSQL 18
SELECT con.conname, a.attname FROM pg_constraint con JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = con.oid AND d.deptype = 'a' JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid WHERE con.connamespace = 's'::regnamespace ORDER BY 1, 2;
