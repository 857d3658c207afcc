#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/engine.h"

namespace swizzle::testing::hermitage {

/// Martin Kleppmann's Hermitage (ten anomalies of isolation, some in several forms) as steps of
/// sessions on one table of two numbers, test(id, value) = (1, 10), (2, 20). The steps can be run
/// by the engine, or by a server.
struct Where {
  enum class Kind : std::uint8_t { all, id_is, value_is, value_divides_by } kind = Kind::all;
  int number = 0;

  [[nodiscard]] bool holds(int id, int value) const noexcept {
    switch (kind) {
      case Kind::all:
        return true;
      case Kind::id_is:
        return id == number;
      case Kind::value_is:
        return value == number;
      case Kind::value_divides_by:
        break;
    }
    return value % number == 0;
  }
  [[nodiscard]] std::string sql() const;
};
inline Where id(int number) {
  return {Where::Kind::id_is, number};
}
inline Where value(int number) {
  return {Where::Kind::value_is, number};
}
inline Where divides(int by) {
  return {Where::Kind::value_divides_by, by};
}
inline Where everything() {
  return {};
}

struct Step {
  int session = 1;
  enum class Kind : std::uint8_t { select, set, add, insert, remove, commit, rollback } kind{};
  Where where;
  int id = 0;
  int value = 0;

  /// Returns the step as SQL, for a server.
  [[nodiscard]] std::string sql() const;
};

using Rows = std::map<int, int>;
struct Outcome {
  Rows rows;             ///< of a select
  std::string error;     ///< an SQLSTATE; the session's later steps are not run then
  bool skipped = false;  ///< the session had failed before
  bool blocked = false;  ///< it waited for another session
};

/// Result of a scenario: an outcome per step, and the table at the end.
struct Run {
  std::vector<Outcome> steps;
  Rows table;
  /// True for sessions whose commit succeeded.
  [[nodiscard]] bool committed(int session) const { return committed_sessions.contains(session); }
  std::set<int> committed_sessions;
};

struct Scenario {
  const char* name;
  std::vector<Step> steps;
  /// Returns true if the anomaly showed.
  std::function<bool(const Run&)> happened;
  /// At READ COMMITTED and REPEATABLE READ, as PostgreSQL; never at SERIALIZABLE.
  bool at_read_committed;
  bool at_repeatable_read;

  [[nodiscard]] bool is_expected(Isolation isolation) const noexcept {
    return (isolation == Isolation::read_committed && at_read_committed) ||
           (isolation == Isolation::repeatable_read && at_repeatable_read);
  }
};
const std::vector<Scenario>& scenarios();

/// Sessions of some system, each able to begin a step and to report its progress.
class Sessions {
 public:
  Sessions() = default;
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  virtual ~Sessions() = default;
  virtual void begin(const Step& step) = 0;
  /// Nothing while the step runs.
  virtual std::optional<Outcome> poll(int session) = 0;
  /// True if the running step waits for a lock.
  virtual bool waits(int session) = 0;
  /// Rolls the session's transaction back. Pre: nothing runs.
  virtual void give_up(int session) = 0;
  virtual Rows table() = 0;
};

/// Runs the steps in their order, but delays those of a waiting session until it can go on.
Run run(const Scenario& scenario, Sessions& sessions);

}  // namespace swizzle::testing::hermitage
