#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/value_table.h"

namespace swizzle::sql {

/// State of one WITH query, shared by the plan nodes that read it.
struct Cte {
  std::string name;
  bool union_all = true;
  /// WITH queries inside a recursive query's UNION that read outer slots.
  std::vector<std::shared_ptr<Cte>> correlated;

  // Planned once; each execution runs its own copy, at most once.
  PlanPtr plan;
  std::vector<TypeId> column_types;
  /// Slots in which readers find the row. They are not the query's own, which one of the readers
  /// has for itself.
  std::vector<Slot> outputs;
  std::vector<Slot> first_outputs;
  PlanPtr recursive_plan;
  std::vector<Slot> recursive_outputs;
  RowStore rows{RowStore::Overflow::to_file_of_run};
  RowStore working{RowStore::Overflow::to_file_of_run};
  std::uint64_t filled_in_run = 0;

  /// Makes this a copy of `of` for one run: shares the plan, with separate state.
  void become_copy(const Cte& of, StepCopies& copies);

  /// Runs the query, unless it has run already. A recursive query only starts: its rows are
  /// computed as readers need them, because there may be infinitely many.
  void fill(Execution& execution);
  /// Computes one more row of a recursive query and appends it to `rows`. False at the end.
  bool find_more(Execution& execution);
  /// Called by each reader of a recursive query at its end. The last call closes the query's plan.
  void leave();
  void join() { ++readers_; }
  /// Removes the rows because an outer slot has changed: the next reader runs the query anew.
  void forget();

 private:
  void take_row(Execution& execution, std::span<const Slot> from);
  bool keep_if_new(Execution& execution, std::span<const Slot> from);
  void stop();

  enum class Stage : std::uint8_t { ended, first, recursive } stage_ = Stage::ended;
  int readers_ = 0;
  RowStore round_{RowStore::Overflow::to_file_of_run};  ///< rows of the current iteration
  KeyTable seen_;
};

}  // namespace swizzle::sql
