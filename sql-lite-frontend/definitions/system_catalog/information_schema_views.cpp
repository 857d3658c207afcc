#include "sql-lite-frontend/definitions/system_catalog/providers.h"

/// Relations of information_schema that are defined as queries over pg_catalog.
namespace swizzle::sql {
namespace {

// Columns of keys and foreign keys, numbered from 1 (`position`).
#define SWIZZLE_KEY_COLUMNS                                                       \
  "SELECT k.oid, k.conname, k.connamespace, k.contype, k.conrelid, k.confrelid, " \
  "k.conindid, k.confkey, u.number, u.position "                                  \
  "FROM pg_catalog.pg_constraint k "                                              \
  "CROSS JOIN LATERAL pg_catalog.unnest(k.conkey) WITH ORDINALITY AS u(number, position)"

// True if the relation `r` is visible: to its owner and to holders of a right to it. For
// constraints SELECT alone does not suffice.
#define SWIZZLE_OWNS(r) "pg_catalog.pg_has_role(" #r ".relowner, 'USAGE')"
#define SWIZZLE_MAY_CHANGE(r)                                                           \
  "(" SWIZZLE_OWNS(r) " OR pg_catalog.has_table_privilege(" #r                          \
                      ".oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') " \
                      "OR pg_catalog.has_any_column_privilege(" #r                      \
                      ".oid, 'INSERT, UPDATE, REFERENCES'))"
#define SWIZZLE_MAY_SEE(r) \
  "(" SWIZZLE_MAY_CHANGE(r) " OR pg_catalog.has_any_column_privilege(" #r ".oid, 'SELECT'))"

// The standard's name of a type of pg_type.
#define SWIZZLE_TYPE_WORD(t)                                              \
  "CASE WHEN " #t ".typelem <> 0 AND " #t                                 \
  ".typlen = -1 THEN 'ARRAY' WHEN nt.nspname "                            \
  "= 'pg_catalog' THEN pg_catalog.format_type(" #t ".oid, NULL) WHEN " #t \
  ".oid IS NOT NULL THEN 'USER-DEFINED' END"

// Names of the routine `p`, of schema `n`, as the first columns of a view of what it uses.
#define SWIZZLE_USING_COLUMNS \
  "specific_catalog specific_schema specific_name routine_catalog routine_schema "
#define SWIZZLE_USING_ROUTINE                                                        \
  "SELECT DISTINCT pg_catalog.current_database() AS specific_catalog, n.nspname AS " \
  "specific_schema, p.proname || '_' || p.oid AS specific_name, "                    \
  "pg_catalog.current_database() AS routine_catalog, n.nspname AS routine_schema, "
#define SWIZZLE_USED_BY_ROUTINE(catalog)                                      \
  "FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid = d.objid " \
  "JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "                 \
  "AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass "                \
  "AND d.refclassid = 'pg_catalog." catalog "'::pg_catalog.regclass "
// The relation `u` that it uses, of schema `un`.
#define SWIZZLE_USED_RELATION                         \
  SWIZZLE_USED_BY_ROUTINE("pg_class")                 \
  "JOIN pg_catalog.pg_class u ON u.oid = d.refobjid " \
  "JOIN pg_catalog.pg_namespace un ON un.oid = u.relnamespace "

constexpr SystemView kInformationSchemaViews[] = {
    {kInformationSchema, "information_schema_catalog_name", "catalog_name",
     "SELECT pg_catalog.current_database() AS catalog_name"},
    {kInformationSchema, "views",
     "table_catalog table_schema table_name view_definition check_option is_updatable "
     "is_insertable_into is_trigger_updatable is_trigger_deletable "
     "is_trigger_insertable_into",
     "SELECT pg_catalog.current_database() AS table_catalog, n.nspname AS table_schema, "
     "c.relname AS table_name, CASE WHEN " SWIZZLE_OWNS(
         c) " THEN "
            "pg_catalog.pg_get_viewdef(c.oid) END AS view_definition, "
            "CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED' "
            "WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL' ELSE 'NONE' END "
            "AS check_option, CASE WHEN u.events & 20 = 20 THEN 'YES' ELSE 'NO' END AS "
            "is_updatable, "
            "CASE WHEN u.events & 8 = 8 THEN 'YES' ELSE 'NO' END AS is_insertable_into, "
            // Bits of tgtype: for each row 1, INSERT 4, DELETE 8, UPDATE 16, INSTEAD OF 64.
            "CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid "
            "AND t.tgtype & 81 = 81) THEN 'YES' ELSE 'NO' END AS is_trigger_updatable, "
            "CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid "
            "AND t.tgtype & 73 = 73) THEN 'YES' ELSE 'NO' END AS is_trigger_deletable, "
            "CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid "
            "AND t.tgtype & 69 = 69) THEN 'YES' ELSE 'NO' END AS is_trigger_insertable_into "
            "FROM pg_catalog.pg_class c "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL "
            "(SELECT pg_catalog.pg_relation_is_updatable(c.oid, false) AS events) u "
            "WHERE c.relkind = 'v' AND " SWIZZLE_MAY_SEE(
                c) " AND n.nspname NOT IN ('pg_catalog', 'information_schema')"},
    {kInformationSchema, "view_table_usage",
     "view_catalog view_schema view_name table_catalog table_schema table_name",
     "SELECT DISTINCT pg_catalog.current_database() AS view_catalog, vn.nspname AS view_schema, "
     "v.relname AS view_name, pg_catalog.current_database() AS table_catalog, "
     "tn.nspname AS table_schema, t.relname AS table_name FROM pg_catalog.pg_rewrite r "
     "JOIN pg_catalog.pg_class v ON v.oid = r.ev_class AND v.relkind = 'v' "
     "JOIN pg_catalog.pg_namespace vn ON vn.oid = v.relnamespace "
     "JOIN pg_catalog.pg_depend d ON d.objid = r.oid AND d.deptype = 'n' "
     "AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass "
     "JOIN pg_catalog.pg_class t ON t.oid = d.refobjid AND t.oid <> v.oid "
     "AND t.relkind IN ('r', 'v') JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace "
     "WHERE " SWIZZLE_OWNS(t)},
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
     "WHERE c.relkind = 'S' AND (" SWIZZLE_OWNS(
         c) " OR pg_catalog.has_sequence_privilege(c.oid, "
            "'SELECT, UPDATE, USAGE')) AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d "
            "WHERE d.objid = c.oid AND d.deptype = 'i')"},
    {kInformationSchema, "table_constraints",
     "constraint_catalog constraint_schema constraint_name table_catalog table_schema "
     "table_name constraint_type is_deferrable initially_deferred enforced nulls_distinct",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.current_database() AS table_catalog, n.nspname AS table_schema, "
     "c.relname AS table_name, CASE k.contype WHEN 'c' THEN 'CHECK' WHEN 'n' THEN 'CHECK' WHEN 'f' "
     "THEN "
     "'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS constraint_type, "
     "CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable, "
     "CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred, "
     "CASE WHEN k.conenforced THEN 'YES' ELSE 'NO' END AS enforced, CASE WHEN k.contype <> 'u' "
     "THEN NULL WHEN i.indnullsnotdistinct "
     "THEN 'NO' ELSE 'YES' END AS nulls_distinct FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_class c ON c.oid = k.conrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = k.conindid WHERE k.contype NOT IN ('t', "
     "'x') AND " SWIZZLE_MAY_CHANGE(c)},
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
     "WHERE k.contype IN ('p', 'u', 'f') AND (" SWIZZLE_OWNS(
         c) " OR "
            "pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, "
            "REFERENCES'))"},
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
     "(CASE WHEN k.contype = 'f' THEN k.confkey ELSE k.conkey END) "
     "WHERE " SWIZZLE_OWNS(t)},
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
     "WHERE k.contype IN ('p', 'u', 'f') AND " SWIZZLE_OWNS(t)},
    {kInformationSchema, "check_constraints",
     "constraint_catalog constraint_schema constraint_name check_clause",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "n.nspname AS constraint_schema, k.conname AS constraint_name, "
     "CASE k.contype WHEN 'c' THEN pg_catalog.pg_get_expr(k.conbin, k.conrelid) "
     "ELSE pg_catalog.format('%s IS NOT NULL', COALESCE(a.attname, 'VALUE')) END AS check_clause "
     "FROM pg_catalog.pg_constraint k "
     "JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace "
     "LEFT JOIN pg_catalog.pg_class c ON c.oid = k.conrelid "
     "LEFT JOIN pg_catalog.pg_type t ON t.oid = k.contypid "
     "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] "
     "WHERE k.contype IN ('c', 'n') "
     "AND pg_catalog.pg_has_role(COALESCE(c.relowner, t.typowner), 'USAGE')"},
    {kInformationSchema, "domain_constraints",
     "constraint_catalog constraint_schema constraint_name domain_catalog domain_schema "
     "domain_name is_deferrable initially_deferred",
     "SELECT pg_catalog.current_database() AS constraint_catalog, "
     "rs.nspname AS constraint_schema, k.conname AS constraint_name, "
     "pg_catalog.current_database() AS domain_catalog, n.nspname AS domain_schema, "
     "t.typname AS domain_name, 'NO' AS is_deferrable, 'NO' AS initially_deferred "
     "FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace "
     "JOIN pg_catalog.pg_namespace rs ON rs.oid = k.connamespace "
     "WHERE pg_catalog.pg_has_role(t.typowner, 'USAGE') "
     "OR pg_catalog.has_type_privilege(t.oid, 'USAGE')"},
    {kInformationSchema, "column_domain_usage",
     "domain_catalog domain_schema domain_name table_catalog table_schema table_name column_name",
     "SELECT pg_catalog.current_database() AS domain_catalog, nt.nspname AS domain_schema, "
     "t.typname AS domain_name, pg_catalog.current_database() AS table_catalog, "
     "nc.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name "
     "FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace nt ON nt.oid = t.typnamespace "
     "JOIN pg_catalog.pg_attribute a ON a.atttypid = t.oid "
     "JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
     "JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace "
     "WHERE t.typtype = 'd' AND c.relkind IN ('r', 'v') AND NOT a.attisdropped "
     "AND pg_catalog.pg_has_role(t.typowner, 'USAGE')"},
    {kInformationSchema, "domain_udt_usage",
     "udt_catalog udt_schema udt_name domain_catalog domain_schema domain_name",
     "SELECT pg_catalog.current_database() AS udt_catalog, nb.nspname AS udt_schema, "
     "b.typname AS udt_name, pg_catalog.current_database() AS domain_catalog, "
     "n.nspname AS domain_schema, t.typname AS domain_name "
     "FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace "
     "JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype "
     "JOIN pg_catalog.pg_namespace nb ON nb.oid = b.typnamespace "
     "WHERE t.typtype = 'd' AND pg_catalog.pg_has_role(b.typowner, 'USAGE')"},
    {kInformationSchema, "triggers",
     "trigger_catalog trigger_schema trigger_name event_manipulation event_object_catalog "
     "event_object_schema event_object_table action_order action_condition action_statement "
     "action_orientation action_timing action_reference_old_table action_reference_new_table "
     "action_reference_old_row action_reference_new_row created",
     "SELECT pg_catalog.current_database() AS trigger_catalog, n.nspname AS trigger_schema, "
     "t.tgname AS trigger_name, em.text AS event_manipulation, "
     "pg_catalog.current_database() AS event_object_catalog, n.nspname AS event_object_schema, "
     "c.relname AS event_object_table, "
     "rank() OVER (PARTITION BY n.oid, c.oid, em.num, t.tgtype::integer & 1, "
     "t.tgtype::integer & 66 ORDER BY t.tgname)::integer AS action_order, "
     "CASE WHEN pg_catalog.pg_has_role(c.relowner, 'USAGE') THEN "
     "pg_catalog.substr(t.tgqual::pg_catalog.text, 2, "
     "pg_catalog.length(t.tgqual::pg_catalog.text) - 2) END AS action_condition, "
     "pg_catalog.substr(pg_catalog.pg_get_triggerdef(t.oid), pg_catalog.strpos("
     "pg_catalog.pg_get_triggerdef(t.oid), 'EXECUTE FUNCTION')) AS action_statement, "
     "CASE t.tgtype::integer & 1 WHEN 1 THEN 'ROW' ELSE 'STATEMENT' END AS action_orientation, "
     "CASE t.tgtype::integer & 66 WHEN 2 THEN 'BEFORE' WHEN 64 THEN 'INSTEAD OF' "
     "ELSE 'AFTER' END AS action_timing, t.tgoldtable AS action_reference_old_table, "
     "t.tgnewtable AS action_reference_new_table, NULL::pg_catalog.name AS "
     "action_reference_old_row, NULL::pg_catalog.name AS action_reference_new_row, "
     "NULL::pg_catalog.timestamptz AS created FROM pg_catalog.pg_namespace n "
     "JOIN pg_catalog.pg_class c ON n.oid = c.relnamespace "
     "JOIN pg_catalog.pg_trigger t ON c.oid = t.tgrelid "
     "JOIN (VALUES (4, 'INSERT'), (8, 'DELETE'), (16, 'UPDATE')) AS em(num, text) "
     "ON (t.tgtype::integer & em.num) <> 0 WHERE NOT t.tgisinternal AND " SWIZZLE_MAY_CHANGE(c)},
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
     "LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.connamespace "
     "JOIN pg_catalog.pg_class c ON c.oid = k.conrelid "
     "WHERE k.contype = 'f' AND " SWIZZLE_MAY_CHANGE(c)},
    {kInformationSchema, "character_sets",
     "character_set_name character_repertoire form_of_use default_collate_catalog "
     "default_collate_schema default_collate_name",
     "SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, "
     "'UTF8' AS form_of_use, pg_catalog.current_database() AS default_collate_catalog, "
     "'pg_catalog' AS default_collate_schema, 'default' AS default_collate_name"},
    {kInformationSchema, "collations",
     "collation_catalog collation_schema collation_name pad_attribute",
     "SELECT pg_catalog.current_database() AS collation_catalog, n.nspname AS collation_schema, "
     "c.collname AS collation_name, 'NO PAD' AS pad_attribute FROM pg_catalog.pg_collation c "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace"},
    {kInformationSchema, "collation_character_set_applicability",
     "collation_catalog collation_schema collation_name character_set_name",
     "SELECT pg_catalog.current_database() AS collation_catalog, n.nspname AS collation_schema, "
     "c.collname AS collation_name, 'UTF8' AS character_set_name FROM pg_catalog.pg_collation c "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace"},
    {kInformationSchema, "enabled_roles", "role_name",
     "SELECT rolname AS role_name FROM pg_catalog.pg_roles "
     "WHERE pg_catalog.pg_has_role(oid, 'USAGE')"},
    {kInformationSchema, "applicable_roles", "grantee role_name is_grantable",
     "SELECT a.rolname AS grantee, b.rolname AS role_name, "
     "CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END AS is_grantable "
     "FROM (SELECT member, roleid, admin_option FROM pg_catalog.pg_auth_members UNION "
     "SELECT d.datdba, r.oid, false FROM pg_catalog.pg_database d, pg_catalog.pg_roles r "
     "WHERE d.datname = pg_catalog.current_database() AND r.rolname = 'pg_database_owner') m "
     "JOIN pg_catalog.pg_roles a ON a.oid = m.member "
     "JOIN pg_catalog.pg_roles b ON b.oid = m.roleid "
     "WHERE pg_catalog.pg_has_role(a.oid, 'USAGE')"},
    {kInformationSchema, "administrable_role_authorizations", "grantee role_name is_grantable",
     "SELECT grantee, role_name, is_grantable FROM information_schema.applicable_roles "
     "WHERE is_grantable = 'YES'"},
    {kInformationSchema, "role_column_grants",
     "grantor grantee table_catalog table_schema table_name column_name privilege_type "
     "is_grantable",
     "SELECT p.grantor, p.grantee, p.table_catalog, p.table_schema, p.table_name, "
     "p.column_name, p.privilege_type, p.is_grantable FROM information_schema.column_privileges p "
     "WHERE p.grantor IN (SELECT role_name FROM information_schema.enabled_roles) "
     "OR p.grantee IN (SELECT role_name FROM information_schema.enabled_roles)"},
    {kInformationSchema, "data_type_privileges",
     "object_catalog object_schema object_name object_type dtd_identifier",
     "SELECT c.table_catalog AS object_catalog, c.table_schema AS object_schema, "
     "c.table_name AS object_name, 'TABLE' AS object_type, c.dtd_identifier "
     "FROM information_schema.columns c"},
    {kInformationSchema, "element_types",
     "object_catalog object_schema object_name object_type collection_type_identifier data_type "
     "udt_catalog udt_schema udt_name dtd_identifier",
     "SELECT c.table_catalog AS object_catalog, c.table_schema AS object_schema, "
     "c.table_name AS object_name, 'TABLE' AS object_type, "
     "c.dtd_identifier AS collection_type_identifier, "
     "pg_catalog.format_type(e.oid, NULL) AS data_type, c.udt_catalog, "
     "'pg_catalog' AS udt_schema, e.typname AS udt_name, 'a' || c.dtd_identifier AS dtd_identifier "
     "FROM information_schema.columns c JOIN pg_catalog.pg_type t ON t.typname = c.udt_name "
     "AND t.typlen = -1 JOIN pg_catalog.pg_type e ON e.oid = t.typelem "
     "WHERE c.data_type = 'ARRAY'"},
    {kInformationSchema, "routines",
     "specific_catalog specific_schema specific_name routine_catalog routine_schema routine_name "
     "routine_type data_type type_udt_catalog type_udt_schema type_udt_name dtd_identifier "
     "routine_body routine_definition external_name external_language parameter_style "
     "is_deterministic sql_data_access is_null_call schema_level_routine max_dynamic_result_sets "
     "security_type as_locator is_udt_dependent",
     "SELECT pg_catalog.current_database() AS specific_catalog, n.nspname AS specific_schema, "
     "p.proname || '_' || p.oid AS specific_name, "
     "pg_catalog.current_database() AS routine_catalog, n.nspname AS routine_schema, "
     "p.proname AS routine_name, CASE p.prokind WHEN 'f' THEN 'FUNCTION' "
     "WHEN 'p' THEN 'PROCEDURE' END AS routine_type, " SWIZZLE_TYPE_WORD(
         t) " AS data_type, CASE WHEN t.oid IS NOT NULL THEN pg_catalog.current_database() END "
            "AS type_udt_catalog, nt.nspname AS type_udt_schema, t.typname AS type_udt_name, "
            "CASE WHEN p.prokind <> 'p' THEN 0 END AS dtd_identifier, "
            "CASE WHEN l.lanname = 'sql' THEN 'SQL' ELSE 'EXTERNAL' END AS routine_body, "
            "CASE WHEN pg_catalog.pg_has_role(p.proowner, 'USAGE') THEN p.prosrc END "
            "AS routine_definition, CASE WHEN l.lanname = 'c' THEN p.prosrc END AS external_name, "
            "pg_catalog.upper(l.lanname) AS external_language, 'GENERAL' AS parameter_style, "
            "CASE WHEN p.provolatile = 'i' THEN 'YES' ELSE 'NO' END AS is_deterministic, "
            "'MODIFIES' AS sql_data_access, CASE WHEN p.prokind <> 'p' THEN "
            "CASE WHEN p.proisstrict THEN 'YES' ELSE 'NO' END END AS is_null_call, "
            "'YES' AS schema_level_routine, 0 AS max_dynamic_result_sets, "
            "CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END AS security_type, "
            "'NO' AS as_locator, 'NO' AS is_udt_dependent "
            "FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
            "JOIN pg_catalog.pg_language l ON l.oid = p.prolang LEFT JOIN pg_catalog.pg_type t "
            "ON t.oid = p.prorettype AND p.prokind <> 'p' LEFT JOIN pg_catalog.pg_namespace nt "
            "ON nt.oid = t.typnamespace WHERE pg_catalog.pg_has_role(p.proowner, 'USAGE') "
            "OR pg_catalog.has_function_privilege(p.oid, 'EXECUTE')"},
    {kInformationSchema, "routine_routine_usage", SWIZZLE_USING_COLUMNS "routine_name",
     SWIZZLE_USING_ROUTINE "u.proname || '_' || u.oid AS routine_name " SWIZZLE_USED_BY_ROUTINE(
         "pg_proc") "JOIN pg_catalog.pg_proc u ON u.oid = d.refobjid "
                    "WHERE d.deptype = 'n' AND pg_catalog.pg_has_role(u.proowner, 'USAGE')"},
    {kInformationSchema, "routine_sequence_usage",
     SWIZZLE_USING_COLUMNS "routine_name sequence_catalog sequence_schema sequence_name",
     SWIZZLE_USING_ROUTINE
     "p.proname AS routine_name, pg_catalog.current_database() AS sequence_catalog, "
     "un.nspname AS sequence_schema, u.relname AS sequence_name " SWIZZLE_USED_RELATION
     "WHERE u.relkind = 'S' AND " SWIZZLE_OWNS(u)},
    {kInformationSchema, "routine_table_usage",
     SWIZZLE_USING_COLUMNS "routine_name table_catalog table_schema table_name",
     SWIZZLE_USING_ROUTINE
     "p.proname AS routine_name, pg_catalog.current_database() AS table_catalog, "
     "un.nspname AS table_schema, u.relname AS table_name " SWIZZLE_USED_RELATION
     "WHERE u.relkind IN ('r', 'v', 'f', 'p') AND " SWIZZLE_OWNS(u)},
    {kInformationSchema, "routine_column_usage",
     SWIZZLE_USING_COLUMNS "routine_name table_catalog table_schema table_name column_name",
     SWIZZLE_USING_ROUTINE
     "p.proname AS routine_name, pg_catalog.current_database() AS table_catalog, "
     "un.nspname AS table_schema, u.relname AS table_name, "
     "a.attname AS column_name " SWIZZLE_USED_RELATION
     "JOIN pg_catalog.pg_attribute a ON a.attrelid = u.oid AND a.attnum = d.refobjsubid "
     "WHERE u.relkind IN ('r', 'v', 'f', 'p') AND " SWIZZLE_OWNS(u)},
    {kInformationSchema, "column_column_usage",
     "table_catalog table_schema table_name column_name dependent_column",
     "SELECT DISTINCT pg_catalog.current_database() AS table_catalog, n.nspname AS table_schema, "
     "c.relname AS table_name, a.attname AS column_name, g.attname AS dependent_column "
     "FROM pg_catalog.pg_attrdef e "
     "JOIN pg_catalog.pg_attribute g ON g.attrelid = e.adrelid AND g.attnum = e.adnum "
     "JOIN pg_catalog.pg_depend d ON d.objid = e.oid AND d.refobjid = e.adrelid "
     "AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass "
     "AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass "
     "JOIN pg_catalog.pg_attribute a ON a.attrelid = e.adrelid AND a.attnum = d.refobjsubid "
     "JOIN pg_catalog.pg_class c ON c.oid = e.adrelid "
     "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
     "WHERE g.attgenerated <> '' AND a.attnum <> g.attnum AND " SWIZZLE_OWNS(c)},
    {kInformationSchema, "parameters",
     "specific_catalog specific_schema specific_name ordinal_position parameter_mode is_result "
     "as_locator parameter_name data_type udt_catalog udt_schema udt_name dtd_identifier "
     "parameter_default",
     "SELECT pg_catalog.current_database() AS specific_catalog, n.nspname AS specific_schema, "
     "p.proname || '_' || p.oid AS specific_name, a.position AS ordinal_position, "
     "CASE p.proargmodes[a.position] WHEN 'o' THEN 'OUT' WHEN 't' THEN 'OUT' "
     "WHEN 'b' THEN 'INOUT' ELSE 'IN' END AS parameter_mode, 'NO' AS is_result, "
     "'NO' AS as_locator, NULLIF(p.proargnames[a.position], '') AS "
     "parameter_name, " SWIZZLE_TYPE_WORD(
         t) " AS data_type, pg_catalog.current_database() AS udt_catalog, "
            "nt.nspname AS udt_schema, t.typname AS udt_name, a.position AS dtd_identifier, "
            "CASE WHEN pg_catalog.pg_has_role(p.proowner, 'USAGE') THEN "
            "pg_catalog.pg_get_function_arg_default(p.oid, a.position::int4) END "
            "AS parameter_default "
            "FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
            "CROSS JOIN LATERAL pg_catalog.unnest(COALESCE(p.proallargtypes, "
            "p.proargtypes::pg_catalog.oid[])) WITH ORDINALITY AS a(type, position) "
            "JOIN pg_catalog.pg_type t ON t.oid = a.type JOIN pg_catalog.pg_namespace nt "
            "ON nt.oid = t.typnamespace WHERE pg_catalog.pg_has_role(p.proowner, 'USAGE') "
            "OR pg_catalog.has_function_privilege(p.oid, 'EXECUTE')"},
};
#undef SWIZZLE_USING_COLUMNS
#undef SWIZZLE_USING_ROUTINE
#undef SWIZZLE_USED_BY_ROUTINE
#undef SWIZZLE_USED_RELATION
#undef SWIZZLE_TYPE_WORD
#undef SWIZZLE_KEY_COLUMNS
#undef SWIZZLE_OWNS
#undef SWIZZLE_MAY_CHANGE
#undef SWIZZLE_MAY_SEE

}  // namespace

std::span<const SystemView> information_schema_views() {
  return kInformationSchemaViews;
}

}  // namespace swizzle::sql
