#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "base/invariant.h"
#include "base/random.h"
#include "base/runtime/runtime.h"
#include "storage/bulk_changes.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/version_model.h"
#include "storage/txn/transaction_access.h"

namespace swizzle::testing {

/// State that the sessions share: rows and an index of them, in an engine and in models of both.
struct Database {
  Engine& engine;
  Tree rows;   // key → value, which begins with a letter
  Tree index;  // letter and key → nothing
  VersionModel model;
  VersionModel index_model;
  std::uint64_t values = 0;
  std::uint64_t too_old = 0;
  std::uint64_t conflicts = 0;
};

inline std::string key_text(std::uint64_t number) {
  return "key " + std::to_string(1000 + number);
}

/// One session of random transactions at mixed levels; its reads are reported to the models.
class Session {
 public:
  Session(Database& database, std::uint64_t seed) : db_(database), random_(seed) {}

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) run_transaction();
  }

 private:
  using Changes = VersionModel::Changes;
  static constexpr std::uint64_t kKeys = 48;

  [[nodiscard]] Lsn tail() const { return Lsn{db_.engine.statistics().log_tail}; }
  TransactionState& state() { return TransactionAccess::state(*transaction_); }
  [[nodiscard]] bool is_serializable() const {
    return transaction_->isolation() == Isolation::serializable;
  }

  void run_transaction() {
    constexpr std::array levels{Isolation::read_committed, Isolation::repeatable_read,
                                Isolation::serializable};
    transaction_ = db_.engine.begin(levels[random_.below(3)]);
    own_.clear();
    own_index_.clear();
    inserted_.clear();
    locked_reads_.clear();
    Result<> good;
    for (std::uint64_t left = random_.between(1, 6); good && left != 0; --left) {
      const Transaction::Mark mark = transaction_->mark();
      const auto before = std::tuple{own_, own_index_, inserted_};
      transaction_->begin_statement();
      good = run_statement();
      if (good && random_.one_in(8)) {
        good = transaction_->rollback_to(mark);
        std::tie(own_, own_index_, inserted_) = before;
      }
      linger();
    }
    if (!good) check_expected(good.error());
    if (good && !random_.one_in(6)) finish();
    transaction_.reset();
  }

  /// Yields, sometimes for so long that other commits become durable and are forgotten.
  void linger() {
    Runtime& runtime = Runtime::current();
    if (random_.one_in(4)) runtime.sleep_until(runtime.now() + Duration{random_.below(3'000'000)});
    if (random_.one_in(2)) runtime.yield();
  }

  void check_expected(const Error& error) {
    const SqlState state = error.state();
    db_.too_old += state == sqlstate::snapshot_too_old ? 1U : 0U;
    db_.conflicts += 1;
    INVARIANT(state == sqlstate::serialization_failure || state == sqlstate::deadlock_detected ||
              state == sqlstate::snapshot_too_old || state == sqlstate::lock_not_available);
  }

  void finish() {
    // Rows that a serializable transaction has read must not have changed until now.
    const Lsn now = tail();
    for (VersionModel::Read& read : locked_reads_) {
      read.what += ", at the end";
      read.at = now;
      db_.model.saw(std::move(read));
    }
    const bool has_snapshot =
        transaction_->isolation() == Isolation::repeatable_read && state().own.is_taken;
    const Lsn snapshot = state().own.lsn;
    TransactionSlot& slot = state().slot;
    const bool is_writer = state().undo != nullptr && state().undo->count() != 0;
    INVARIANT(transaction_->commit().has_value());
    if (!is_writer) return;
    const Lsn commit{slot.outcome.load()};
    db_.model.committed(commit, own_);
    db_.index_model.committed(commit, own_index_);
    if (!has_snapshot) return;
    // A key that was absent may have been inserted and removed.
    for (const auto& [key, value] : own_)
      if (!inserted_.contains(key)) db_.model.overwrote({snapshot, commit, key});
  }

  Result<> run_statement() {
    switch (random_.below(10)) {
      case 0:
        return read_point(ReadMode::snapshot);
      case 1:
        return read_point(std::array{ReadMode::for_update, ReadMode::for_no_key_update,
                                     ReadMode::for_share}[random_.below(3)]);
      case 2:
      case 3:
        return read_range();
      case 4:
        return change_range();
      case 5:
        return remove_seen();
      case 6:
        return remove_stretch();
      default:
        return change();
    }
  }

  std::string some_key() { return key_text(random_.below(kKeys)); }
  std::string some_value() {
    std::string value(1, static_cast<char>('a' + random_.below(4)));
    value += std::to_string(++db_.values);
    value.resize(random_.one_in(12) ? 2500 + random_.below(4000) : 20 + random_.below(300), '.');
    return value;
  }

  /// Returns the snapshot of a read, without locks or with them.
  Lsn position(ReadMode mode) {
    return mode == ReadMode::snapshot && !is_serializable() ? state().view().lsn : tail();
  }

  Result<> read_point(ReadMode mode) {
    const std::string key = some_key();
    VersionModel::Read read{"a point read", {}, own_, key, key + '\0', {}};
    ValueBuffer value;
    ASSIGN_OR_RETURN(const bool found, db_.rows.get(*transaction_, as_bytes(key), value, mode));
    if (found) read.seen.emplace(key, as_text(value.bytes()));
    read.at = position(mode);
    // Absent keys are locked at SERIALIZABLE only, and may have been inserted since; at REPEATABLE
    // READ a key that is found is also in the snapshot.
    if (mode == ReadMode::snapshot || found || is_serializable()) saw(std::move(read));
    return {};
  }

  void saw(VersionModel::Read read) {
    if (is_serializable()) locked_reads_.push_back(read);
    db_.model.saw(std::move(read));
  }

  Result<VersionModel::Content> scan(const Tree& tree, const std::string& low,
                                     const std::string& high) {
    VersionModel::Content seen;
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    const bool backward = random_.one_in(2);
    ASSIGN_OR_RETURN(Cursor cursor, tree.scan(*transaction_, range,
                                              backward ? Direction::backward : Direction::forward));
    std::string last;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) return seen;
      const std::string key{as_text(cursor.key())};
      const bool in_order = last.empty() || (backward ? key < last : key > last);
      if (!in_order) throw std::logic_error{"a scan gives " + key + " after " + last};
      last = key;
      seen.emplace(key, as_text(cursor.value()));
      if (random_.one_in(8)) linger();
    }
  }

  std::pair<std::string, std::string> some_range() {
    const std::uint64_t low = random_.below(kKeys);
    if (random_.one_in(4)) return {key_text(0), key_text(kKeys)};
    return {key_text(low), key_text(low + random_.between(1, 12))};
  }

  /// Reads rows, and the same rows by the index.
  Result<> read_range() {
    const auto [low, high] = some_range();
    VersionModel::Read read{"a scan", {}, own_, low, high, {}};
    ASSIGN_OR_RETURN(read.seen, scan(db_.rows, low, high));
    read.at = position(ReadMode::snapshot);
    saw(std::move(read));
    if (!random_.one_in(3)) return {};
    const std::string letter(1, static_cast<char>('a' + random_.below(4)));
    VersionModel::Read by_index{"a scan of the index", {}, own_index_, letter, letter + '~', {}};
    ASSIGN_OR_RETURN(by_index.seen, scan(db_.index, by_index.low, by_index.high));
    by_index.at = position(ReadMode::snapshot);
    db_.index_model.saw(std::move(by_index));
    return {};
  }

  /// Writes each row during the scan that finds them. The scan finds each once, as it was (P39 and
  /// the Halloween problem).
  Result<> change_range() {
    const auto [low, high] = some_range();
    const Changes before = own_;
    VersionModel::Read read{"a scan that its own statement changes", {}, before, low, high, {}};
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    ASSIGN_OR_RETURN(Cursor cursor, db_.rows.scan(*transaction_, range));
    const Lsn began = position(ReadMode::snapshot);
    while (true) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) break;
      const std::string key{as_text(cursor.key())};
      read.seen.emplace(key, as_text(cursor.value()));
      ValueBuffer now;
      ASSIGN_OR_RETURN(const bool found,
                       db_.rows.get(*transaction_, as_bytes(key), now, ReadMode::for_update));
      if (!found) continue;
      RETURN_IF_ERROR(put(key, std::string(as_text(now.bytes())), some_value()));
      // Nor may the scan find a row inserted ahead of it.
      const std::string further = key_text(random_.below(kKeys));
      if (random_.one_in(4) && !own_.contains(further)) RETURN_IF_ERROR(insert(further));
    }
    // At SERIALIZABLE it reads as it goes.
    read.at = began;
    if (!is_serializable()) db_.model.saw(std::move(read));
    return {};
  }

  Result<> change() {
    const std::string key = some_key();
    ValueBuffer now;
    ASSIGN_OR_RETURN(const bool found,
                     db_.rows.get(*transaction_, as_bytes(key), now, ReadMode::for_update));
    if (!found) return insert(key);
    const std::string old{as_text(now.bytes())};
    if (random_.one_in(3)) {
      ASSIGN_OR_RETURN(const bool removed, db_.rows.remove(*transaction_, as_bytes(key)));
      INVARIANT(removed);
      own_[key].reset();
      return unlist(key, old);
    }
    return put(key, old, some_value());
  }

  /// Without a lock: removes the record that the snapshot shows if it is unchanged. Otherwise the
  /// index would lack the entry of the row that was seen.
  Result<> remove_seen() {
    const std::string key = some_key();
    ValueBuffer shown;
    ASSIGN_OR_RETURN(const bool found, db_.rows.get(*transaction_, as_bytes(key), shown));
    if (!found) return {};
    const std::string seen{as_text(shown.bytes())};
    linger();
    ASSIGN_OR_RETURN(const bool removed,
                     remove_unchanged(db_.rows, *transaction_, as_bytes(key), as_bytes(seen)));
    if (!removed) return {};
    own_[key].reset();
    return unlist(key, seen);
  }

  /// The same for several rows that a scan has shown. Leaves rows that cannot be removed together
  /// with the first.
  Result<> remove_stretch() {
    const auto [low, high] = some_range();
    ASSIGN_OR_RETURN(const VersionModel::Content shown, scan(db_.rows, low, high));
    std::vector<Removal> removals;
    for (const auto& [key, value] : shown) removals.push_back({as_bytes(key), as_bytes(value)});
    linger();
    ASSIGN_OR_RETURN(const std::size_t done, remove_first(db_.rows, *transaction_, removals));
    std::vector<std::string> entries;
    for (const Removal& removal : std::span{removals}.first(done)) {
      own_[std::string{as_text(removal.key)}].reset();
      entries.push_back(std::string{as_text(*removal.seen).substr(0, 1)} +
                        std::string{as_text(removal.key)});
    }
    std::ranges::sort(entries);
    return unlist_all(entries);
  }

  /// Removes entries as a statement of many rows does.
  Result<> unlist_all(const std::vector<std::string>& entries) {
    std::vector<Removal> removals;
    for (const std::string& entry : entries) removals.push_back({as_bytes(entry), std::nullopt});
    for (std::span<const Removal> left{removals}; !left.empty();) {
      ASSIGN_OR_RETURN(std::size_t done, remove_first(db_.index, *transaction_, left));
      if (done == 0) {
        ASSIGN_OR_RETURN(const bool removed, db_.index.remove(*transaction_, left.front().key));
        if (!removed)
          throw std::logic_error{"the index has no " + std::string(as_text(left.front().key))};
        done = 1;
      }
      left = left.subspan(done);
    }
    for (const std::string& entry : entries) own_index_[entry].reset();
    return {};
  }

  Result<> insert(const std::string& key) {
    const std::string value = some_value();
    ASSIGN_OR_RETURN(const bool inserted,
                     db_.rows.insert(*transaction_, as_bytes(key), as_bytes(value)));
    if (!inserted) return {};
    if (!own_.contains(key)) inserted_.insert(key);
    own_[key] = value;
    return list(key, value);
  }

  Result<> put(const std::string& key, const std::string& old, const std::string& value) {
    ASSIGN_OR_RETURN(const bool updated,
                     db_.rows.update(*transaction_, as_bytes(key), as_bytes(value)));
    INVARIANT(updated);
    own_[key] = value;
    if (old.front() == value.front()) return {};
    RETURN_IF_ERROR(unlist(key, old));
    return list(key, value);
  }

  Result<> list(const std::string& key, const std::string& value) {
    const std::string entry = value.substr(0, 1) + key;
    ASSIGN_OR_RETURN(const bool inserted,
                     db_.index.insert(*transaction_, as_bytes(entry), Bytes{}));
    if (!inserted) throw std::logic_error{"the index has " + entry + " already"};
    own_index_[entry] = "";
    return {};
  }
  Result<> unlist(const std::string& key, const std::string& value) {
    const std::string entry = value.substr(0, 1) + key;
    ASSIGN_OR_RETURN(const bool removed, db_.index.remove(*transaction_, as_bytes(entry)));
    if (!removed) throw std::logic_error{"the index has no " + entry};
    own_index_[entry].reset();
    return {};
  }

  Database& db_;
  Random random_;
  std::unique_ptr<Transaction> transaction_;
  Changes own_;
  Changes own_index_;
  std::set<std::string> inserted_;
  std::vector<VersionModel::Read> locked_reads_;
};

}  // namespace swizzle::testing
