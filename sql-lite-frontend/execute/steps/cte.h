#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/bound/execution.h"
#include "sql-lite-frontend/bound/output_target.h"
#include "sql-lite-frontend/execute/rows/row_store.h"
#include "sql-lite-frontend/execute/rows/value_table.h"
#include "sql-lite-frontend/execute/steps/step_copies.h"

namespace swizzle::sql {

// Bound form of the query; only the binder and the planner look inside.
struct Query;
struct WriteStatement;

/// One WITH query, shared by its references.
struct Cte {
  Cte();
  Cte(const Cte&) = delete;
  Cte& operator=(const Cte&) = delete;
  ~Cte();

  std::string name;
  std::vector<OutputTarget> columns;  ///< names and types as the references see them
  std::unique_ptr<Query> query;       ///< of a recursive one, the first part
  std::unique_ptr<Query> recursive;
  bool union_all = true;
  std::unique_ptr<WriteStatement> write;
  bool bound = false;
  bool in_recursive_term = false;
  int recursive_references = 0;
  std::vector<Slot> outer_slots;
  /// Slot that stands for a recursive one's working table. A reader of the working table depends on
  /// this slot, so that no step above it keeps rows from one round to the next.
  Slot round_slot = 0;
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
