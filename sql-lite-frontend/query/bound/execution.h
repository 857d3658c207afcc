#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle {
class Transaction;
}

namespace swizzle::sql {

/// Place where a running statement keeps the value of one column, aggregate or computed expression.
/// The binder numbers them: every column of every table in a statement, subqueries included, has
/// its own. Operators fill slots, so that rows are not copied between operators.
using Slot = std::uint32_t;

class NameSource;
class StatementServices;
class RowStore;
class TemporaryFiles;
class WriteOperator;
struct Cte;

/// Memory account of a session, and the limit for one step of its statements.
struct WorkMemory : MemoryAccount {
  using MemoryAccount::MemoryAccount;

  /// work_mem: the limit of one step before it spills rows into `files`.
  std::size_t work_bytes = SIZE_MAX;
  CheckedPointer<TemporaryFiles> files;

  /// Hashing steps may use more, as with PostgreSQL's default of hash_mem_multiplier.
  [[nodiscard]] std::size_t hash_bytes() const noexcept {
    return work_bytes > SIZE_MAX / 2 ? work_bytes : work_bytes * 2;
  }
};

/// Memory that a step keeps for its next run; it releases what exceeds this.
inline constexpr std::size_t kKeptByStep = std::size_t{16} << 10U;

template <class T>
void clear_for_next_run(CountedVector<T>& list) noexcept {
  list.clear();
  if (list.capacity() * sizeof(T) > kKeptByStep) release(list);
}
inline void clear_for_next_run(Arena& arena) noexcept {
  if (arena.reserved_bytes() > kKeptByStep) return arena.release();
  arena.reset();
}

/// State that an expression keeps from one evaluation to the next. It belongs to the run, because
/// expressions are shared by all runs of their plan.
struct ExpressionState {
  ExpressionState() = default;
  ExpressionState(const ExpressionState&) = delete;
  ExpressionState& operator=(const ExpressionState&) = delete;
  virtual ~ExpressionState() = default;
  /// Called at the end of a run: the step frees memory that exceeds kKeptByStep.
  virtual void end_run() noexcept {}
};
/// Place of the state in an execution.
using StatePlace = std::uint32_t;

/// One run of one plan. Reused from run to run, so that a warm one allocates nothing.
///
/// Memory: `row_arena` holds the results of expressions. A loop that pulls rows marks the arena
/// before the loop and rewinds it after each row, having copied the values that it keeps. Calling
/// next() on an operator invalidates the values of its previous row.
struct Execution {
  Execution(StatementServices& services_of_session, SessionContext& context);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();

  std::vector<Value> slots;
  std::span<const Value> parameters;
  Arena row_arena;
  StatementServices& services;
  CheckedPointer<Transaction> transaction;
  WorkMemory* memory;  ///< the session's
  FunctionContext functions;
  /// Differs for every run; values that are kept "once per run" are tagged with it.
  std::uint64_t run = 0;

  /// Called for every row that an operator visits, and for every call of a routine: yields and
  /// checks for cancel every few hundred times. The count is the thread's: many statements of a few
  /// rows rest as often as one of many. Throws SqlError 57014.
  void tick() {
    if (--rows_until_check == 0) [[unlikely]]
      check_interrupts();
  }

  static constexpr std::uint32_t kRowsPerCheck = 256;

  /// Calls clear() on state that was kept until the run's end, and frees large memory. A plan's
  /// steps live as long as its execution.
  void release_kept();
  std::vector<RowStore*> kept_for_run;
  /// Steps with written rows whose constraints must be checked once all have written.
  std::vector<WriteOperator*> unchecked;

  /// Returns the state that an expression keeps for this run, made at first use. `place` is the
  /// number that the binder gave the expression.
  template <class State>
  State& state_of(StatePlace place) {
    if (place >= states_.size()) [[unlikely]]
      states_.resize(place + 1);
    std::unique_ptr<ExpressionState>& state = states_[place];
    if (!state) [[unlikely]]
      state = std::make_unique<State>();
    return static_cast<State&>(*state);
  }

  /// Source of names for copies of steps. Null: the plan's own steps run, because no other run
  /// shares them.
  CheckedPointer<NameSource> names;
  /// The run's own WITH queries.
  struct CteOfRun {
    const Cte* planned;
    std::shared_ptr<Cte> own;
  };
  std::vector<CteOfRun> ctes;

 private:
  void check_interrupts();
  static inline constinit thread_local std::uint32_t rows_until_check = kRowsPerCheck;

  std::vector<std::unique_ptr<ExpressionState>> states_;
};

/// Rewinds the row arena when a scope ends.
class RowScope {
 public:
  explicit RowScope(Execution& execution) : arena_(execution.row_arena), mark_(arena_.mark()) {}
  RowScope(const RowScope&) = delete;
  RowScope& operator=(const RowScope&) = delete;
  ~RowScope() { arena_.rewind(mark_); }
  void rewind() { arena_.rewind(mark_); }

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace swizzle::sql
