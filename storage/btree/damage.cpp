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

Error page_breaks_promise(TreeId tree, PageId page, PageId parent, Bytes key) {
  constexpr std::size_t kShown = 32;
  std::string shown;
  for (const std::byte byte : key.first(std::min(key.size(), kShown)))
    shown += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  if (key.size() > kShown) shown += "...";
  const std::string referrer =
      parent == PageId::none ? "the directory" : fmt::format("its parent, page {},", raw(parent));
  return Error{
      sqlstate::data_corrupted,
      fmt::format("tree {}: page {} is not what {} says it is (rule B6), on the way to key "
                  "\\x{}",
                  raw(tree), raw(page), referrer, shown)}
      .with_hint(
          "Its last write was lost, or another page was written over it. Restore the table "
          "from a backup.");
}

bool is_unreadable(const Error& error) noexcept {
  return error.state() == sqlstate::data_corrupted;
}

}  // namespace swizzle
