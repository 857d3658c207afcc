#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace swizzle::sql {

/// Parsed synchronous_standby_names: the followers for which commits wait.
struct SyncRule {
  bool is_any =
      false;  ///< ANY: any `count` of the named ones; else FIRST: the first ones of the list
  std::size_t count = 0;  ///< number of followers; 0: commits do not wait
  std::vector<std::string> names;

  /// Returns a follower's position in the list, from 1; always 1 with ANY, as in PostgreSQL. 0: it
  /// is not in the list.
  [[nodiscard]] std::size_t priority_of(std::string_view application) const;
  /// Errors: 22023 with PostgreSQL's message.
  static Result<SyncRule> parse(std::string_view text);
};

}  // namespace swizzle::sql
