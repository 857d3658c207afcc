#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlstate.h"

/// The names that errors have in PL/pgSQL.
namespace swizzle::sql::plpgsql {

/// The codes of that name; several have one. Empty: there is no such name.
std::vector<std::string> codes_of_condition(std::string_view name);

/// Five digits or capital letters as a code; nothing if they are none.
std::optional<SqlState> read_sqlstate(std::string_view code);

/// Meaning of one word of EXCEPTION WHEN.
struct Condition {
  enum class Kind : unsigned char { others, code };
  Kind kind = Kind::code;
  std::string code = {};

  /// True if the condition covers the error. A class's own code ("22000") stands for all of the
  /// class. OTHERS does not cover a cancelled query or a failed ASSERT: these match by name only.
  [[nodiscard]] bool matches(SqlState state) const noexcept;
};

}  // namespace swizzle::sql::plpgsql
