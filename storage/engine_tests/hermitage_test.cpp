// Hermitage's ten anomalies against the engine, with a table of those that each level allows.
#include "storage/testing/hermitage.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using testing::hermitage::Outcome;
using testing::hermitage::Scenario;
using testing::hermitage::Step;

std::string hermitage_key(int id) {
  return "row " + std::to_string(id);
}
int id_of(Bytes key) {
  return std::stoi(std::string(as_text(key).substr(4)));
}
int number_of(Bytes value) {
  return std::stoi(std::string(as_text(value)));
}

/// Runs such steps as SQL would, by the engine's operations.
class Steps {
 public:
  Steps(Engine& engine, TreeId tree, Isolation isolation)
      : engine_(engine), tree_(engine.tree(tree).value()), isolation_(isolation) {}

  Outcome run(const Step& step) {
    if (transaction_ == nullptr) {
      transaction_ = engine_.begin(isolation_);
      transaction_->work_for(step.session, nullptr);
    }
    Outcome outcome;
    const Result<> done =
        step.kind == Step::Kind::commit ? transaction_->commit() : run(step, outcome.rows);
    if (!done) outcome.error = done.error().state().code();
    if (step.kind == Step::Kind::commit) transaction_.reset();
    return outcome;
  }
  void give_up() { transaction_.reset(); }

 private:
  Result<> run(const Step& step, testing::hermitage::Rows& rows) {
    transaction_->begin_statement();
    switch (step.kind) {
      case Step::Kind::select:
        return scan(step, rows);
      case Step::Kind::insert: {
        ASSIGN_OR_RETURN(const bool inserted,
                         tree_.insert(*transaction_, as_bytes(hermitage_key(step.id)),
                                      as_bytes(std::to_string(step.value))));
        INVARIANT(inserted);
        return {};
      }
      case Step::Kind::rollback:
        give_up();
        return {};
      default:
        return change(step);
    }
  }

  Result<> scan(const Step& step, testing::hermitage::Rows& rows) {
    ASSIGN_OR_RETURN(Cursor cursor, tree_.scan(*transaction_, {}));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) return {};
      const int id = id_of(cursor.key());
      const int value = number_of(cursor.value());
      if (step.where.holds(id, value)) rows[id] = value;
    }
  }

  /// Finds rows by the snapshot, then locks and changes the newest version of each, if the
  /// condition still holds.
  Result<> change(const Step& step) {
    testing::hermitage::Rows rows;
    RETURN_IF_ERROR(scan(step, rows));
    for (const auto& [id, seen] : rows) {
      const std::string key = hermitage_key(id);
      ValueBuffer now;
      ASSIGN_OR_RETURN(const bool found,
                       tree_.get(*transaction_, as_bytes(key), now, ReadMode::for_update));
      if (!found || !step.where.holds(id, number_of(now.bytes()))) continue;
      const int value = step.value + (step.kind == Step::Kind::add ? number_of(now.bytes()) : 0);
      Result<bool> done =
          step.kind == Step::Kind::remove
              ? tree_.remove(*transaction_, as_bytes(key))
              : tree_.update(*transaction_, as_bytes(key), as_bytes(std::to_string(value)));
      ASSIGN_OR_RETURN(const bool changed, std::move(done));
      INVARIANT(changed);
    }
    return {};
  }

  Engine& engine_;
  Tree tree_;
  Isolation isolation_;
  std::unique_ptr<Transaction> transaction_;
};

/// A session with a thread that runs the steps given to it.
class HermitageSession {
 public:
  HermitageSession(Engine& engine, TreeId tree, Isolation isolation)
      : steps_(engine, tree, isolation), thread_([this] { loop(); }) {}
  HermitageSession(const HermitageSession&) = delete;
  HermitageSession& operator=(const HermitageSession&) = delete;
  ~HermitageSession() {
    tell(std::nullopt, true);
    thread_.join();
  }
  void begin(const Step& step) { tell(step, false); }
  std::optional<Outcome> poll() {
    const std::lock_guard hold(mutex_);
    return std::exchange(outcome_, std::nullopt);
  }
  /// Pre: no step is running.
  void give_up() { steps_.give_up(); }

 private:
  void tell(std::optional<Step> step, bool end) {
    const std::lock_guard hold(mutex_);
    step_ = step;
    ends_ = end;
    changed_.notify_one();
  }
  void loop() {
    while (true) {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [this] { return ends_ || step_; });
      if (ends_) return;
      const Step step = *std::exchange(step_, std::nullopt);
      hold.unlock();
      Outcome outcome = steps_.run(step);
      hold.lock();
      outcome_ = std::move(outcome);
    }
  }

  Steps steps_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Step> step_;
  std::optional<Outcome> outcome_;
  bool ends_ = false;
  std::thread thread_;
};

class EngineSessions final : public testing::hermitage::Sessions {
 public:
  EngineSessions(Engine& engine, TreeId tree, Isolation isolation)
      : engine_(engine), tree_(tree), isolation_(isolation) {}

  void begin(const Step& step) override { worker(step.session).begin(step); }
  std::optional<Outcome> poll(int session) override { return worker(session).poll(); }
  bool waits(int session) override {
    return std::ranges::any_of(engine_.locks(), [session](const lock::LockRow& row) {
      return row.label == session && row.state == lock::LockRow::State::waiting;
    });
  }
  void give_up(int session) override { worker(session).give_up(); }
  testing::hermitage::Rows table() override {
    testing::hermitage::Rows rows;
    const auto transaction = engine_.begin();
    Cursor cursor = engine_.tree(tree_).value().scan(*transaction, {}).value();
    while (cursor.next().value()) rows[id_of(cursor.key())] = number_of(cursor.value());
    return rows;
  }

 private:
  HermitageSession& worker(int session) {
    auto& found = workers_[session];
    if (found == nullptr) found = std::make_unique<HermitageSession>(engine_, tree_, isolation_);
    return *found;
  }

  Engine& engine_;
  TreeId tree_;
  Isolation isolation_;
  std::map<int, std::unique_ptr<HermitageSession>> workers_;
};

}  // namespace

TEST_CASE_METHOD(testing::TemporaryEngine, "Hermitage: what each level prevents",
                 "[storage][isolation][hermitage]") {
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::repeatable_read,
                                  Isolation::serializable, Isolation::serializable_snapshot);
  // With key locks, and with marks instead of them.
  engine.reset();
  options.row_lock_limit = GENERATE(0U, 10'000U);
  open();
  for (const Scenario& scenario : testing::hermitage::scenarios()) {
    INFO(scenario.name << " at level " << static_cast<int>(isolation));
    const TreeId tree = make_tree();
    {
      const auto transaction = engine->begin();
      Tree t = engine->tree(tree).value();
      REQUIRE(t.insert(*transaction, as_bytes(hermitage_key(1)), as_bytes("10")).value());
      REQUIRE(t.insert(*transaction, as_bytes(hermitage_key(2)), as_bytes("20")).value());
      REQUIRE(transaction->commit());
    }
    EngineSessions sessions(*engine, tree, isolation);
    const auto run = testing::hermitage::run(scenario, sessions);
    for (const Outcome& step : run.steps)
      CHECK((step.error.empty() || step.error == "40001" || step.error == "40P01"));
    CHECK(scenario.happened(run) == scenario.is_expected(isolation));
  }
}

}  // namespace swizzle
