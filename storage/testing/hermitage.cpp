#include "storage/testing/hermitage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <thread>

namespace swizzle::testing::hermitage {
namespace {

using Kind = Step::Kind;

Step select(int session, Where where) {
  return {session, Kind::select, where, 0, 0};
}
Step set(int session, Where where, int value) {
  return {session, Kind::set, where, 0, value};
}
Step add(int session, Where where, int value) {
  return {session, Kind::add, where, 0, value};
}
Step insert(int session, int id, int value) {
  return {session, Kind::insert, {}, id, value};
}
Step remove(int session, Where where) {
  return {session, Kind::remove, where, 0, 0};
}
Step commit(int session) {
  return {session, Kind::commit, {}, 0, 0};
}
Step rollback(int session) {
  return {session, Kind::rollback, {}, 0, 0};
}

/// Returns the value that the step at `index` read of a row, if it ran at all.
std::optional<int> read(const Run& run, std::size_t index, int id) {
  const auto row = run.steps[index].rows.find(id);
  return row == run.steps[index].rows.end() ? std::nullopt : std::optional{row->second};
}

std::vector<Scenario> write_scenarios() {
  return {
      {"G0: write cycles",
       {set(1, id(1), 11), set(2, id(1), 12), set(1, id(2), 21), commit(1), set(2, id(2), 22),
        commit(2)},
       [](const Run& run) {
         return run.table != Rows{{1, 11}, {2, 21}} && run.table != Rows{{1, 12}, {2, 22}};
       },
       false,
       false},
      {"G1a: aborted reads",
       {set(1, id(1), 101), select(2, everything()), rollback(1), select(2, everything()),
        commit(2)},
       [](const Run& run) { return read(run, 1, 1) == 101 || read(run, 3, 1) == 101; },
       false,
       false},
      {"G1b: intermediate reads",
       {set(1, id(1), 101), select(2, everything()), set(1, id(1), 11), commit(1),
        select(2, everything()), commit(2)},
       [](const Run& run) { return read(run, 1, 1) == 101 || read(run, 4, 1) == 101; },
       false,
       false},
      {"G1c: circular information flow",
       {set(1, id(1), 11), set(2, id(2), 22), select(1, id(2)), select(2, id(1)), commit(1),
        commit(2)},
       [](const Run& run) { return read(run, 2, 2) == 22 && read(run, 3, 1) == 11; },
       false,
       false},
      {"OTV: observed transaction vanishes",
       {set(1, id(1), 11), set(1, id(2), 19), set(2, id(1), 12), commit(1), select(3, id(1)),
        set(2, id(2), 18), select(3, id(2)), commit(2), select(3, id(2)), select(3, id(1)),
        commit(3)},
       // Changes of session 2 that session 3 has seen must not disappear.
       [](const Run& run) {
         return read(run, 4, 1) == 12 && (read(run, 6, 2) == 19 || read(run, 9, 1) == 11);
       },
       false,
       false},
      {"PMP: predicate-many-preceders, read",
       {select(1, value(30)), insert(2, 3, 30), commit(2), select(1, divides(3)), commit(1)},
       [](const Run& run) {
         return run.committed(1) && read(run, 0, 3) != 30 && read(run, 3, 3) == 30;
       },
       true,
       false},
      {"PMP: predicate-many-preceders, write",
       {add(1, everything(), 10), remove(2, value(20)), commit(1), select(2, value(20)), commit(2)},
       // The row that was to be deleted exists after the deletion.
       [](const Run& run) { return run.committed(2) && read(run, 3, 1) == 20; },
       true,
       false},
      {"P4: lost update",
       {select(1, id(1)), select(2, id(1)), set(1, id(1), 11), set(2, id(1), 11), commit(1),
        commit(2)},
       [](const Run& run) { return run.committed(1) && run.committed(2); },
       true,
       false},
      {"G-single: read skew",
       {select(1, id(1)), select(2, id(1)), select(2, id(2)), set(2, id(1), 12), set(2, id(2), 18),
        commit(2), select(1, id(2)), commit(1)},
       [](const Run& run) { return read(run, 0, 1) == 10 && read(run, 6, 2) == 18; },
       true,
       false},
      {"G-single: read skew, predicates",
       {select(1, divides(5)), set(2, value(10), 12), commit(2), select(1, divides(3)), commit(1)},
       [](const Run& run) { return read(run, 0, 1) == 10 && read(run, 3, 1) == 12; },
       true,
       false},
      {"G-single: read skew, write predicate",
       {select(1, id(1)), select(2, everything()), set(2, id(1), 12), set(2, id(2), 18), commit(2),
        remove(1, value(20)), commit(1)},
       [](const Run& run) { return run.committed(1) && run.committed(2); },
       true,
       false},
      {"G2-item: write skew",
       {select(1, everything()), select(2, everything()), set(1, id(1), 11), set(2, id(2), 21),
        commit(1), commit(2)},
       [](const Run& run) { return run.committed(1) && run.committed(2); },
       true,
       true},
      {"G2: anti-dependency cycles",
       {select(1, divides(3)), select(2, divides(3)), insert(1, 3, 30), insert(2, 4, 42), commit(1),
        commit(2)},
       [](const Run& run) { return run.committed(1) && run.committed(2); },
       true,
       true},
      {"G2: two edges and a reader",
       {select(1, everything()), add(2, id(2), 5), commit(2), select(3, everything()), commit(3),
        set(1, id(1), 0), commit(1)},
       // Session 3 has seen the changes of 2 and not those of 1, which 2 did not see.
       [](const Run& run) {
         return run.committed(1) && run.committed(2) && run.committed(3) && read(run, 0, 2) == 20 &&
                read(run, 3, 2) == 25 && read(run, 3, 1) == 10;
       },
       true,
       true},
  };
}

constexpr std::chrono::seconds kPatience{30};

/// Returns its outcome, or nothing if it waits.
std::optional<Outcome> finish_step(Sessions& sessions, int session) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto outcome = sessions.poll(session)) return outcome;
    if (sessions.waits(session)) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  throw std::runtime_error{"a step neither ends nor waits"};
}

/// Runs the steps. A waiting session does its later steps when it can; the others go on.
class Runner {
 public:
  Runner(const Scenario& scenario, Sessions& sessions) : scenario_(scenario), sessions_(sessions) {
    run_.steps.resize(scenario.steps.size());
  }

  Run operator()() {
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      sessions_in_use_[scenario_.steps[i].session].due.push_back(i);
      while (go_on()) {
      }
    }
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!is_over()) {
      if (!go_on()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error{"sessions wait that nobody holds up"};
    }
    for (const auto& [number, session] : sessions_in_use_) sessions_.give_up(number);
    run_.table = sessions_.table();
    return std::move(run_);
  }

 private:
  struct Session {
    std::deque<std::size_t> due;  // steps; the first one may be running
    bool is_running = false;
    bool has_failed = false;
  };

  [[nodiscard]] bool is_over() const {
    return std::ranges::all_of(sessions_in_use_,
                               [](const auto& entry) { return entry.second.due.empty(); });
  }

  /// Runs one step of one session; false when all wait or have nothing to do.
  bool go_on() {
    for (auto& [number, session] : sessions_in_use_) {
      if (session.due.empty()) continue;
      const std::size_t index = session.due.front();
      if (session.has_failed) {
        run_.steps[index].skipped = true;
        session.due.pop_front();
        return true;
      }
      if (!session.is_running) sessions_.begin(scenario_.steps[index]);
      session.is_running = true;
      std::optional<Outcome> outcome = finish_step(sessions_, number);
      if (!outcome) {
        run_.steps[index].blocked = true;
        continue;
      }
      take(number, session, index, std::move(*outcome));
      return true;
    }
    return false;
  }

  void take(int number, Session& session, std::size_t index, Outcome outcome) {
    session.is_running = false;
    session.due.pop_front();
    outcome.blocked = run_.steps[index].blocked;
    if (!outcome.error.empty()) {
      session.has_failed = true;
      sessions_.give_up(number);
    } else if (scenario_.steps[index].kind == Kind::commit) {
      run_.committed_sessions.insert(number);
    }
    run_.steps[index] = std::move(outcome);
  }

  const Scenario& scenario_;
  Sessions& sessions_;
  Run run_;
  std::map<int, Session> sessions_in_use_;
};

}  // namespace

std::string Where::sql() const {
  switch (kind) {
    case Kind::all:
      return "";
    case Kind::id_is:
      return fmt::format(" WHERE id = {}", number);
    case Kind::value_is:
      return fmt::format(" WHERE value = {}", number);
    case Kind::value_divides_by:
      break;
  }
  return fmt::format(" WHERE value % {} = 0", number);
}

std::string Step::sql() const {
  switch (kind) {
    case Kind::select:
      return "SELECT id, value FROM test" + where.sql();
    case Kind::set:
      return fmt::format("UPDATE test SET value = {}{}", value, where.sql());
    case Kind::add:
      return fmt::format("UPDATE test SET value = value + {}{}", value, where.sql());
    case Kind::insert:
      return fmt::format("INSERT INTO test VALUES ({}, {})", id, value);
    case Kind::remove:
      return "DELETE FROM test" + where.sql();
    case Kind::commit:
      return "COMMIT";
    case Kind::rollback:
      break;
  }
  return "ROLLBACK";
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kScenarios = write_scenarios();
  return kScenarios;
}

Run run(const Scenario& scenario, Sessions& sessions) {
  return Runner{scenario, sessions}();
}

}  // namespace swizzle::testing::hermitage
