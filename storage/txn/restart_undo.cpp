#include "storage/txn/restart_undo.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/engine_parts.h"
#include "storage/recovery/undo_chain.h"

namespace swizzle {
namespace {

/// One step back, as its log record says.
class LoggedUndo final : public LeafChange {
 public:
  static Result<LoggedUndo> of(const UndoStep& step) {
    LoggedUndo undo;
    undo.kind_ = step.kind;
    switch (step.kind) {
      case RecordKind::leaf_insert: {
        ASSIGN_OR_RETURN(const auto insert, payload::decode_leaf_row(step.payload));
        undo.key_ = insert.key;
        return undo;
      }
      case RecordKind::leaf_remove: {
        ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(step.payload));
        undo.key_ = row.key;
        undo.value_.assign(row.value.begin(), row.value.end());
        undo.update_.old_overflow = row.overflow;
        return undo;
      }
      case RecordKind::leaf_update: {
        ASSIGN_OR_RETURN(undo.update_, payload::decode_leaf_update(step.payload));
        undo.key_ = undo.update_.key;
        return undo;
      }
      default:
        return fail(sqlstate::data_corrupted,
                    fmt::format("the log record at {} cannot be undone", raw(step.lsn)));
    }
  }
  LoggedUndo(LoggedUndo&& other) noexcept
      : kind_(other.kind_),
        key_(other.key_),
        update_(other.update_),
        value_(std::move(other.value_)) {}

  [[nodiscard]] Bytes key() const noexcept { return key_; }
  /// Whether the leaf was as the record left it.
  [[nodiscard]] bool done() const noexcept { return done_; }

  Action decide(const Node& leaf, Node::Position at) noexcept override {
    const bool is_live = at.exact && !leaf.is_ghost(at.index);
    done_ = kind_ == RecordKind::leaf_remove ? at.exact && !is_live : is_live;
    if (!done_) return Action::leave;
    if (kind_ == RecordKind::leaf_insert) return Action::remove;
    if (kind_ == RecordKind::leaf_remove) return Action::insert;
    return put_old_part_back(leaf.value(at.index));
  }
  [[nodiscard]] Value value() const noexcept override { return {value_, update_.old_overflow}; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override {
    return Node::kMaxInlineBytes;
  }
  void logged(const Node& /*leaf*/, Node::Position /*at*/, Lsn /*lsn*/) noexcept override {}

 private:
  LoggedUndo() = default;
  Action put_old_part_back(Bytes now) noexcept {
    done_ = now.size() >= std::size_t{update_.offset} + update_.new_part.size();
    if (!done_) return Action::leave;
    const Bytes front = now.first(update_.offset);
    const Bytes back = now.subspan(update_.offset + update_.new_part.size());
    value_.clear();
    for (const Bytes part : {front, update_.old_part, back})
      value_.insert(value_.end(), part.begin(), part.end());
    return Action::update;
  }

  RecordKind kind_{};
  Bytes key_;
  payload::LeafUpdate update_;
  std::vector<std::byte> value_;
  bool done_ = false;
};

Result<> undo_step(EngineParts& engine, TransactionChain& chain, const UndoStep& step) {
  ASSIGN_OR_RETURN(LoggedUndo undo, LoggedUndo::of(step));
  if (step.tree == TreeId::directory && step.kind == RecordKind::leaf_insert)
    RETURN_IF_ERROR(engine.trees->destroy_created(undo.key()));
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(step.tree));
  chain.undo_next = step.undo_next;
  RETURN_IF_ERROR(tree->change(undo.key(), &chain, undo));
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
