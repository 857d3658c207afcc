#include "storage/txn/undo/give_up_leaf.h"

#include <fmt/format.h>

#include "storage/engine_parts.h"
#include "storage/txn/rows/any_tree.h"

namespace swizzle {

Result<> give_up_leaf(EngineParts& engine, AnyTree& tree, Bytes key, Error&& why) {
  ASSIGN_OR_RETURN(const PageId page, tree.doubt_leaf(key));
  // Above every LSN that the page can have now, and below those that a later owner of the page will
  // write.
  const Lsn needed{raw(engine.log->tail()) - 1};
  if (engine.given_up) {
    engine.given_up->give_up(
        page, needed,
        Error{why.state(), fmt::format("page {}: {}", raw(page), why.message())}.with_hint(
            "Its last write was lost. Restore the table from a backup."));
  }
  return fail(std::move(why));
}

}  // namespace swizzle
