#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle {
class Transaction;
}

namespace swizzle::sql {

/// Where a running statement keeps the value of one column, aggregate or computed expression. The
/// binder hands out the numbers: every column of every table in a statement, subqueries included,
/// has its own, so operators fill slots and nobody copies rows between them.
using Slot = std::uint32_t;

/// One run of one plan. Reused from run to run, so that a warm one allocates nothing.
///
/// Memory: `row_arena` takes what expressions make. Whoever pulls rows in a loop marks it before
/// the loop and rewinds after each row, having copied what it keeps; calling next() on an operator
/// forgets what its previous row referred to.
struct Execution {
  Execution(Session::State& session_state, SessionContext& context)
      : session(session_state), functions{row_arena, context, {}} {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  std::vector<Value> slots;
  std::span<const Value> parameters;
  Arena row_arena;
  Session::State& session;
  Transaction* transaction = nullptr;
  FunctionContext functions;
  /// Differs for every run: what a plan caches "once per run" is tagged with it.
  std::uint64_t run = 0;
  std::uint32_t rows_until_check = kRowsPerCheck;

  /// Called for every row that an operator looks at: lets others run and notices cancellation
  /// every few hundred rows. Throws SqlError 57014.
  void tick() {
    if (--rows_until_check == 0) [[unlikely]]
      check_interrupts();
  }

  static constexpr std::uint32_t kRowsPerCheck = 256;

 private:
  void check_interrupts();
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
