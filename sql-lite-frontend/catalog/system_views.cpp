#include "sql-lite-frontend/catalog/providers.h"

namespace swizzle::sql {
namespace {

// A key or foreign key with the number of each of its columns; `position` counts from 1.
#define SWIZZLE_KEY_COLUMNS                                                       \
  "SELECT k.oid, k.conname, k.connamespace, k.contype, k.conrelid, k.confrelid, " \
  "k.conindid, k.confkey, u.number, u.position "                                  \
  "FROM pg_catalog.pg_constraint k "                                              \
  "CROSS JOIN LATERAL pg_catalog.unnest(k.conkey) WITH ORDINALITY AS u(number, position)"

constexpr SystemView kViews[] = {
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
    {kPgCatalogSchema, "pg_stat_database",
     "datid datname numbackends xact_commit xact_rollback blks_read blks_hit deadlocks",
     "SELECT d.oid AS datid, d.datname, (SELECT pg_catalog.count(*) "
     "FROM pg_catalog.pg_stat_activity a WHERE a.datid = d.oid) AS numbackends, "
     "CASE WHEN s.is_ours THEN s.commits ELSE 0 END AS xact_commit, "
     "CASE WHEN s.is_ours THEN s.rollbacks ELSE 0 END AS xact_rollback, "
     "CASE WHEN s.is_ours THEN s.pages_read ELSE 0 END AS blks_read, "
     "CASE WHEN s.is_ours THEN GREATEST(s.asked - s.pages_read, 0) ELSE 0 END AS blks_hit, "
     "CASE WHEN s.is_ours THEN s.deadlocks ELSE 0 END AS deadlocks "
     "FROM pg_catalog.pg_database d CROSS JOIN LATERAL "
     "(SELECT d.datname = pg_catalog.current_database() AS is_ours, "
     "pg_catalog.max(value) FILTER (WHERE name = 'commits') AS commits, "
     "pg_catalog.max(value) FILTER (WHERE name = 'rollbacks') AS rollbacks, "
     "pg_catalog.max(value) FILTER (WHERE name = 'pages_read') AS pages_read, "
     "pg_catalog.max(value) FILTER (WHERE name = 'leaf_requests') AS asked, "
     "pg_catalog.max(value) FILTER (WHERE name = 'deadlocks') AS deadlocks "
     "FROM pg_catalog.swizzle_statistics) s"},
    {kPgCatalogSchema, "pg_stat_bgwriter",
     "checkpoints_timed checkpoints_req buffers_checkpoint buffers_clean maxwritten_clean "
     "buffers_backend buffers_backend_fsync buffers_alloc checkpoint_write_time "
     "checkpoint_sync_time stats_reset",
     "SELECT pg_catalog.max(value) FILTER (WHERE name = 'checkpoints') AS checkpoints_timed, "
     "0::pg_catalog.int8 AS checkpoints_req, 0::pg_catalog.int8 AS buffers_checkpoint, "
     "pg_catalog.max(value) FILTER (WHERE name = 'pages_written') AS buffers_clean, "
     "0::pg_catalog.int8 AS maxwritten_clean, 0::pg_catalog.int8 AS buffers_backend, "
     "0::pg_catalog.int8 AS buffers_backend_fsync, "
     "pg_catalog.max(value) FILTER (WHERE name = 'pages_read') AS buffers_alloc, "
     "0::pg_catalog.float8 AS checkpoint_write_time, "
     "0::pg_catalog.float8 AS checkpoint_sync_time, "
     "pg_catalog.pg_postmaster_start_time() AS stats_reset "
     "FROM pg_catalog.swizzle_statistics"},
    {kPgCatalogSchema, "pg_stat_archiver", "stats_reset",
     "SELECT pg_catalog.pg_postmaster_start_time() AS stats_reset"},
    {kPgCatalogSchema, "pg_stat_database_conflicts", "datid datname",
     "SELECT d.oid AS datid, d.datname FROM pg_catalog.pg_database d"},
    {kPgCatalogSchema, "pg_timezone_abbrevs", "abbrev utc_offset is_dst",
     "SELECT 'UTC' AS abbrev, interval '0' AS utc_offset, false AS is_dst"},

    {kInformationSchema, "information_schema_catalog_name", "catalog_name",
     "SELECT pg_catalog.current_database() AS catalog_name"},
    {kInformationSchema, "views",
     "table_catalog table_schema table_name view_definition check_option is_updatable "
     "is_insertable_into is_trigger_updatable is_trigger_deletable "
     "is_trigger_insertable_into",
     "SELECT pg_catalog.current_database() AS table_catalog, v.schemaname AS table_schema, "
     "v.viewname AS table_name, v.definition AS view_definition, 'NONE' AS check_option, "
     "'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable, "
     "'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into "
     "FROM pg_catalog.pg_views v"},
    {kInformationSchema, "sequences",
     "sequence_catalog sequence_schema sequence_name data_type numeric_precision "
     "numeric_precision_radix numeric_scale start_value minimum_value maximum_value "
     "increment cycle_option",
     "SELECT pg_catalog.current_database() AS sequence_catalog, "
     "s.schemaname AS sequence_schema, s.sequencename AS sequence_name, "
     "pg_catalog.format_type(s.data_type, -1) AS data_type, "
     "CASE s.data_type WHEN 'int2'::pg_catalog.regtype THEN 16 "
     "WHEN 'int4'::pg_catalog.regtype THEN 32 ELSE 64 END AS numeric_precision, "
     "2 AS numeric_precision_radix, 0 AS numeric_scale, s.start_value, "
     "s.min_value AS minimum_value, s.max_value AS maximum_value, "
     "s.increment_by AS increment, CASE WHEN s.cycle THEN 'YES' ELSE 'NO' END AS cycle_option "
     "FROM pg_catalog.pg_sequences s JOIN pg_catalog.pg_namespace n "
     "ON n.nspname = s.schemaname JOIN pg_catalog.pg_class c "
     "ON c.relnamespace = n.oid AND c.relname = s.sequencename "
     "WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d "
     "WHERE d.objid = c.oid AND d.deptype = 'i')"},
    {kInformationSchema, "table_constraints",
     "constraint_catalog constraint_schema constraint_name table_catalog table_schema "
     "table_name constraint_type is_deferrable initially_deferred enforced nulls_distinct",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.current_database() AS table_catalog, n.nspname AS table_schema, "
     "c.relname AS table_name, CASE k.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN "
     "'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS constraint_type, "
     "CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable, "
     "CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred, "
     "'YES' AS enforced, CASE WHEN k.contype <> 'u' THEN NULL WHEN i.indnullsnotdistinct "
     "THEN 'NO' ELSE 'YES' END AS nulls_distinct FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_class c ON c.oid = k.conrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = k.conindid "
     "UNION ALL SELECT pg_catalog.current_database(), n.nspname, "
     "n.oid::pg_catalog.text || '_' || c.oid::pg_catalog.text || '_' || "
     "a.attnum::pg_catalog.text || '_not_null', pg_catalog.current_database(), n.nspname, "
     "c.relname, 'CHECK', 'NO', 'NO', 'YES', NULL FROM pg_catalog.pg_attribute a "
     "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "WHERE a.attnotnull AND NOT a.attisdropped AND c.relkind = 'r' "
     "AND n.nspname NOT IN ('pg_catalog', 'information_schema')"},
    {kInformationSchema, "key_column_usage",
     "constraint_catalog constraint_schema constraint_name table_catalog table_schema "
     "table_name column_name ordinal_position position_in_unique_constraint",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.current_database() AS table_catalog, n.nspname AS table_schema, "
     "c.relname AS table_name, a.attname AS column_name, k.position AS ordinal_position, "
     "CASE WHEN k.contype = 'f' THEN pg_catalog.array_position((SELECT r.conkey "
     "FROM pg_catalog.pg_constraint r WHERE r.conindid = k.conindid AND r.contype <> 'f'), "
     "k.confkey[k.position]) END AS position_in_unique_constraint FROM (" SWIZZLE_KEY_COLUMNS
     ") k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.number "
     "WHERE k.contype IN ('p', 'u', 'f')"},
    {kInformationSchema, "constraint_column_usage",
     "table_catalog table_schema table_name column_name constraint_catalog "
     "constraint_schema constraint_name",
     "SELECT DISTINCT pg_catalog.current_database() AS table_catalog, "
     "tn.nspname AS table_schema, t.relname AS table_name, a.attname AS column_name, "
     "pg_catalog.current_database() AS constraint_catalog, n.nspname AS constraint_schema, "
     "k.conname AS constraint_name FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace "
     "JOIN pg_catalog.pg_class t ON t.oid = CASE WHEN k.contype = 'f' THEN k.confrelid "
     "ELSE k.conrelid END "
     "JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace "
     "JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY "
     "(CASE WHEN k.contype = 'f' THEN k.confkey ELSE k.conkey END)"},
    {kInformationSchema, "constraint_table_usage",
     "table_catalog table_schema table_name constraint_catalog constraint_schema "
     "constraint_name",
     "SELECT pg_catalog.current_database() AS table_catalog, tn.nspname AS table_schema, "
     "t.relname AS table_name, pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name "
     "FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace "
     "JOIN pg_catalog.pg_class t ON t.oid = CASE WHEN k.contype = 'f' THEN k.confrelid "
     "ELSE k.conrelid END "
     "JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace "
     "WHERE k.contype IN ('p', 'u', 'f')"},
    {kInformationSchema, "check_constraints",
     "constraint_catalog constraint_schema constraint_name check_clause",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.pg_get_expr(k.conbin, k.conrelid) AS check_clause "
     "FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'c' "
     "UNION ALL SELECT pg_catalog.current_database(), n.nspname, "
     "n.oid::pg_catalog.text || '_' || c.oid::pg_catalog.text || '_' || "
     "a.attnum::pg_catalog.text || '_not_null', a.attname::pg_catalog.text || ' IS NOT NULL' "
     "FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "WHERE a.attnotnull AND NOT a.attisdropped AND c.relkind = 'r' "
     "AND n.nspname NOT IN ('pg_catalog', 'information_schema')"},
    {kInformationSchema, "referential_constraints",
     "constraint_catalog constraint_schema constraint_name unique_constraint_catalog "
     "unique_constraint_schema unique_constraint_name match_option update_rule delete_rule",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.current_database() AS unique_constraint_catalog, "
     "rn.nspname AS unique_constraint_schema, r.conname AS unique_constraint_name, "
     "CASE k.confmatchtype WHEN 'f' THEN 'FULL' ELSE 'NONE' END AS match_option, "
     "CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN "
     "'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS update_rule, "
     "CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN "
     "'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS delete_rule "
     "FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace "
     "LEFT JOIN pg_catalog.pg_constraint r ON r.conindid = k.conindid AND r.contype <> 'f' "
     "LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.connamespace WHERE k.contype = 'f'"},
    {kInformationSchema, "character_sets",
     "character_set_name character_repertoire form_of_use default_collate_catalog "
     "default_collate_schema default_collate_name",
     "SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, "
     "'UTF8' AS form_of_use, pg_catalog.current_database() AS default_collate_catalog, "
     "'pg_catalog' AS default_collate_schema, 'default' AS default_collate_name"},
    {kInformationSchema, "enabled_roles", "role_name",
     "SELECT rolname AS role_name FROM pg_catalog.pg_roles "
     "WHERE rolname = pg_catalog.current_user()"},
};
#undef SWIZZLE_KEY_COLUMNS

}  // namespace

std::span<const SystemView> system_views() {
  return kViews;
}

}  // namespace swizzle::sql
