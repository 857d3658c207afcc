#include "storage/btree/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace swizzle {

Error met_in_tree(TreeId tree, Error&& error) {
  if (error.state() != sqlstate::data_corrupted) return std::move(error);
  return Error{error.state(), fmt::format("tree {}: {} (rule S6)", raw(tree), error.message())}
      .with_detail(error.detail())
      .with_hint(error.hint());
}

bool is_unreadable(const Error& error) noexcept {
  return error.state() == sqlstate::data_corrupted;
}

}  // namespace swizzle
