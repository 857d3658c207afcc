#include "sql-lite-frontend/system_catalog/providers.h"

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
    // Nothing is replayed here that statements could be in the way of.
    {kPgCatalogSchema, "pg_stat_database_conflicts",
     "datid datname confl_tablespace confl_lock confl_snapshot confl_bufferpin confl_deadlock",
     "SELECT d.oid AS datid, d.datname, 0::pg_catalog.int8 AS confl_tablespace, "
     "0::pg_catalog.int8 AS confl_lock, 0::pg_catalog.int8 AS confl_snapshot, "
     "0::pg_catalog.int8 AS confl_bufferpin, 0::pg_catalog.int8 AS confl_deadlock "
     "FROM pg_catalog.pg_database d"},
    {kPgCatalogSchema, "pg_timezone_abbrevs", "abbrev utc_offset is_dst",
     "SELECT abbrev, utc_offset, is_dst FROM pg_catalog.pg_timezone_abbrevs()"},
    {kPgCatalogSchema, "pg_timezone_names", "name abbrev utc_offset is_dst",
     "SELECT name, abbrev, utc_offset, is_dst FROM pg_catalog.pg_timezone_names()"},
};

}  // namespace

std::span<const SystemView> system_views() {
  return kSystemViews;
}

}  // namespace swizzle::sql
