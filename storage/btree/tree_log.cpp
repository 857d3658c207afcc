#include "storage/btree/tree_log.h"

#include <algorithm>

namespace swizzle {

Lsn WalTreeLog::append(LogSpace& space, const Change& change,
                       std::span<const Bytes> payload) noexcept {
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(change.kind);
  header.tree = change.tree;
  if (change.page != nullptr) {
    header.page = change.page->page_id();
    header.page_prev = Node::of(change.page->page()).lsn();
  }
  if (change.page2 != nullptr) {
    header.page2 = change.page2->page_id();
    header.page2_prev = Node::of(change.page2->page()).lsn();
  }
  TransactionChain* const chain = change.transaction;
  if (chain == nullptr) return log_.append(space, header, payload).lsn;

#ifdef SWIZZLE_PLANTED_FAULTS
  if (fault_ == StorageFault::skip_compensation &&
      chain->is_undoing.load(std::memory_order_relaxed))
    return header.page_prev;
#endif
  header.txn = chain->id.load(std::memory_order_relaxed);
  header.txn_prev = chain->last.load(std::memory_order_relaxed);
  if (chain->is_undoing.load(std::memory_order_relaxed)) {
    header.flags = record_flags::kCompensation;
    header.undo_next = chain->undo_next;
  } else if (chain->changes != nullptr) {
    chain->changes->note(change.kind, change.tree);
  }
  const Lsn lsn = log_.append(space, header, payload).lsn;
  if (chain->first.load(std::memory_order_relaxed) == Lsn::none)
    chain->first.store(lsn, std::memory_order_relaxed);
  chain->last.store(lsn, std::memory_order_relaxed);
  return lsn;
}

Lsn NoTreeLog::append(LogSpace& /*space*/, const Change& change,
                      std::span<const Bytes> /*payload*/) noexcept {
  std::uint64_t newest = 0;
  for (Frame* frame : {change.page, change.page2})
    if (frame != nullptr) newest = std::max(newest, raw(Node::of(frame->page()).lsn()));
  return Lsn{newest + 8};
}

}  // namespace swizzle
