#include "storage/btree/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace swizzle {

namespace {

std::string way_to(Bytes key) {
  constexpr std::size_t kShown = 32;
  std::string shown = "on the way to key \\x";
  for (const std::byte byte : key.first(std::min(key.size(), kShown)))
    shown += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  if (key.size() > kShown) shown += "...";
  return shown;
}

}  // namespace

Error met_in_tree(TreeId tree, Bytes key, Error&& error) {
  if (error.state() != sqlstate::data_corrupted) return std::move(error);
  return Error{error.state(),
               fmt::format("tree {}: {} (rule S6), {}", raw(tree), error.message(), way_to(key))}
      .with_detail(error.detail())
      .with_hint(error.hint());
}

Error page_breaks_promise(TreeId tree, PageId page, PageId parent, Bytes key) {
  const std::string referrer =
      parent == PageId::none ? "the directory" : fmt::format("its parent, page {},", raw(parent));
  return Error{sqlstate::data_corrupted,
               fmt::format("tree {}: page {} is not what {} says it is (rule B6), {}", raw(tree),
                           raw(page), referrer, way_to(key))}
      .with_hint(
          "Its last write was lost, or another page was written over it. Restore the table "
          "from a backup.");
}

bool is_unreadable(const Error& error) noexcept {
  return error.state() == sqlstate::data_corrupted;
}

}  // namespace swizzle
