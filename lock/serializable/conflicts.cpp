#include "lock/serializable/conflicts.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/invariant.h"

namespace swizzle::lock {
namespace {

using Latch = std::lock_guard<BasicSpinLatch<NoPauses>>;

std::string_view reason_of(SerializableConflicts::Verdict verdict) noexcept {
  using Verdict = SerializableConflicts::Verdict;
  switch (verdict) {
    case Verdict::doomed_in_read:
      return "Canceled on identification as a pivot, during conflict out checking.";
    case Verdict::doomed_in_write:
      return "Canceled on identification as a pivot, during conflict in checking.";
    case Verdict::doomed_in_commit:
      return "Canceled on identification as a pivot, during commit attempt.";
    case Verdict::pivot_in_write:
      return "Canceled on identification as a pivot, during write.";
    case Verdict::pivot_committed:
      return "Canceled on conflict out to old pivot, during read.";
    case Verdict::pivot_prepared:
      return "Canceled on commit attempt with conflict in from prepared pivot.";
    case Verdict::fine:
    case Verdict::no_memory:
      break;
  }
  return {};
}

}  // namespace

Error SerializableConflicts::error_of(Verdict verdict) {
  INVARIANT(verdict != Verdict::fine);
  if (verdict == Verdict::no_memory) return Error{sqlstate::out_of_memory, "out of memory"};
  return Error{sqlstate::serialization_failure,
               "could not serialize access due to read/write dependencies among transactions"}
      .with_detail("Reason code: " + std::string{reason_of(verdict)})
      .with_hint("The transaction might succeed if retried.");
}

SerializableConflicts::SerializableConflicts(const Limits& limits)
    : limits_(limits), marks_(limits.marks) {}

SerializableConflicts::~SerializableConflicts() {
  for (List* const list : {&running_, &committed_}) free_all(*list);
}

void SerializableConflicts::List::append(Transaction& transaction) noexcept {
  transaction.before_ = last;
  transaction.after_ = nullptr;
  (last != nullptr ? last->after_ : first) = &transaction;
  last = &transaction;
  ++count;
}

void SerializableConflicts::List::take_out(Transaction& transaction) noexcept {
  (transaction.before_ != nullptr ? transaction.before_->after_ : first) = transaction.after_;
  (transaction.after_ != nullptr ? transaction.after_->before_ : last) = transaction.before_;
  --count;
}

SerializableTransaction* SerializableConflicts::add(bool read_only, OwnerLabel label) noexcept {
  const Latch hold(latch_);
  try {
    auto made = std::make_unique<Transaction>(SerialId{++last_id_}, read_only, label);
    by_id_.emplace(made->id, made.get());
    running_.append(*made);
    return made.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

SerializableTransaction* SerializableConflicts::begin(bool read_only, OwnerLabel label) noexcept {
  return add(read_only, label);
}

SerializableTransaction* SerializableConflicts::take_up_prepared() noexcept {
  Transaction* const prepared = add(false, 0);
  if (prepared == nullptr) return nullptr;
  {
    const Latch hold(latch_);
    prepared->is_from_before_ = true;
    prepared->state_ = State::prepared;
    prepared->leave_order_ = ++last_order_;
  }
  marks_.add_all(*prepared);
  return prepared;
}

SerializableConflicts::Verdict SerializableConflicts::took_snapshot(Transaction& transaction,
                                                                    Lsn at) noexcept {
  const Latch hold(latch_);
  transaction.snapshot_ = at;
  if (!transaction.is_read_only_) return Verdict::fine;
  try {
    for (const Transaction* each = running_.first; each != nullptr; each = each->after_)
      if (!each->is_read_only_) transaction.beside_.push_back(each->id);
  } catch (const std::bad_alloc&) {
    return Verdict::no_memory;
  }
  // Those that have committed, but are not seen, run beside it as well.
  for (const Transaction* each = committed_.first; each != nullptr; each = each->after_)
    if (!each->is_read_only_ && each->commit_ >= at && has_early_overwriter(*each, transaction))
      transaction.is_unsafe_ = true;
  if (transaction.beside_.empty() && !transaction.is_unsafe_) transaction.safe_ = true;
  return Verdict::fine;
}

/// Returns true if the snapshot of `reader` may show the changes of `writer`.
bool SerializableConflicts::may_show(const Transaction& reader,
                                     const Transaction& writer) noexcept {
  return writer.is_committing() &&
         (writer.commit_ == Lsn::max || writer.commit_ < reader.snapshot_);
}

/// Returns true if `pivot`, of which `reader` has read what it overwrites, has itself read what a
/// transaction has overwritten that is the first of the three to commit.
bool SerializableConflicts::has_early_overwriter(const Transaction& pivot,
                                                 const Transaction& reader) noexcept {
  if (pivot.is_from_before_) return true;
  const std::uint64_t least = std::min(pivot.end_order_, reader.end_order_);
  // A reader that writes nothing matters only if it sees the first commit.
  const bool has_forgotten = pivot.forgotten_order_ != UINT64_MAX;
  if (has_forgotten && pivot.forgotten_order_ <= least &&
      (!reader.is_read_only_ || pivot.forgotten_commit_ < reader.snapshot_))
    return true;
  return std::ranges::any_of(pivot.overwriters_, [&](const Transaction* first) {
    return first->is_committing() && first->leave_order_ <= least &&
           (!reader.is_read_only_ || may_show(reader, *first));
  });
}

/// Returns true if a transaction has read what `pivot` overwrites, and commits, if at all, after
/// `overwriter`. Pre: `overwriter` has leave to commit.
bool SerializableConflicts::has_late_reader(const Transaction& pivot,
                                            const Transaction& overwriter) noexcept {
  if (pivot.is_from_before_) return true;
  return std::ranges::any_of(pivot.readers_, [&](const Transaction* reader) {
    if (reader->is_doomed()) return false;
    if (reader->end_order_ < overwriter.leave_order_) return false;
    return !reader->is_read_only_ || may_show(*reader, overwriter);
  });
}

/// Returns true if a transaction that still runs, or `committing` itself, has read what `pivot`
/// overwrites.
bool SerializableConflicts::has_running_reader(const Transaction& pivot,
                                               const Transaction& committing) noexcept {
  if (pivot.is_from_before_) return true;
  return std::ranges::any_of(pivot.readers_, [&](const Transaction* reader) {
    return reader == &committing ||
           (reader->state_ != State::committed && !reader->is_read_only_ && !reader->is_doomed());
  });
}

bool SerializableConflicts::are_linked(const Transaction& reader,
                                       const Transaction& writer) noexcept {
  const auto has = [](const Transaction::Others& all, const Transaction& one) {
    return std::ranges::find(all, &one) != all.end();
  };
  return reader.overwriters_.size() <= writer.readers_.size() ? has(reader.overwriters_, writer)
                                                              : has(writer.readers_, reader);
}

/// Notes that `writer` overwrites what `reader` has read. `self` is the one of the two that acts.
SerializableConflicts::Verdict SerializableConflicts::link(Transaction& reader, Transaction& writer,
                                                           const Transaction& self) noexcept {
  const bool counts = &reader != &writer && reader.state_ != State::gone &&
                      writer.state_ != State::gone && !reader.is_doomed() && !writer.is_doomed() &&
                      !reader.is_safe();
  // The writer began after the reader's end.
  const bool has_ended = reader.state_ == State::committed && reader.commit_ < writer.snapshot_;
  if (!counts || has_ended || are_linked(reader, writer)) return Verdict::fine;
  const bool is_dangerous =
      has_early_overwriter(writer, reader) ||
      (writer.is_committing() && !reader.is_read_only_ && has_late_reader(reader, writer));
  if (is_dangerous) {
    if (&self == &writer) return Verdict::pivot_in_write;
    if (writer.is_committing()) return Verdict::pivot_committed;
    writer.doomed_ = true;
  }
  try {
    reader.overwriters_.reserve(reader.overwriters_.size() + 1);
    writer.readers_.push_back(&reader);
  } catch (const std::bad_alloc&) {
    return Verdict::no_memory;
  }
  reader.overwriters_.push_back(&writer);
  return Verdict::fine;
}

SerializableConflicts::Verdict SerializableConflicts::missed_change(Transaction& reader,
                                                                    SerialId writer) noexcept {
  const Latch hold(latch_);
  if (reader.is_doomed()) return Verdict::doomed_in_read;
  const auto found = by_id_.find(writer);
  return found == by_id_.end() ? Verdict::fine : link(reader, *found->second, reader);
}

SerializableConflicts::Verdict SerializableConflicts::link_all(Transaction& writer,
                                                               MarkOwner& reader) noexcept {
  const Latch hold(latch_);
  return link(static_cast<Transaction&>(reader), writer, writer);
}

SerializableConflicts::Verdict SerializableConflicts::writes(Transaction& writer, LockId id,
                                                             ReadPart part) noexcept {
  if (writer.is_doomed()) return Verdict::doomed_in_write;
  Verdict verdict = Verdict::fine;
  if (marks_.empty()) return verdict;
  marks_.visit(id, part, [&](MarkOwner& reader) {
    if (verdict == Verdict::fine) verdict = link_all(writer, reader);
  });
  return verdict;
}

SerializableConflicts::Verdict SerializableConflicts::writes_tree(Transaction& writer,
                                                                  TreeId tree) noexcept {
  if (writer.is_doomed()) return Verdict::doomed_in_write;
  Verdict verdict = Verdict::fine;
  if (marks_.empty()) return verdict;
  marks_.visit_tree(tree, [&](MarkOwner& reader) {
    if (verdict == Verdict::fine) verdict = link_all(writer, reader);
  });
  return verdict;
}

SerializableConflicts::Verdict SerializableConflicts::may_commit(
    Transaction& transaction) noexcept {
  const Latch hold(latch_);
  if (transaction.is_doomed()) return Verdict::doomed_in_commit;
  if (transaction.state_ == State::prepared) return Verdict::fine;
  for (Transaction* const pivot : transaction.readers_) {
    if (pivot->state_ == State::committed || pivot->is_doomed()) continue;
    if (!has_running_reader(*pivot, transaction)) continue;
    if (pivot->state_ == State::prepared) return Verdict::pivot_prepared;
    pivot->doomed_ = true;
  }
  transaction.leave_order_ = ++last_order_;
  transaction.state_ = State::prepared;
  return Verdict::fine;
}

/// Decides, as far as `ended` was waited for, about the snapshots of read-only transactions.
void SerializableConflicts::end_beside(const Transaction& ended, bool has_committed) noexcept {
  for (Transaction* each = running_.first; each != nullptr; each = each->after_) {
    if (!each->is_read_only_ || std::erase(each->beside_, ended.id) == 0) continue;
    if (has_committed && has_early_overwriter(ended, *each)) each->is_unsafe_ = true;
    if (each->beside_.empty() && !each->is_unsafe_) each->safe_ = true;
  }
}

void SerializableConflicts::committed(Transaction& transaction, Lsn commit,
                                      Lsn visible_end) noexcept {
  if (kept() >= limits_.with_keys) marks_.coarsen(transaction);
  List gone;
  {
    const Latch hold(latch_);
    running_.take_out(transaction);
    if (commit != Lsn::none) {
      transaction.commit_ = commit;
    } else {
      // A transaction that writes nothing might as well have run in the moment of its snapshot.
      transaction.is_read_only_ = true;
      transaction.commit_ = Lsn{std::max<std::uint64_t>(raw(transaction.snapshot_), 1) - 1};
    }
    transaction.end_order_ = ++last_order_;
    transaction.state_ = State::committed;
    committed_.append(transaction);
    end_beside(transaction, true);
    forget_old(visible_end, gone);
    keep_within_limits();
  }
  free_all(gone);
}

void SerializableConflicts::rolled_back(Transaction& transaction, Lsn visible_end) noexcept {
  List gone;
  {
    const Latch hold(latch_);
    end_beside(transaction, false);
    take_out(transaction, running_, gone);
    forget_old(visible_end, gone);
  }
  free_all(gone);
}

/// Takes the transaction out of the list, and out of the conflicts of others.
void SerializableConflicts::take_out(Transaction& transaction, List& from, List& gone) noexcept {
  const bool has_committed = transaction.state_ == State::committed;
  for (Transaction* const reader : transaction.readers_) {
    std::erase(reader->overwriters_, &transaction);
    if (!has_committed) continue;
    reader->forgotten_order_ = std::min(reader->forgotten_order_, transaction.leave_order_);
    reader->forgotten_commit_ = std::min(reader->forgotten_commit_, transaction.commit_);
  }
  // As a reader it matters to overwriters that commit before it, and so have.
  for (Transaction* const overwriter : transaction.overwriters_)
    std::erase(overwriter->readers_, &transaction);
  transaction.readers_.clear();
  transaction.overwriters_.clear();
  transaction.state_ = State::gone;
  by_id_.erase(transaction.id);
  from.take_out(transaction);
  gone.append(transaction);
}

/// Forgets the committed transactions that every running one sees, and every one to come will.
void SerializableConflicts::forget_old(Lsn visible_end, List& gone) noexcept {
  Lsn seen = visible_end;
  for (const Transaction* each = running_.first; each != nullptr; each = each->after_)
    if (each->state_ == State::active && !each->is_doomed()) seen = std::min(seen, each->snapshot_);
  // After the end of an old snapshot there may be very many. The rest goes with the next ends.
  constexpr std::size_t kMostForgotten = 256;
  while (committed_.first != nullptr && committed_.first->commit_ < seen &&
         gone.count < kMostForgotten)
    take_out(*committed_.first, committed_, gone);
}

/// Dooms the running transaction with the oldest snapshot where too many others are kept for it.
void SerializableConflicts::keep_within_limits() noexcept {
  if (committed_.count <= limits_.committed) [[likely]]
    return;
  Transaction* oldest = nullptr;
  for (Transaction* each = running_.first; each != nullptr; each = each->after_)
    if (each->state_ == State::active && !each->is_doomed() &&
        (oldest == nullptr || each->snapshot_ < oldest->snapshot_))
      oldest = each;
  if (oldest != nullptr) oldest->doomed_ = true;
}

/// Call without the latch. Until its marks are removed, writers may still meet a transaction.
void SerializableConflicts::free_all(List& gone) noexcept {
  while (gone.first != nullptr) {
    Transaction* const each = gone.first;
    gone.take_out(*each);
    marks_.remove_all(*each);
    delete each;
  }
}

SerializableConflicts::Safety SerializableConflicts::safety_of(
    const Transaction& transaction) noexcept {
  const Latch hold(latch_);
  if (transaction.is_unsafe_) return Safety::unsafe;
  return transaction.is_safe() ? Safety::safe : Safety::undecided;
}

std::size_t SerializableConflicts::kept() noexcept {
  const Latch hold(latch_);
  return committed_.count;
}

}  // namespace swizzle::lock
