#pragma once

#include <cstdint>
#include <string>

/// Parts of a statement that the parser library has read, printed by it as SQL. A definition is
/// stored as its own text, without the statement around it. Each is empty where the library cannot
/// print it so that it can be read, and throws SqlError 54001.
namespace swizzle::sql {

/// The query of a CREATE VIEW or CREATE MATERIALIZED VIEW in the statement that begins at
/// `location` of the script, as RawStmt::stmt_location has it. The view's name stands at `name`:
/// CREATE SCHEMA may create several.
std::string printed_view_query(const std::string& script, std::int32_t location,
                               std::int32_t name = 0);

enum class PolicyClause : std::uint8_t { using_rows, with_check };
/// SELECT and a condition of the CREATE POLICY or ALTER POLICY that begins there.
std::string printed_policy_condition(const std::string& script, std::int32_t location,
                                     PolicyClause clause);

}  // namespace swizzle::sql
