#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings/settings.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/statement/lasting_share.h"
#include "sql-lite-frontend/statement/statement_variables.h"

namespace swizzle::sql {

/// SET, SHOW and RESET, and the effects of settings on the session. The values themselves are the
/// session's `settings`.
class SessionVariables final : public StatementVariables {
 public:
  explicit SessionVariables(Session::State& session) : session_(session) {}
  SessionVariables(const SessionVariables&) = delete;
  SessionVariables& operator=(const SessionVariables&) = delete;

  void set(const ast::VariableSetStmt& statement, ResultSink& sink);
  void show(const ast::VariableShowStmt& statement, ResultSink& sink);
  void apply(std::string_view name, std::string_view value,
             SessionSettings::Lifetime lifetime) override;
  /// Restores the session's first value.
  void reset(std::string_view name);
  /// Returns the value as SHOW shows it: some settings reflect the state of the transaction or the
  /// session.
  [[nodiscard]] Result<std::string> shown_value(std::string_view name) const;
  /// Returns the canonical spelling of a value, for settings that have many. Pre: `name` in lower
  /// case.
  std::string canonical_value(std::string_view name, std::string_view value);
  /// Called after a setting may have changed: updates formats, search path, ParameterStatus.
  void changed(ResultSink* sink) override;
  /// Restores or keeps the transaction's own settings.
  void end_transaction(ResultSink* sink);
  void end_savepoint(ResultSink* sink);
  /// Names and values that the protocol reports.
  [[nodiscard]] const std::map<std::string, std::string>& reported() const noexcept {
    return reported_;
  }

  // Settings that outlive the session: stored_settings.cpp.
  void change_stored(std::vector<std::string>& list, const ast::VariableSetStmt& change) override;
  /// Returns the value of SET … TO, or nothing for DEFAULT and RESET.
  std::optional<std::string> stored_value(const ast::VariableSetStmt& change);
  void apply_stored();

 private:
  void set_several(const ast::VariableSetStmt& statement, SessionSettings::Lifetime lifetime,
                   ResultSink& sink);
  void reset_all();

  /// Charges memory before a value of so many bytes is set. Throws SqlError 53200.
  void make_room(std::size_t bytes);

  Session::State& session_;
  LastingShare share_;  ///< of the settings' memory
  /// True if a setting was SET or RESET in this transaction, so its end may change settings again.
  bool touched_ = false;
  std::map<std::string, std::string> reported_;
};

}  // namespace swizzle::sql
