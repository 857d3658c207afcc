#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// The deferred checks of a transaction. Those that have passed stay: a ROLLBACK TO an earlier
/// point may undo the change that let them pass.
class DeferredChecks {
 public:
  void add(WorkMemory& memory, const DeferredCheck& check);
  void clear() noexcept;

  struct Mark {
    RowEvents::Mark events;
    std::size_t passes = 0;
  };
  [[nodiscard]] Mark mark() const noexcept { return {events_.mark(), passes_.size()}; }
  void roll_back_to(const Mark& mark) noexcept;

  /// Calls `check` for those that have not passed: of the named constraints, or, if there are none,
  /// of all. They count as passed when it has returned for each. False: there are none.
  bool run(std::span<const Oid> constraints,
           const std::function<void(const DeferredCheck&)>& check);
  [[nodiscard]] bool empty() const noexcept { return events_.mark().size == 0; }
  /// True if a check of the relation has not been made yet.
  [[nodiscard]] bool awaits(Oid relation) const;

 private:
  /// Common part of checks: most are of a few constraints.
  struct About {
    DeferredCheck::Kind kind;
    Oid constraint;
    Oid relation;
    friend auto operator<=>(const About&, const About&) = default;
  };
  /// The checks before `end` of the named constraints, or of all.
  struct Pass {
    RowEvents::Mark end;
    std::vector<Oid> constraints;
  };
  /// All checks before it have passed.
  [[nodiscard]] RowEvents::Mark begin_of_rest() const noexcept;
  [[nodiscard]] bool has_passed(std::uint64_t number, Oid constraint) const noexcept;

  std::map<About, std::int64_t> numbers_;
  std::vector<About> abouts_;
  RowEvents events_;
  std::vector<Pass> passes_;
};

}  // namespace swizzle::sql
