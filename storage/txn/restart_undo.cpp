#include "storage/txn/restart_undo.h"

#include <fmt/format.h>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/recovery/progress.h"
#include "storage/recovery/records/record_kinds.h"
#include "storage/recovery/records/record_undo.h"
#include "storage/recovery/undo_chain.h"
#include "storage/txn/tree_factory.h"
#include "storage/txn/tree_load.h"

namespace swizzle {
namespace {

/// In bytes of log that lie between a loser's newest record and its first.
class UndoProgress {
 public:
  UndoProgress(std::span<const ActiveTransaction> losers, const RecoveryObserver& observer)
      : left_(losers.size()), progress_("undo", bytes_of(losers), observer) {}

  void begin(const ActiveTransaction& loser) {
    progress_.set_transactions(left_--);
    done_ = before_;
    before_ += raw(loser.last) - raw(loser.first);
    last_ = loser.last;
  }
  void undone_down_to(Lsn lsn) { progress_.reached(done_ + (raw(last_) - raw(lsn)), lsn); }

 private:
  static std::uint64_t bytes_of(std::span<const ActiveTransaction> losers) {
    std::uint64_t bytes = 0;
    for (const ActiveTransaction& loser : losers) bytes += raw(loser.last) - raw(loser.first);
    return bytes;
  }

  std::uint64_t left_;
  std::uint64_t before_ = 0;
  std::uint64_t done_ = 0;
  Lsn last_ = Lsn::none;
  Progress progress_;
};

Result<> undo_row(EngineParts& engine, TransactionChain& chain, const UndoStep& step,
                  const UndoneRow& row) {
  LoggedUndo undo(row);
  if (step.tree == TreeId::directory && step.kind == RecordKind::leaf_insert)
    RETURN_IF_ERROR(engine.trees->destroy_created(row.key));
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(step.tree));
  RETURN_IF_ERROR(tree->change(row.key, &chain, undo));
  if (undo.done()) return {};
  return give_up_leaf(
      engine, *tree, row.key,
      Error{sqlstate::data_corrupted,
            fmt::format("tree {} does not have what the log record at {} left there",
                        raw(step.tree), raw(step.lsn))});
}

/// The damage is limited to one table: the row's page is, or becomes, unreadable.
Result<> undo_readable_row(EngineParts& engine, TransactionChain& chain, const UndoStep& step,
                           const UndoneRow& row) {
  auto undone = undo_row(engine, chain, step, row);
  if (undone || !is_unreadable(undone.error())) return undone;
  report_row_given_up(step.tree, undone.error());
  return {};
}

Result<> undo_step(EngineParts& engine, TransactionChain& chain, const UndoStep& step) {
  const RecordKindEntry* const kind = find_kind(static_cast<wal::RecordKind>(step.kind));
  if (kind == nullptr || kind->undo == nullptr)
    return fail(sqlstate::data_corrupted,
                fmt::format("the log record at {} cannot be undone", raw(step.lsn)));
  ASSIGN_OR_RETURN(const auto rows, kind->undo(step.payload));
  // It may have gone already, with the tree's row.
  if (step.kind == RecordKind::page_image) return engine.trees->destroy(step.tree, step.page);
  if (step.kind == RecordKind::load_begun) {
    chain.undo_next = step.undo_next;
    RETURN_IF_ERROR(undo_load(engine, chain, step.tree));
    return {};
  }
  for (const UndoneRow& row : rows) {
    // Until its last row is back, undo comes back to the record.
    chain.undo_next = &row == &rows.back() ? step.undo_next : step.lsn;
    RETURN_IF_ERROR(undo_readable_row(engine, chain, step, row));
  }
  return {};
}

Result<> undo_loser(EngineParts& engine, const ActiveTransaction& loser, UndoProgress& progress) {
  TransactionChain chain;
  chain.id = loser.id;
  chain.first = loser.first;
  chain.last = loser.last;
  chain.is_undoing.store(true, std::memory_order_relaxed);
  wal::Reader reader = engine.log->reader(wal::ReadPattern::random);
  UndoChain steps(reader, loser.last);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<UndoStep> step, steps.next());
    if (!step) break;
    RETURN_IF_ERROR(undo_step(engine, chain, *step));
    progress.undone_down_to(step->lsn);
  }
  ASSIGN_OR_RETURN(LogSpace space, engine.log->reserve(0, 1, wal::ReservePurpose::completion));
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::transaction_ended);
  header.txn = loser.id;
  header.txn_prev = chain.last;
  engine.log->append(space, header);
  return {};
}

}  // namespace

Result<> give_up_leaf(EngineParts& engine, AnyTree& tree, Bytes key, Error&& why) {
  ASSIGN_OR_RETURN(const PageId page, tree.doubt_leaf(key));
  // Above what the page can have, below what a new owner of it will have.
  const Lsn needed{raw(engine.log->tail()) - 1};
  if (engine.given_up) {
    engine.given_up->give_up(
        page, needed,
        Error{why.state(), fmt::format("page {}: {}", raw(page), why.message())}.with_hint(
            "Its last write was lost. Restore the table from a backup."));
  }
  return fail(std::move(why));
}

Result<> undo_losers(EngineParts& engine, std::span<const ActiveTransaction> losers,
                     const RecoveryObserver& observer) {
  if (losers.empty()) return {};
  UndoProgress progress(losers, observer);
  for (const ActiveTransaction& loser : losers) {
    progress.begin(loser);
    RETURN_IF_ERROR(undo_loser(engine, loser, progress));
  }
  return {};
}

}  // namespace swizzle
