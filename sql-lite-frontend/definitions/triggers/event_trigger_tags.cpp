#include "sql-lite-frontend/definitions/triggers/event_trigger_tags.h"

#include <algorithm>
#include <array>

namespace swizzle::sql {
namespace {

/// Kinds of objects; CREATE, ALTER and DROP of each have event triggers.
constexpr std::array kKinds = std::to_array<std::string_view>({"ACCESS METHOD",
                                                               "AGGREGATE",
                                                               "CAST",
                                                               "COLLATION",
                                                               "CONSTRAINT",
                                                               "CONVERSION",
                                                               "DOMAIN",
                                                               "EXTENSION",
                                                               "FOREIGN DATA WRAPPER",
                                                               "FOREIGN TABLE",
                                                               "FUNCTION",
                                                               "INDEX",
                                                               "LANGUAGE",
                                                               "MATERIALIZED VIEW",
                                                               "OPERATOR",
                                                               "OPERATOR CLASS",
                                                               "OPERATOR FAMILY",
                                                               "POLICY",
                                                               "PROCEDURE",
                                                               "PUBLICATION",
                                                               "ROUTINE",
                                                               "RULE",
                                                               "SCHEMA",
                                                               "SEQUENCE",
                                                               "SERVER",
                                                               "STATISTICS",
                                                               "SUBSCRIPTION",
                                                               "TABLE",
                                                               "TEXT SEARCH CONFIGURATION",
                                                               "TEXT SEARCH DICTIONARY",
                                                               "TEXT SEARCH PARSER",
                                                               "TEXT SEARCH TEMPLATE",
                                                               "TRANSFORM",
                                                               "TRIGGER",
                                                               "TYPE",
                                                               "USER MAPPING",
                                                               "VIEW"});

constexpr std::array kOthers = std::to_array<std::string_view>(
    {"ALTER DEFAULT PRIVILEGES", "ALTER LARGE OBJECT", "COMMENT", "CREATE TABLE AS", "DROP OWNED",
     "GRANT", "IMPORT FOREIGN SCHEMA", "REFRESH MATERIALIZED VIEW", "REINDEX", "REVOKE",
     "SECURITY LABEL", "SELECT INTO"});

constexpr std::array kWithout = std::to_array<std::string_view>({"ALTER DATABASE",
                                                                 "ALTER EVENT TRIGGER",
                                                                 "ALTER ROLE",
                                                                 "ALTER SYSTEM",
                                                                 "ALTER TABLESPACE",
                                                                 "ANALYZE",
                                                                 "BEGIN",
                                                                 "CALL",
                                                                 "CHECKPOINT",
                                                                 "CLOSE",
                                                                 "CLOSE CURSOR",
                                                                 "CLOSE CURSOR ALL",
                                                                 "CLUSTER",
                                                                 "COMMIT",
                                                                 "COMMIT PREPARED",
                                                                 "COPY",
                                                                 "COPY FROM",
                                                                 "CREATE DATABASE",
                                                                 "CREATE EVENT TRIGGER",
                                                                 "CREATE ROLE",
                                                                 "CREATE TABLESPACE",
                                                                 "DEALLOCATE",
                                                                 "DEALLOCATE ALL",
                                                                 "DECLARE CURSOR",
                                                                 "DELETE",
                                                                 "DISCARD",
                                                                 "DISCARD ALL",
                                                                 "DISCARD PLANS",
                                                                 "DISCARD SEQUENCES",
                                                                 "DISCARD TEMP",
                                                                 "DO",
                                                                 "DROP DATABASE",
                                                                 "DROP EVENT TRIGGER",
                                                                 "DROP REPLICATION SLOT",
                                                                 "DROP ROLE",
                                                                 "DROP TABLESPACE",
                                                                 "EXECUTE",
                                                                 "EXPLAIN",
                                                                 "FETCH",
                                                                 "GRANT ROLE",
                                                                 "INSERT",
                                                                 "LISTEN",
                                                                 "LOAD",
                                                                 "LOCK TABLE",
                                                                 "LOGIN",
                                                                 "MERGE",
                                                                 "MOVE",
                                                                 "NOTIFY",
                                                                 "PREPARE",
                                                                 "PREPARE TRANSACTION",
                                                                 "REASSIGN OWNED",
                                                                 "RELEASE",
                                                                 "RESET",
                                                                 "REVOKE ROLE",
                                                                 "ROLLBACK",
                                                                 "ROLLBACK PREPARED",
                                                                 "SAVEPOINT",
                                                                 "SELECT",
                                                                 "SELECT FOR KEY SHARE",
                                                                 "SELECT FOR NO KEY UPDATE",
                                                                 "SELECT FOR SHARE",
                                                                 "SELECT FOR UPDATE",
                                                                 "SET",
                                                                 "SET CONSTRAINTS",
                                                                 "SHOW",
                                                                 "START TRANSACTION",
                                                                 "TRUNCATE TABLE",
                                                                 "UNLISTEN",
                                                                 "UPDATE",
                                                                 "VACUUM"});

template <class List>
bool contains(const List& list, std::string_view tag) {
  return std::ranges::find(list, tag) != list.end();
}

}  // namespace

bool has_event_triggers(std::string_view tag) noexcept {
  for (const std::string_view verb : {"CREATE ", "ALTER ", "DROP "}) {
    if (tag.starts_with(verb) && contains(kKinds, tag.substr(verb.size()))) return true;
  }
  return contains(kOthers, tag);
}

bool is_command_tag(std::string_view tag) noexcept {
  return has_event_triggers(tag) || contains(kWithout, tag);
}

bool may_rewrite(std::string_view tag) noexcept {
  return tag == "ALTER TABLE" || tag == "ALTER TYPE" || tag == "ALTER MATERIALIZED VIEW";
}

}  // namespace swizzle::sql
