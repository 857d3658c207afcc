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

/// Interface of procedural languages. The code that runs routines (run.cpp) depends on no language:
/// it calls the code object that the language has prepared.
namespace swizzle::sql {

/// Takes a row of a routine's result, in the types of the call. Returns false if no more are
/// needed.
using TakeRow = std::function<bool(std::span<const Value>)>;

/// A routine prepared for one kind of call by one user; caches the plans of its statements. Belongs
/// to the session.
class RoutineCode {
 public:
  RoutineCode() = default;
  RoutineCode(const RoutineCode&) = delete;
  RoutineCode& operator=(const RoutineCode&) = delete;
  virtual ~RoutineCode() = default;

  /// Runs the routine to its end, or until `take` returns false. Values passed to `take` are valid
  /// during that call. Reentrant.
  virtual void run(StatementContext& session, std::span<const Value> arguments,
                   const TakeRow& take) = 0;
  /// Returns false if a definition that the code depends on has changed.
  [[nodiscard]] virtual bool is_current(StatementContext& /*session*/) { return true; }
};
using RoutineCodePtr = CheckedShared<RoutineCode>;

class RoutineLanguage {
 public:
  RoutineLanguage() = default;
  RoutineLanguage(const RoutineLanguage&) = delete;
  RoutineLanguage& operator=(const RoutineLanguage&) = delete;
  virtual ~RoutineLanguage() = default;

  /// Checks a body for CREATE FUNCTION with check_function_bodies on: throws its errors, with
  /// positions in the body.
  virtual void check(StatementContext& session, const CallablePtr& callable) const = 0;
  virtual RoutineCodePtr prepare(StatementContext& session, const RoutineCall& call) const = 0;
  /// Pre: the routine returns `trigger`.
  virtual TriggerCodePtr prepare_trigger(StatementContext& session, const CallablePtr& callable,
                                         const TablePtr& table) const = 0;
  /// Returns null if the language has no event triggers. Pre: the routine returns `event_trigger`.
  virtual EventTriggerCodePtr prepare_event_trigger(StatementContext& /*session*/,
                                                    const CallablePtr& /*callable*/) const {
    return nullptr;
  }
};

/// Adds a language of the embedding program. Must be called before the first session starts; the
/// name and the language outlive all sessions.
void add_language(std::string_view name, const RoutineLanguage& language);

/// Throws 42704 for an unknown language, 0A000 for a known one that is not included.
const RoutineLanguage& require_language(std::string_view name);

/// Prepared code of the routines that a session has called.
class RoutineCodes {
 public:
  /// Returns the code for the session's current user; prepares it if necessary.
  RoutineCodePtr find(StatementContext& session, const RoutineCall& call);

 private:
  static constexpr std::size_t kMost = 512;
  /// Routine, user, argument types, column types with their modifiers, input collation.
  using Key = std::tuple<Oid, Oid, std::vector<TypeId>, std::vector<TypeId>,
                         std::vector<std::int32_t>, Oid>;
  struct Known {
    RoutinePtr routine;  ///< version for which the code was made
    RoutineCodePtr code;
  };
  std::map<Key, Known> codes_;
};

/// Scope in which a routine runs: its owner's rights if it is SECURITY DEFINER, its settings, and
/// the names that its statements can use.
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
  int failures_ =
      std::uncaught_exceptions();  ///< exceptions that unwind the stack when the call begins
  std::uint64_t settings_version_ = 0;
  const TransitionTables* tables_before_;
  std::optional<ActingUser> acting_;
};

/// Returns the code of a session that has called a routine.
RoutineCodes& routine_codes_of(StatementContext& session);

/// Runs the routine; without a caller's plan, as CALL does.
void run_routine(StatementContext& session, const RoutineCall& call,
                 std::span<const Value> arguments, const TakeRow& take);

}  // namespace swizzle::sql
