#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlstate.h"

/// Condition names of PL/pgSQL.
namespace swizzle::sql::plpgsql {

/// Returns the SQLSTATEs with that condition name, of which there may be several. Empty if the name
/// is unknown.
std::vector<std::string> codes_of_condition(std::string_view name);

/// Parses an SQLSTATE: five digits or capital letters. Nothing if it is none.
std::optional<SqlState> read_sqlstate(std::string_view code);

/// A condition in EXCEPTION WHEN.
struct Condition {
  enum class Kind : unsigned char { others, code };
  Kind kind = Kind::code;
  std::string code = {};

  /// True if the condition matches the error. A class code ("22000") matches the whole class.
  /// OTHERS matches all errors but a cancelled query and a failed ASSERT, which match only by name.
  [[nodiscard]] bool matches(SqlState state) const noexcept;
};

}  // namespace swizzle::sql::plpgsql
