#include "lock/serializable/conflicts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/random.h"
#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

using Verdict = SerializableConflicts::Verdict;

/// Transactions that read snapshots of a few numbered records and change them, one step at a time.
/// Keeps the history of those that commit, whose dependencies must have no cycle.
class History {
 public:
  History(std::uint64_t seed, const SerializableConflicts::Limits& limits, bool tells)
      : random_(seed), conflicts_(limits), tells_(tells) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    while (!running_.empty()) end(0, !running_[0].has_leave && random_.one_in(4));
  }

  /// Returns true if the transactions that have committed are ordered by their dependencies.
  [[nodiscard]] bool is_serializable() const {
    std::map<int, std::vector<int>> after;
    for (const auto& [record, versions] : versions_) {
      for (std::size_t i = 1; i < versions.size(); ++i)
        after[versions[i - 1].writer].push_back(versions[i].writer);
    }
    for (const Read& read : reads_) {
      if (!has_committed(read.reader)) continue;
      const auto& versions = versions_.at(read.record);
      after[versions[read.version].writer].push_back(read.reader);
      if (read.version + 1 < versions.size())
        after[read.reader].push_back(versions[read.version + 1].writer);
    }
    std::map<int, int> state;  // 1: being visited, 2: done
    const auto visit = [&](auto&& self, int at) -> bool {
      if (state[at] == 2) return true;
      if (state[at] == 1) return false;
      state[at] = 1;
      for (const int next : after[at])
        if (next != at && !self(self, next)) return false;
      state[at] = 2;
      return true;
    };
    for (const int writer : committed_)
      if (!visit(visit, writer)) return false;
    return true;
  }
  [[nodiscard]] std::size_t commits() const { return committed_.size(); }
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] SerializableConflicts& conflicts() { return conflicts_; }
  /// Everything was forgotten once nothing ran.
  [[nodiscard]] bool is_empty() {
    visible_end_ = next_commit_;
    SerializableTransaction* const last = conflicts_.begin(false);
    static_cast<void>(conflicts_.took_snapshot(*last, Lsn{visible_end_}));
    conflicts_.rolled_back(*last, Lsn{visible_end_});
    return conflicts_.kept() == 0 && conflicts_.marks().empty();
  }

 private:
  struct Version {
    std::uint64_t commit;
    int writer;
    SerialId serial;
  };
  struct Running {
    int number;
    SerializableTransaction* entry;
    std::uint64_t snapshot;
    bool reads_only;
    std::vector<int> written;
    bool has_leave = false;  ///< to commit
  };
  struct Read {
    int reader;
    int record;
    std::size_t version;
  };
  static constexpr int kRecords = 5;

  [[nodiscard]] bool has_committed(int number) const {
    return std::ranges::find(committed_, number) != committed_.end();
  }
  static LockId id_of(int record) { return {kTree, static_cast<std::uint64_t>(record)}; }

  void step() {
    // Commits become visible some time after they have happened.
    if (random_.one_in(3)) visible_end_ = random_.between(visible_end_, next_commit_);
    if (running_.empty() || (running_.size() < 5 && random_.one_in(4))) return begin();
    const std::size_t which = random_.below(running_.size());
    if (running_[which].has_leave) return end(which, false);
    if (random_.one_in(8)) return ask_for_leave(which);
    if (random_.one_in(7)) return end(which, random_.one_in(8));
    if (!running_[which].reads_only && random_.one_in(2)) return write(which);
    read(which);
  }

  void begin() {
    const bool reads_only = random_.one_in(4);
    Running begun{++begun_, conflicts_.begin(reads_only), visible_end_, reads_only, {}};
    REQUIRE(conflicts_.took_snapshot(*begun.entry, Lsn{visible_end_}) == Verdict::fine);
    running_.push_back(std::move(begun));
  }

  std::vector<Version>& versions_of(int record) {
    std::vector<Version>& versions = versions_[record];
    if (versions.empty()) versions.push_back({0, 0, SerialId::none});
    return versions;
  }

  Running* writer_of(int record) {
    for (Running& each : running_)
      if (std::ranges::find(each.written, record) != each.written.end()) return &each;
    return nullptr;
  }

  bool goes_on(std::size_t which, Verdict verdict) {
    if (verdict == Verdict::fine || !tells_) return true;
    ++failures_;
    end(which, true);
    return false;
  }

  void read(std::size_t which) {
    Running& reader = running_[which];
    const int record = static_cast<int>(random_.below(kRecords));
    if (std::ranges::find(reader.written, record) != reader.written.end()) return;
    conflicts_.read(*reader.entry, id_of(record), ReadPart::key);
    const auto& versions = versions_of(record);
    std::size_t seen = versions.size() - 1;
    while (versions[seen].commit >= reader.snapshot && seen != 0) --seen;
    SerialId hidden = SerialId::none;
    if (seen + 1 < versions.size())
      hidden = versions[seen + 1].serial;
    else if (const Running* const writer = writer_of(record))
      hidden = writer->entry->id;
    if (hidden != SerialId::none &&
        !goes_on(which, conflicts_.missed_change(*reader.entry, hidden)))
      return;
    reads_.push_back({running_[which].number, record, seen});
  }

  void write(std::size_t which) {
    Running& writer = running_[which];
    const int record = static_cast<int>(random_.below(kRecords));
    const Running* const other = writer_of(record);
    if (other == &writer) return;
    // As at REPEATABLE READ, the first to change a record wins.
    if (other != nullptr || versions_of(record).back().commit >= writer.snapshot)
      return end(which, true);
    if (!goes_on(which, conflicts_.writes(*writer.entry, id_of(record), ReadPart::key))) return;
    running_[which].written.push_back(record);
  }

  /// Others may take steps, and commit, before it commits.
  void ask_for_leave(std::size_t which) {
    if (conflicts_.may_commit(*running_[which].entry) == Verdict::fine) {
      running_[which].has_leave = true;
    } else if (tells_) {
      ++failures_;
      end(which, true);
    }
  }

  void end(std::size_t which, bool rolls_back) {
    Running ended = running_[which];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
    if (!rolls_back && conflicts_.may_commit(*ended.entry) != Verdict::fine && tells_) {
      ++failures_;
      rolls_back = true;
    }
    if (rolls_back) return conflicts_.rolled_back(*ended.entry, Lsn{visible_end_});
    committed_.push_back(ended.number);
    const std::uint64_t commit = ended.written.empty() ? 0 : next_commit_++;
    for (const int record : ended.written)
      versions_of(record).push_back({commit, ended.number, ended.entry->id});
    conflicts_.committed(*ended.entry, Lsn{commit}, Lsn{visible_end_});
  }

  Random random_;
  SerializableConflicts conflicts_;
  const bool tells_;  ///< false: what is found out is not heeded
  std::uint64_t next_commit_ = 100;
  std::uint64_t visible_end_ = 100;
  int begun_ = 0;
  int failures_ = 0;
  std::vector<Running> running_;
  std::map<int, std::vector<Version>> versions_;
  std::vector<Read> reads_;
  std::vector<int> committed_;
};

std::uint64_t histories() {
  const char* const wanted = std::getenv("SWIZZLE_HISTORIES");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 4000;
}

}  // namespace

TEST_CASE("transactions that commit are serializable", "[lock][serializable]") {
  std::size_t commits = 0;
  int begun = 0;
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= histories(); ++seed) {
    History history(seed, {}, true);
    history.run(80);
    INFO("seed " << seed);
    REQUIRE(history.is_serializable());
    REQUIRE(history.is_empty());
    commits += history.commits();
    begun += history.begun();
    failures += history.failures();
  }
  // Most transactions go on: two thirds of those that end otherwise have met another's change.
  CHECK(commits * 2 > static_cast<std::size_t>(begun));
  CHECK(failures > 0);
  CHECK(failures * 5 < begun);
}

TEST_CASE("without the verdicts the same transactions are not serializable",
          "[lock][serializable]") {
  int cycles = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    History history(seed, {}, false);
    history.run(80);
    cycles += history.is_serializable() ? 0 : 1;
  }
  CHECK(cycles > 30);
}

TEST_CASE("with marks on trees and few transactions kept, all that commit are serializable",
          "[lock][serializable]") {
  const SerializableConflicts::Limits tight{
      .marks = {.buckets = 2, .of_tree = 2, .of_owner = 2}, .with_keys = 2, .committed = 4};
  std::size_t commits = 0;
  for (std::uint64_t seed = 1; seed <= histories() / 4; ++seed) {
    History history(seed, tight, true);
    history.run(80);
    INFO("seed " << seed);
    REQUIRE(history.is_serializable());
    REQUIRE(history.is_empty());
    commits += history.commits();
  }
  CHECK(commits > histories());
}

namespace {

/// One transaction after the other on one SerializableConflicts.
struct Conflicts : SerializableConflicts {
  SerializableTransaction& begin_at(std::uint64_t snapshot, bool read_only = false) {
    SerializableTransaction* const begun = begin(read_only);
    REQUIRE(took_snapshot(*begun, Lsn{snapshot}) == Verdict::fine);
    return *begun;
  }
  void reads(SerializableTransaction& transaction, std::uint64_t key) {
    read(transaction, {kTree, key}, ReadPart::key);
  }
  Verdict changes(SerializableTransaction& transaction, std::uint64_t key) {
    return writes(transaction, {kTree, key}, ReadPart::key);
  }
  Verdict commit(SerializableTransaction& transaction, std::uint64_t at) {
    const Verdict verdict = may_commit(transaction);
    if (verdict == Verdict::fine)
      committed(transaction, Lsn{at}, Lsn{at + 1});
    else
      rolled_back(transaction, Lsn{at});
    return verdict;
  }
};

}  // namespace

TEST_CASE("of two that skew what the other reads, the second to commit fails",
          "[lock][serializable]") {
  Conflicts conflicts;
  auto& one = conflicts.begin_at(10);
  auto& two = conflicts.begin_at(10);
  conflicts.reads(one, 1);
  conflicts.reads(two, 2);
  CHECK(conflicts.changes(one, 2) == Verdict::fine);
  CHECK(conflicts.changes(two, 1) == Verdict::fine);
  CHECK(conflicts.commit(one, 11) == Verdict::fine);
  CHECK(conflicts.commit(two, 12) == Verdict::doomed_in_commit);
}

TEST_CASE("a conflict with one that ended before is none", "[lock][serializable]") {
  Conflicts conflicts;
  auto& still_open = conflicts.begin_at(5);
  auto& one = conflicts.begin_at(10);
  conflicts.reads(one, 1);
  CHECK(conflicts.changes(one, 2) == Verdict::fine);
  CHECK(conflicts.commit(one, 11) == Verdict::fine);
  auto& two = conflicts.begin_at(12);
  CHECK(conflicts.changes(two, 1) == Verdict::fine);
  CHECK(conflicts.commit(two, 13) == Verdict::fine);
  CHECK(conflicts.kept() == 2);
  CHECK(conflicts.commit(still_open, 14) == Verdict::fine);
  CHECK(conflicts.kept() == 0);
}

TEST_CASE("a read-only snapshot is safe once the writers beside it have ended harmlessly",
          "[lock][serializable]") {
  Conflicts conflicts;
  auto& alone = conflicts.begin_at(10, true);
  CHECK(alone.is_safe());
  CHECK(conflicts.commit(alone, 0) == Verdict::fine);

  auto& writer = conflicts.begin_at(10);
  auto& reader = conflicts.begin_at(10, true);
  CHECK(conflicts.safety_of(reader) == SerializableConflicts::Safety::undecided);
  CHECK(conflicts.changes(writer, 1) == Verdict::fine);
  CHECK(conflicts.commit(writer, 11) == Verdict::fine);
  CHECK(conflicts.safety_of(reader) == SerializableConflicts::Safety::safe);
  conflicts.reads(reader, 1);
  CHECK(conflicts.marks().empty());
}

TEST_CASE("a read-only snapshot is unsafe if it shows what a writer beside it has missed",
          "[lock][serializable]") {
  Conflicts conflicts;
  auto& pivot = conflicts.begin_at(10);
  auto& first = conflicts.begin_at(10);
  conflicts.reads(pivot, 1);
  CHECK(conflicts.changes(first, 1) == Verdict::fine);
  CHECK(conflicts.commit(first, 11) == Verdict::fine);
  auto& reader = conflicts.begin_at(12, true);
  CHECK(conflicts.changes(pivot, 2) == Verdict::fine);
  // It sees the first, and not the pivot that comes before the first: the pivot must not commit.
  conflicts.reads(reader, 2);
  const SerialId pivots = pivot.id;
  SECTION("the reader comes before the commit") {
    CHECK(conflicts.missed_change(reader, pivots) == Verdict::fine);
    CHECK(conflicts.commit(pivot, 13) == Verdict::doomed_in_commit);
  }
  SECTION("the reader comes after the commit") {
    CHECK(conflicts.commit(pivot, 13) == Verdict::fine);
    CHECK(conflicts.safety_of(reader) == SerializableConflicts::Safety::unsafe);
    CHECK(conflicts.missed_change(reader, pivots) == Verdict::pivot_committed);
    CHECK(SerializableConflicts::error_of(Verdict::pivot_committed).state() ==
          sqlstate::serialization_failure);
  }
}

TEST_CASE("what was prepared before a restart conflicts with every writer that reads it",
          "[lock][serializable]") {
  Conflicts conflicts;
  SerializableTransaction* const prepared = conflicts.take_up_prepared();
  auto& writer = conflicts.begin_at(10);
  CHECK(conflicts.changes(writer, 1) == Verdict::fine);
  CHECK(conflicts.commit(writer, 11) == Verdict::pivot_prepared);
  auto& reader = conflicts.begin_at(10, true);
  conflicts.reads(reader, 1);
  CHECK(conflicts.commit(reader, 0) == Verdict::fine);
  conflicts.committed(*prepared, Lsn{12}, Lsn{13});
  auto& later = conflicts.begin_at(13);
  CHECK(conflicts.changes(later, 1) == Verdict::fine);
  CHECK(conflicts.commit(later, 14) == Verdict::fine);
}

}  // namespace swizzle::lock
