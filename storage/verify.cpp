// Checking a whole database.
#include "storage/verify.h"

#include <fmt/format.h>

#include "storage/engine_parts.h"

namespace swizzle {
namespace {

/// The pages of the trees that were checked.
class OwnedPages {
 public:
  explicit OwnedPages(const SpaceMap& space) : space_(space), is_owned_(space.page_count()) {}

  Result<> note(AnyTree& tree) {
    ASSIGN_OR_RETURN(const std::vector<PageId> pages, tree.pages());
    for (const PageId page : pages)
      if (raw(page) < is_owned_.size()) is_owned_[raw(page)] = true;
    return {};
  }
  void report_others(std::vector<std::string>& violations) const {
    for (std::uint64_t page = SpaceMap::kFirstPage; page < is_owned_.size(); ++page)
      if (!is_owned_[page] && space_.is_allocated(PageId{page}))
        violations.push_back(
            fmt::format("S1 violated: page {} is in use and belongs to no tree", page));
  }

 private:
  const SpaceMap& space_;
  std::vector<bool> is_owned_;
};

/// True if there is no writer, and no dropped tree waits for its last reader.
bool is_at_rest(const EngineParts& parts) {
  return parts.registry->active_at(Lsn::max).empty() && !parts.trees->has_retired();
}

/// Checks a tree. One that is being loaded is not checked: its right edge is open, and it is not
/// read before.
Result<std::vector<std::string>> look_through(AnyTree& tree) {
  std::vector<std::string> nothing;
  if (tree.birth().is_loading()) return nothing;
  auto found = tree.verify();
  if (tree.birth().is_loading()) return nothing;
  return found;
}

}  // namespace

Result<std::vector<std::string>> verify_tree(EngineParts& parts, TreeId id) {
  auto tree = parts.trees->find(id);
  // The tree was dropped since the caller found it.
  if (!tree && tree.error().state() == sqlstate::internal_error) return std::vector<std::string>{};
  if (!tree) return fail(std::move(tree).error());
  return look_through(**tree);
}

Result<std::vector<std::string>> verify_all(EngineParts& parts) {
  const TxnId first_after = parts.registry->peek_next_id();
  bool knows_all_pages = is_at_rest(parts);
  std::vector<std::string> violations;
  OwnedPages owned(*parts.space);
  const auto look_at = [&](AnyTree& tree) -> Result<> {
    ASSIGN_OR_RETURN(const std::vector<std::string> found, look_through(tree));
    violations.insert(violations.end(), found.begin(), found.end());
    knows_all_pages = knows_all_pages && found.empty() && !tree.birth().is_loading();
    return knows_all_pages ? owned.note(tree) : Result<>{};
  };
  RETURN_IF_ERROR(look_at(parts.trees->directory()));
  ASSIGN_OR_RETURN(const auto rows, parts.trees->list());
  for (const TreeTable::Listed& row : rows) {
    if (row.status == TreeTable::Listed::Status::dropped) continue;
    auto tree = parts.trees->find(row.id);
    // The tree was dropped since the rows were listed.
    if (!tree && tree.error().state() == sqlstate::internal_error) continue;
    if (!tree) return fail(std::move(tree).error());
    RETURN_IF_ERROR(look_at(**tree));
  }
  if (knows_all_pages && parts.registry->peek_next_id() == first_after)
    owned.report_others(violations);
  return violations;
}

}  // namespace swizzle
