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

/// One WITH query as a plan runs it, shared by the steps that read it.
struct Cte {
  std::string name;
  bool union_all = true;
  /// WITH queries of a recursive one's UNION itself that read slots outside.
  std::vector<std::shared_ptr<Cte>> correlated;

  // Planned once; each execution has a copy, which runs at most once.
  PlanPtr plan;
  std::vector<TypeId> column_types;
  /// Slots where its readers find a row. A recursive query has slots of its own for that, each
  /// once, because it copies the rows of both parts there, and a part may show a slot twice.
  std::vector<Slot> outputs;
  std::vector<Slot> first_outputs;
  PlanPtr recursive_plan;
  std::vector<Slot> recursive_outputs;
  RowStore rows{RowStore::Overflow::to_file_of_run};
  RowStore working{RowStore::Overflow::to_file_of_run};
  std::uint64_t filled_in_run = 0;

  /// For one run: shares the planned part, with a state of its own.
  void become_copy(const Cte& of, StepCopies& copies);

  /// Runs it, unless it has been in this run. A recursive one only begins: its rows come as its
  /// readers ask for them, because it may have no end.
  void fill(Execution& execution);
  /// Finds one more row of a recursive query and appends it to `rows`. False: there are no more.
  bool find_more(Execution& execution);
  /// A reader of a recursive query has ended; with the last one its steps are closed.
  void leave();
  void join() { ++readers_; }
  /// Forgets the rows, because a slot outside has changed: the query runs anew for the next reader.
  void forget();

 private:
  bool keep_if_new(Execution& execution, std::span<const Slot> from);
  void stop();

  enum class Stage : std::uint8_t { ended, first, recursive } stage_ = Stage::ended;
  int readers_ = 0;
  RowStore round_{RowStore::Overflow::to_file_of_run};  ///< what the present round has found
  KeyTable seen_;
};

}  // namespace swizzle::sql
