#pragma once

#include <cstdint>
#include <string>

/// Prints parts of a parsed statement as SQL, by the parser library. A definition is stored as its
/// own text, without the statement around it. Each function returns an empty text if the library
/// cannot print the part so that it parses again, and throws SqlError 54001.
namespace swizzle::sql {

/// Returns the query of a CREATE VIEW or CREATE MATERIALIZED VIEW. `location` is
/// RawStmt::stmt_location of its statement in the script; `name` is the position of the view's
/// name, because a CREATE SCHEMA may create several.
std::string printed_view_query(const std::string& script, std::int32_t location,
                               std::int32_t name = 0);

enum class PolicyClause : std::uint8_t { using_rows, with_check };
/// Returns SELECT and a condition of the CREATE POLICY or ALTER POLICY at `location`.
std::string printed_policy_condition(const std::string& script, std::int32_t location,
                                     PolicyClause clause);

}  // namespace swizzle::sql
