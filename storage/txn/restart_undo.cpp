#include "storage/txn/restart_undo.h"

#include <fmt/format.h>

#include "storage/engine_parts.h"
#include "storage/recovery/record_kinds.h"
#include "storage/recovery/record_undo.h"
#include "storage/recovery/undo_chain.h"

namespace swizzle {
namespace {

Result<> undo_step(EngineParts& engine, TransactionChain& chain, const UndoStep& step) {
  const RecordKindEntry* const kind = find_kind(static_cast<wal::RecordKind>(step.kind));
  if (kind == nullptr || kind->undo == nullptr)
    return fail(sqlstate::data_corrupted,
                fmt::format("the log record at {} cannot be undone", raw(step.lsn)));
  ASSIGN_OR_RETURN(const UndoneRow row, kind->undo(step.payload));
  if (row.action == LeafChange::Action::leave) return {};
  LoggedUndo undo(row);
  if (step.tree == TreeId::directory && step.kind == RecordKind::leaf_insert)
    RETURN_IF_ERROR(engine.trees->destroy_created(row.key));
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(step.tree));
  chain.undo_next = step.undo_next;
  RETURN_IF_ERROR(tree->change(row.key, &chain, undo));
  if (!undo.done())
    return fail(sqlstate::data_corrupted,
                fmt::format("tree {} does not have what the log record at {} left there",
                            raw(step.tree), raw(step.lsn)));
  return {};
}

Result<> undo_loser(EngineParts& engine, const ActiveTransaction& loser) {
  TransactionChain chain;
  chain.id = loser.id;
  chain.first = loser.first;
  chain.last = loser.last;
  chain.is_undoing = true;
  wal::Reader reader = engine.log->reader(wal::ReadPattern::random);
  UndoChain steps(reader, loser.last);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<UndoStep> step, steps.next());
    if (!step) break;
    RETURN_IF_ERROR(undo_step(engine, chain, *step));
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

Result<> undo_losers(EngineParts& engine, std::span<const ActiveTransaction> losers,
                     const RecoveryObserver& observer) {
  std::uint64_t done = 0;
  for (const ActiveTransaction& loser : losers) {
    if (observer) observer({"undo", done, losers.size()});
    RETURN_IF_ERROR(undo_loser(engine, loser));
    ++done;
  }
  if (observer) observer({"undo", done, losers.size()});
  return {};
}

}  // namespace swizzle
