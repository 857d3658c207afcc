#pragma once

#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>

#include "base/invariant.h"
#include "base/random.h"
#include "storage/engine.h"
#include "storage/testing/history_checker.h"

namespace swizzle::testing {

/// Log of all sessions of a list-append run. Outlives the engine, so that it has the transactions
/// that a power cut interrupted.
class HistoryLog {
 public:
  /// Adds a transaction whose outcome is not known yet.
  std::size_t add(std::vector<History::Step> steps) {
    const std::lock_guard hold(mutex_);
    history_.transactions.push_back({History::Transaction::Outcome::unknown, std::move(steps)});
    return history_.transactions.size() - 1;
  }
  void record_outcome(std::size_t transaction, History::Transaction::Outcome outcome) {
    const std::lock_guard hold(mutex_);
    history_.transactions[transaction].outcome = outcome;
  }
  [[nodiscard]] History::Number next_number() { return next_number_.fetch_add(1); }
  [[nodiscard]] const History& history() const noexcept { return history_; }

 private:
  std::mutex mutex_;
  History history_;
  std::atomic<History::Number> next_number_{1};
};

/// One session of the list-append workload on one tree: transactions of a few appends, reads and
/// range reads of few keys, some of which do not exist yet.
class ListAppender {
 public:
  using Outcome = History::Transaction::Outcome;
  using Step = History::Step;
  static constexpr std::int64_t kKeys = 40;

  ListAppender(Engine& engine, TreeId tree, Isolation isolation, HistoryLog& log,
               std::uint64_t seed)
      : engine_(engine),
        tree_(engine.tree(tree).value()),
        isolation_(isolation),
        log_(log),
        random_(seed) {}

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) run_transaction();
  }
  /// Cancels the session's present request. From any thread.
  void cancel() {
    const std::lock_guard hold(mutex_);
    if (running_ != nullptr) running_->cancel();
  }
  /// Reads every key: the end of a history.
  void read_all() {
    const auto transaction = engine_.begin(Isolation::read_committed);
    transaction->begin_statement();
    Step step{Step::Kind::range, 0, kKeys, 0, {}};
    INVARIANT(read_range(*transaction, step).has_value());
    INVARIANT(transaction->commit().has_value());
    log_.record_outcome(log_.add({std::move(step)}), Outcome::committed);
  }

 private:
  void run_transaction() {
    const auto transaction = engine_.begin(isolation_);
    set_running(transaction.get());
    std::vector<Step> steps;
    bool good = true;
    for (std::uint64_t left = random_.between(1, 5); good && left != 0; --left) {
      transaction->begin_statement();
      Step step = some_step();
      const Result<> done = run_step(*transaction, step);
      good = done.has_value();
      if (!good) check_expected(done.error());
      if (good) steps.push_back(std::move(step));
      // Now and then a session ends without commit or rollback.
      if (random_.one_in(40)) good = false;
      linger();
    }
    set_running(nullptr);
    if (!good) {
      log_.record_outcome(log_.add(std::move(steps)), Outcome::aborted);
      return;
    }
    const std::size_t number = log_.add(std::move(steps));
    const Result<> committed = transaction->commit();
    if (!committed) check_expected(committed.error());
    log_.record_outcome(number, committed ? Outcome::committed : Outcome::aborted);
  }

  void linger() {
    Runtime& runtime = Runtime::current();
    if (random_.one_in(6)) runtime.sleep_until(runtime.now() + Duration{random_.below(1'000'000)});
    if (random_.one_in(3)) runtime.yield();
  }

  void set_running(Transaction* transaction) {
    const std::lock_guard hold(mutex_);
    running_ = transaction;
  }

  static void check_expected(const Error& error) {
    const SqlState state = error.state();
    INVARIANT(state == sqlstate::serialization_failure || state == sqlstate::deadlock_detected ||
              state == sqlstate::query_canceled);
  }

  Step some_step() {
    const auto key =
        static_cast<std::int64_t>(std::min(random_.below(kKeys), random_.below(kKeys)));
    switch (random_.below(8)) {
      case 0:
        return {Step::Kind::range, 0, kKeys, 0, {}};
      case 1:
      case 2:
        return {Step::Kind::range, key, std::min<std::int64_t>(kKeys, key + 5), 0, {}};
      case 3:
      case 4:
      case 5:
        return {Step::Kind::read, key, 0, 0, {}};
      default:
        return {Step::Kind::append, key, 0, log_.next_number(), {}};
    }
  }

  Result<> run_step(Transaction& transaction, Step& step) {
    switch (step.kind) {
      case Step::Kind::append:
        return append(transaction, step);
      case Step::Kind::read: {
        ASSIGN_OR_RETURN(const bool found,
                         tree_.get(transaction, as_bytes(key_text(step.key)), value_));
        if (found) step.lists.push_back({step.key, numbers_in(as_text(value_.bytes()))});
        return {};
      }
      case Step::Kind::range:
        break;
    }
    return read_range(transaction, step);
  }

  Result<> append(Transaction& transaction, const Step& step) {
    const std::string key = key_text(step.key);
    while (true) {
      ASSIGN_OR_RETURN(const bool found,
                       tree_.get(transaction, as_bytes(key), value_, ReadMode::for_update));
      std::string list{found ? as_text(value_.bytes()) : std::string_view{}};
      // Long enough that a few lists fill a page, which then splits.
      if (list.empty()) list = std::string(random_.between(100, 1500), ' ');
      list += std::to_string(step.number) + ",";
      if (found) {
        ASSIGN_OR_RETURN(const bool updated,
                         tree_.update(transaction, as_bytes(key), as_bytes(list)));
        INVARIANT(updated);
        return {};
      }
      ASSIGN_OR_RETURN(const bool inserted,
                       tree_.insert(transaction, as_bytes(key), as_bytes(list)));
      if (inserted) return {};
    }
  }

  Result<> read_range(Transaction& transaction, Step& step) {
    const std::string low = key_text(step.key);
    const std::string high = key_text(step.end);
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    ASSIGN_OR_RETURN(Cursor cursor,
                     tree_.scan(transaction, range,
                                random_.one_in(2) ? Direction::forward : Direction::backward));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) return {};
      std::int64_t key = 0;
      const std::string_view text = as_text(cursor.key());
      std::from_chars(text.data() + 4, text.data() + text.size(), key);
      step.lists.push_back({key - kFirstKey, numbers_in(as_text(cursor.value()))});
    }
  }

  static constexpr std::int64_t kFirstKey = 1000;
  static std::string key_text(std::int64_t key) { return "key " + std::to_string(kFirstKey + key); }

  static std::vector<History::Number> numbers_in(std::string_view text) {
    std::vector<History::Number> numbers;
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (!text.empty()) {
      History::Number number = 0;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
      numbers.push_back(number);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    }
    return numbers;
  }

  Engine& engine_;
  Tree tree_;
  Isolation isolation_;
  HistoryLog& log_;
  Random random_;
  ValueBuffer value_;
  std::mutex mutex_;
  Transaction* running_ = nullptr;
};

}  // namespace swizzle::testing
