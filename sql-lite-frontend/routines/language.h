#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "sql-lite-frontend/bound/routine_call.h"
#include "sql-lite-frontend/routines/trigger_call.h"
#include "sql-lite-frontend/session/state/acting_user.h"

/// What a routine's language has to bring. Whoever runs routines (run.cpp) knows nothing of any
/// language: it calls code that the language has made ready.
namespace swizzle::sql {

/// Takes a row of a routine's result, in the types that the call says; false: no more are wanted.
using TakeRow = std::function<bool(std::span<const Value>)>;

/// A routine made ready for one kind of call by one user: what is planned for it is kept here. Of
/// the session.
class RoutineCode {
 public:
  RoutineCode() = default;
  RoutineCode(const RoutineCode&) = delete;
  RoutineCode& operator=(const RoutineCode&) = delete;
  virtual ~RoutineCode() = default;

  /// Runs it from its beginning to its end, or until `take` has enough. The values given to `take`
  /// live until it returns. May be entered again while it runs.
  virtual void run(Session::State& session, std::span<const Value> arguments,
                   const TakeRow& take) = 0;
  /// False if a definition that the code was made with has changed since.
  [[nodiscard]] virtual bool is_current(Session::State& /*session*/) { return true; }
};
using RoutineCodePtr = std::shared_ptr<RoutineCode>;

class RoutineLanguage {
 public:
  RoutineLanguage() = default;
  RoutineLanguage(const RoutineLanguage&) = delete;
  RoutineLanguage& operator=(const RoutineLanguage&) = delete;
  virtual ~RoutineLanguage() = default;

  /// CREATE FUNCTION, while check_function_bodies is on: throws what is wrong with the body. Its
  /// positions are those in the body.
  virtual void check(Session::State& session, const CallablePtr& callable) const = 0;
  virtual RoutineCodePtr prepare(Session::State& session, const RoutineCall& call) const = 0;
  /// Pre: it returns `trigger`.
  virtual TriggerCodePtr prepare_trigger(Session::State& session, const CallablePtr& callable,
                                         const TablePtr& table) const = 0;
};

/// One that whoever embeds the database brings, before there is any session. Both outlive all.
void add_language(std::string_view name, const RoutineLanguage& language);

/// 42704 for a language that nobody knows, 0A000 for one that is not here.
const RoutineLanguage& require_language(std::string_view name);

/// What the routines that a session has called are made ready with.
class RoutineCodes {
 public:
  /// For the session's present user.
  RoutineCodePtr find(Session::State& session, const RoutineCall& call);

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

/// What is the session's while a routine runs: its owner's rights where it says SECURITY DEFINER,
/// its settings, and what else its statements can name.
class RoutineFrame {
 public:
  RoutineFrame(Session::State& session, const Routine& routine);
  RoutineFrame(const RoutineFrame&) = delete;
  RoutineFrame& operator=(const RoutineFrame&) = delete;
  ~RoutineFrame();

 private:
  void apply_settings(const Routine& routine);

  Session::State& session_;
  Oid user_;
  bool has_settings_;
  SessionSettings::Mark mark_{};
  std::uint64_t settings_version_ = 0;
  const TransitionTables* tables_before_;
  std::optional<ActingUser> acting_;
};

/// Of a session that has called a routine.
RoutineCodes& routine_codes_of(Session::State& session);

/// Runs it as `call` says; without a caller's plan, as CALL does.
void run_routine(Session::State& session, const RoutineCall& call, std::span<const Value> arguments,
                 const TakeRow& take);

}  // namespace swizzle::sql
