#include "storage/txn/transaction_conflicts.h"

#include <algorithm>
#include <new>

#include "storage/txn/rows/overflow.h"

namespace swizzle {

bool TransactionConflicts::is_tracked(TreeId tree) noexcept {
  return tree != TreeId::directory && tree != kOverflowTree;
}

void TransactionConflicts::join(bool read_only, lock::OwnerLabel label) noexcept {
  if (is_on_) return;
  is_on_ = true;
  entry_ = all_.begin(read_only, label);
  if (entry_ == nullptr) verdict_ = Verdict::no_memory;
}

void TransactionConflicts::took_snapshot(Lsn at) noexcept {
  if (entry_ == nullptr) return;
  const Verdict verdict = all_.took_snapshot(*entry_, at);
  if (verdict != Verdict::fine) verdict_ = verdict;
}

bool TransactionConflicts::join_prepared() noexcept {
  entry_ = all_.take_up_prepared();
  is_on_ = entry_ != nullptr;
  return is_on_;
}

void TransactionConflicts::committed(Lsn commit, Lsn visible_end) noexcept {
  if (entry_ != nullptr) all_.committed(*entry_, commit, visible_end);
  forget();
}

void TransactionConflicts::rolled_back(Lsn visible_end) noexcept {
  if (entry_ != nullptr) all_.rolled_back(*entry_, visible_end);
  forget();
}

void TransactionConflicts::forget() noexcept {
  is_on_ = false;
  entry_ = nullptr;
  missed_.clear();
  verdict_ = Verdict::fine;
}

void TransactionConflicts::missed(lock::SerialId writer) noexcept {
  if (writer == lock::SerialId::none || writer == id()) return;
  if (!missed_.empty() && missed_.back() == writer) return;
  try {
    missed_.push_back(writer);
  } catch (const std::bad_alloc&) {
    verdict_ = Verdict::no_memory;
  }
}

Result<> TransactionConflicts::check() {
  if (verdict_ == Verdict::fine && entry_->is_doomed()) verdict_ = Verdict::doomed_in_read;
  if (!missed_.empty()) {
    std::ranges::sort(missed_);
    const auto repeated = std::ranges::unique(missed_);
    missed_.erase(repeated.begin(), repeated.end());
    for (const lock::SerialId writer : missed_)
      if (verdict_ == Verdict::fine) verdict_ = all_.missed_change(*entry_, writer);
    missed_.clear();
  }
  if (verdict_ == Verdict::fine) [[likely]]
    return {};
  return fail(lock::SerializableConflicts::error_of(verdict_));
}

TransactionConflicts::Verdict TransactionConflicts::writes(lock::LockId id,
                                                           lock::ReadPart part) noexcept {
  if (entry_ == nullptr) return verdict_;
  return is_tracked(id.tree) ? all_.writes(*entry_, id, part) : Verdict::fine;
}

TransactionConflicts::Verdict TransactionConflicts::inserts(lock::LockId gap,
                                                            lock::LockId key) noexcept {
  if (!is_tracked(key.tree)) return Verdict::fine;
  Verdict verdict = Verdict::fine;
  if (is_on_) verdict = writes(gap, lock::ReadPart::gap);
  if (verdict == Verdict::fine) all_.marks().split_gap(gap, key);
  return verdict;
}

Result<> TransactionConflicts::writes_tree(TreeId tree) {
  if (entry_ == nullptr) return {};
  const Verdict verdict = all_.writes_tree(*entry_, tree);
  if (verdict == Verdict::fine) return {};
  return fail(lock::SerializableConflicts::error_of(verdict));
}

Result<> TransactionConflicts::before_commit() {
  RETURN_IF_ERROR(check());
  const Verdict verdict = all_.may_commit(*entry_);
  if (verdict == Verdict::fine) return {};
  return fail(lock::SerializableConflicts::error_of(verdict));
}

lock::SerializableConflicts::Safety TransactionConflicts::safety() noexcept {
  return entry_ != nullptr ? all_.safety_of(*entry_) : lock::SerializableConflicts::Safety::safe;
}

}  // namespace swizzle
