-- What the functions say of rights on the system's relations is what reading them finds.
CREATE ROLE plain;
CREATE ROLE reader;
GRANT pg_read_all_data TO reader;
CREATE ROLE watcher;
GRANT pg_monitor TO watcher;
SELECT r.rolname, c.relname, has_table_privilege(r.rolname, c.oid, 'SELECT') AS reads,
  has_any_column_privilege(r.rolname, c.oid, 'SELECT') AS reads_any, has_table_privilege(r.rolname, c.oid, 'INSERT') AS inserts
FROM pg_class c, pg_roles r
WHERE c.relname IN ('pg_authid', 'pg_statistic', 'pg_statistic_ext_data', 'pg_largeobject', 'pg_user_mapping', 'pg_shadow', 'pg_config',
  'pg_file_settings', 'pg_hba_file_rules', 'pg_ident_file_mappings', 'pg_replication_origin_status', 'pg_backend_memory_contexts',
  'pg_shmem_allocations', 'pg_class', 'pg_roles', 'pg_stats') AND r.rolname IN ('plain', 'watcher')
ORDER BY 1, 2;
SELECT has_table_privilege('reader', 'pg_authid', 'SELECT'), has_column_privilege('plain', 'pg_authid', 'rolpassword', 'SELECT'),
  has_column_privilege('plain', 'pg_class', 'relname', 'SELECT'), has_table_privilege('public', 'pg_authid', 'SELECT'),
  has_table_privilege('public', 'pg_class', 'SELECT');
SET ROLE plain;
SELECT count(*) FROM pg_authid;
SELECT count(*) FROM pg_shmem_allocations;
SELECT count(*) FROM pg_shadow;
RESET ROLE;
SET ROLE watcher;
SELECT count(*) >= 0 FROM pg_shmem_allocations;
SELECT count(*) >= 0 FROM pg_backend_memory_contexts;
SELECT count(*) FROM pg_authid;
RESET ROLE;
SET ROLE reader;
SELECT count(*) > 0 FROM pg_authid;
SELECT count(*) > 0 FROM pg_shadow;
RESET ROLE;
-- Views that triggers make writable.
CREATE VIEW one AS SELECT 1 AS a;
CREATE TABLE t (a int);
CREATE VIEW simple AS SELECT a FROM t;
CREATE VIEW partly AS SELECT a, a + 1 AS b FROM t;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER i INSTEAD OF INSERT ON one FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT concat_ws(' ', table_name, is_updatable, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into) AS view
FROM information_schema.views WHERE table_schema = 'public' ORDER BY 1;
CREATE TRIGGER u INSTEAD OF UPDATE OR DELETE ON one FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT concat_ws(' ', table_name, is_updatable, is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into) AS view
FROM information_schema.views WHERE table_schema = 'public' ORDER BY 1;
