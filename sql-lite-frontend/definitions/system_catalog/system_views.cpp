#include "sql-lite-frontend/definitions/system_catalog/providers.h"

namespace swizzle::sql {
namespace {

constexpr SystemView kSystemViews[] = {
    {kPgCatalogSchema, "pg_user",
     "usename usesysid usecreatedb usesuper userepl usebypassrls passwd valuntil useconfig",
     "SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, "
     "rolsuper AS usesuper, rolreplication AS userepl, rolbypassrls AS usebypassrls, "
     "rolpassword AS passwd, rolvaliduntil AS valuntil, rolconfig AS useconfig "
     "FROM pg_catalog.pg_roles WHERE rolcanlogin"},
    {kPgCatalogSchema, "pg_shadow",
     "usename usesysid usecreatedb usesuper userepl usebypassrls passwd valuntil useconfig",
     "SELECT a.rolname AS usename, a.oid AS usesysid, a.rolcreatedb AS usecreatedb, "
     "a.rolsuper AS usesuper, a.rolreplication AS userepl, a.rolbypassrls AS usebypassrls, "
     "a.rolpassword AS passwd, a.rolvaliduntil AS valuntil, s.setconfig AS useconfig "
     "FROM pg_catalog.pg_authid a LEFT JOIN pg_catalog.pg_db_role_setting s "
     "ON s.setrole = a.oid AND s.setdatabase = 0 WHERE a.rolcanlogin"},
    {kPgCatalogSchema, "pg_group", "groname grosysid grolist",
     "SELECT r.rolname AS groname, r.oid AS grosysid, "
     "ARRAY(SELECT m.member FROM pg_catalog.pg_auth_members m WHERE m.roleid = r.oid) AS grolist "
     "FROM pg_catalog.pg_roles r WHERE NOT r.rolcanlogin"},
    {kPgCatalogSchema, "pg_matviews",
     "schemaname matviewname matviewowner tablespace hasindexes ispopulated definition",
     "SELECT n.nspname AS schemaname, c.relname AS matviewname, "
     "pg_catalog.pg_get_userbyid(c.relowner) AS matviewowner, NULL::pg_catalog.name AS tablespace, "
     "c.relhasindex AS hasindexes, c.relispopulated AS ispopulated, "
     "pg_catalog.pg_get_viewdef(c.oid) AS definition "
     "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "WHERE c.relkind = 'm'"},
    {kPgCatalogSchema, "pg_policies",
     "schemaname tablename policyname permissive roles cmd qual with_check",
     "SELECT n.nspname AS schemaname, c.relname AS tablename, pol.polname AS policyname, "
     "CASE WHEN pol.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS permissive, "
     "CASE WHEN pol.polroles = '{0}'::pg_catalog.oid[] THEN ARRAY['public'::pg_catalog.name] "
     "ELSE ARRAY(SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ANY (pol.polroles) ORDER BY "
     "1) "
     "END AS roles, "
     "CASE pol.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' "
     "WHEN 'd' THEN 'DELETE' WHEN '*' THEN 'ALL' END AS cmd, "
     "pg_catalog.pg_get_expr(pol.polqual, pol.polrelid) AS qual, "
     "pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid) AS with_check "
     "FROM pg_catalog.pg_policy pol JOIN pg_catalog.pg_class c ON c.oid = pol.polrelid "
     "LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"},
    {kPgCatalogSchema, "pg_prepared_xacts", "transaction gid prepared owner database",
     "SELECT p.transaction, p.gid, p.prepared, u.rolname AS owner, d.datname AS database "
     "FROM pg_catalog.pg_prepared_xact() p "
     "LEFT JOIN pg_catalog.pg_roles u ON p.ownerid = u.oid "
     "LEFT JOIN pg_catalog.pg_database d ON p.dbid = d.oid"},
    {kPgCatalogSchema, "pg_publication_tables", "pubname schemaname tablename attnames rowfilter",
     "SELECT p.pubname, n.nspname AS schemaname, c.relname AS tablename, "
     "(SELECT pg_catalog.array_agg(a.attname ORDER BY a.attnum) FROM pg_catalog.pg_attribute a "
     "WHERE a.attrelid = g.relid AND a.attnum > 0 AND NOT a.attisdropped "
     "AND a.attnum = ANY (g.attrs)) AS attnames, "
     "pg_catalog.pg_get_expr(g.qual, g.relid) AS rowfilter "
     "FROM pg_catalog.pg_publication p, "
     "LATERAL pg_catalog.pg_get_publication_tables(p.pubname) g, "
     "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "WHERE c.oid = g.relid"},
    {kPgCatalogSchema, "pg_sequences",
     "schemaname sequencename sequenceowner data_type start_value min_value max_value "
     "increment_by cycle cache_size last_value",
     "SELECT n.nspname AS schemaname, c.relname AS sequencename, "
     "pg_catalog.pg_get_userbyid(c.relowner) AS sequenceowner, s.seqtypid AS data_type, "
     "s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value, "
     "s.seqincrement AS increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size, "
     "CASE WHEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT,USAGE') "
     "AND pg_catalog.swizzle_sequence_is_called(c.oid) "
     "THEN pg_catalog.swizzle_sequence_value(c.oid) END AS last_value "
     "FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"},
    {kPgCatalogSchema, "pg_stat_progress_analyze",
     "pid datid datname relid phase sample_blks_total sample_blks_scanned ext_stats_total "
     "ext_stats_computed child_tables_total child_tables_done current_child_table_relid",
     "SELECT s.pid, s.datid, d.datname, s.relid, CASE s.param1 WHEN 0 THEN 'initializing' "
     "WHEN 1 THEN 'acquiring sample rows' "
     "WHEN 3 THEN 'computing statistics' END AS phase, s.param2 AS sample_blks_total, "
     "s.param3 AS sample_blks_scanned, s.param4 AS ext_stats_total, s.param5 AS "
     "ext_stats_computed, "
     "s.param6 AS child_tables_total, s.param7 AS child_tables_done, "
     "s.param8::pg_catalog.oid AS current_child_table_relid "
     "FROM pg_catalog.pg_stat_get_progress_info('ANALYZE') s "
     "LEFT JOIN pg_catalog.pg_database d ON s.datid = d.oid"},
    {kPgCatalogSchema, "pg_stat_progress_basebackup",
     "pid phase backup_total backup_streamed tablespaces_total tablespaces_streamed",
     "SELECT s.pid, CASE s.param1 WHEN 0 THEN 'initializing' "
     "WHEN 1 THEN 'waiting for checkpoint to finish' WHEN 3 THEN 'streaming database files' "
     "WHEN 5 THEN 'transferring wal files' END AS phase, "
     "NULLIF(s.param2, -1) AS backup_total, s.param3 AS backup_streamed, "
     "s.param4 AS tablespaces_total, s.param5 AS tablespaces_streamed "
     "FROM pg_catalog.pg_stat_get_progress_info('BASEBACKUP') s"},
    {kPgCatalogSchema, "pg_stat_progress_copy",
     "pid datid datname relid command type bytes_processed bytes_total tuples_processed "
     "tuples_excluded",
     "SELECT s.pid, s.datid, d.datname, s.relid, CASE s.param5 WHEN 1 THEN 'COPY FROM' "
     "WHEN 2 THEN 'COPY TO' END AS command, CASE s.param6 WHEN 3 THEN 'PIPE' END AS type, "
     "s.param1 AS bytes_processed, s.param2 AS bytes_total, s.param3 AS tuples_processed, "
     "s.param4 AS tuples_excluded FROM pg_catalog.pg_stat_get_progress_info('COPY') s "
     "LEFT JOIN pg_catalog.pg_database d ON s.datid = d.oid"},
    {kPgCatalogSchema, "pg_stat_progress_create_index",
     "pid datid datname relid index_relid command phase lockers_total lockers_done "
     "current_locker_pid blocks_total blocks_done tuples_total tuples_done partitions_total "
     "partitions_done",
     "SELECT s.pid, s.datid, d.datname, s.relid, s.param7::pg_catalog.oid AS index_relid, "
     "CASE s.param1 WHEN 1 THEN 'CREATE INDEX' WHEN 2 THEN 'CREATE INDEX CONCURRENTLY' "
     "WHEN 3 THEN 'REINDEX' WHEN 4 THEN 'REINDEX CONCURRENTLY' END AS command, "
     "CASE s.param10 WHEN 0 THEN 'initializing' WHEN 1 THEN 'waiting for writers before build' "
     "WHEN 2 THEN CASE WHEN s.param12 = 0 "
     "THEN 'building index: scanning table' ELSE 'building index: loading tuples in tree' END "
     "END AS phase, s.param4 AS lockers_total, s.param5 AS lockers_done, "
     "s.param6 AS current_locker_pid, s.param16 AS blocks_total, s.param17 AS blocks_done, "
     "s.param12 AS tuples_total, s.param13 AS tuples_done, s.param14 AS partitions_total, "
     "s.param15 AS partitions_done FROM pg_catalog.pg_stat_get_progress_info('CREATE INDEX') s "
     "LEFT JOIN pg_catalog.pg_database d ON s.datid = d.oid"},
    // A server that accepts statements replays nothing, so there are no conflicts.
    {kPgCatalogSchema, "pg_stat_database_conflicts",
     "datid datname confl_tablespace confl_lock confl_snapshot confl_bufferpin confl_deadlock "
     "confl_active_logicalslot",
     "SELECT d.oid AS datid, d.datname, 0::pg_catalog.int8 AS confl_tablespace, "
     "0::pg_catalog.int8 AS confl_lock, 0::pg_catalog.int8 AS confl_snapshot, "
     "0::pg_catalog.int8 AS confl_bufferpin, 0::pg_catalog.int8 AS confl_deadlock, "
     "0::pg_catalog.int8 AS confl_active_logicalslot "
     "FROM pg_catalog.pg_database d"},
    {kPgCatalogSchema, "pg_timezone_abbrevs", "abbrev utc_offset is_dst",
     "SELECT abbrev, utc_offset, is_dst FROM pg_catalog.pg_timezone_abbrevs_zone() UNION ALL "
     "SELECT a.abbrev, a.utc_offset, a.is_dst FROM pg_catalog.pg_timezone_abbrevs_abbrevs() a "
     "WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_timezone_abbrevs_zone() z "
     "WHERE z.abbrev = a.abbrev)"},
    {kPgCatalogSchema, "pg_timezone_names", "name abbrev utc_offset is_dst",
     "SELECT name, abbrev, utc_offset, is_dst FROM pg_catalog.pg_timezone_names()"},
};

}  // namespace

std::span<const SystemView> system_views() {
  return kSystemViews;
}

}  // namespace swizzle::sql
