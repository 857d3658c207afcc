#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace swizzle::sql {

/// synchronous_standby_names: the followers for which commits wait.
struct SyncRule {
  bool is_any = false;    ///< of those that are named, else the first ones of the list
  std::size_t count = 0;  ///< so many of them; 0: commits wait for nobody
  std::vector<std::string> names;

  /// Place of a follower in the list, from 1; as PostgreSQL, 1 for each if any will do. 0: it is
  /// none of them.
  [[nodiscard]] std::size_t priority_of(std::string_view application) const;
  /// 22023, as PostgreSQL refuses it.
  static Result<SyncRule> parse(std::string_view text);
};

}  // namespace swizzle::sql
