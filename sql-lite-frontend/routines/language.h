#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/checked_pointers.h"

/// Interface that a routine's language implements. The code that runs routines (run.cpp) knows no
/// language: it calls code that the language has prepared.
namespace swizzle::sql {

/// Takes a row of a routine's result, in the types that the call says; false: no more are wanted.
using TakeRow = std::function<bool(std::span<const Value>)>;

/// A routine prepared for one kind of call by one user; it keeps the plans of its statements.
/// Belongs to the session.
class RoutineCode {
 public:
  RoutineCode() = default;
  RoutineCode(const RoutineCode&) = delete;
  RoutineCode& operator=(const RoutineCode&) = delete;
  virtual ~RoutineCode() = default;

  /// Runs it from its beginning to its end, or until `take` has enough. The values given to `take`
  /// live until it returns. May be entered again while it runs.
  virtual void run(StatementContext& session, std::span<const Value> arguments,
                   const TakeRow& take) = 0;
  /// False if a definition that the code was made with has changed since.
  [[nodiscard]] virtual bool is_current(StatementContext& /*session*/) { return true; }
};
using RoutineCodePtr = CheckedShared<RoutineCode>;

class RoutineLanguage {
 public:
  RoutineLanguage() = default;
  RoutineLanguage(const RoutineLanguage&) = delete;
  RoutineLanguage& operator=(const RoutineLanguage&) = delete;
  virtual ~RoutineLanguage() = default;

  /// CREATE FUNCTION, while check_function_bodies is on: throws errors of the body. Positions are
  /// those in the body.
  virtual void check(StatementContext& session, const CallablePtr& callable) const = 0;
  virtual RoutineCodePtr prepare(StatementContext& session, const RoutineCall& call) const = 0;
  /// Pre: it returns `trigger`.
  virtual TriggerCodePtr prepare_trigger(StatementContext& session, const CallablePtr& callable,
                                         const TablePtr& table) const = 0;
};

/// Adds a language of the embedding program, before the first session. The name and the language
/// outlive all sessions.
void add_language(std::string_view name, const RoutineLanguage& language);

/// 42704 for an unknown language, 0A000 for one that is not built in here.
const RoutineLanguage& require_language(std::string_view name);

/// Prepared code of the routines that a session has called.
class RoutineCodes {
 public:
  /// For the session's present user.
  RoutineCodePtr find(StatementContext& session, const RoutineCall& call);

 private:
  static constexpr std::size_t kMost = 512;
  /// Routine, user, argument types, column types with their modifiers, collation inside.
  using Key = std::tuple<Oid, Oid, std::vector<TypeId>, std::vector<TypeId>,
                         std::vector<std::int32_t>, Oid>;
  struct Known {
    RoutinePtr routine;  ///< in the version that the code is of
    RoutineCodePtr code;
  };
  std::map<Key, Known> codes_;
};

/// Sets up the session while a routine runs: its owner's rights if it says SECURITY DEFINER, its
/// settings, and the other names that its statements can use.
class RoutineFrame {
 public:
  RoutineFrame(StatementContext& session, const Routine& routine);
  RoutineFrame(const RoutineFrame&) = delete;
  RoutineFrame& operator=(const RoutineFrame&) = delete;
  ~RoutineFrame();

 private:
  void apply_settings(const Routine& routine);

  StatementContext& session_;
  Oid user_;
  bool has_settings_;
  SessionSettings::Mark mark_{};
  std::size_t own_settings_ = 0;
  int failures_ = std::uncaught_exceptions();  ///< that unwind the stack when the call begins
  std::uint64_t settings_version_ = 0;
  const TransitionTables* tables_before_;
  std::optional<ActingUser> acting_;
};

/// Returns the code of a session that has called a routine.
RoutineCodes& routine_codes_of(StatementContext& session);

/// Runs it as `call` says; without a caller's plan, as CALL does.
void run_routine(StatementContext& session, const RoutineCall& call,
                 std::span<const Value> arguments, const TakeRow& take);

}  // namespace swizzle::sql
