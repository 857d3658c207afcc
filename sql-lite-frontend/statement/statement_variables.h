#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/result_sink.h"

namespace swizzle::sql {

/// Changes of the session's settings by statements, and the version that plans and found names are
/// valid under. The session implements it (SessionVariables).
class StatementVariables {
 public:
  StatementVariables() = default;
  StatementVariables(const StatementVariables&) = delete;
  StatementVariables& operator=(const StatementVariables&) = delete;

  virtual void apply(std::string_view name, std::string_view value,
                     SessionSettings::Lifetime lifetime) = 0;
  /// Called after a setting may have changed: updates formats, search path, ParameterStatus.
  virtual void changed(ResultSink* sink) = 0;
  /// Changes a list of settings that a role, a database or a routine keeps.
  virtual void change_stored(std::vector<std::string>& list,
                             const ast::VariableSetStmt& change) = 0;

  /// Version of the settings: plans and names found under another one may be invalid.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  /// Invalidates plans for a reason that is not a setting but acts like one.
  void invalidate() noexcept { ++version_; }
  /// Begins a routine's own settings; plans that are made under them are used nowhere else.
  void begin_inner() noexcept {
    version_ = next_inner_version_;
    next_inner_version_ += 1U << 20U;
  }
  /// Returns to that version, whose settings are restored, and so to the plans made under it.
  void end_inner(std::uint64_t version) noexcept { version_ = version; }

 protected:
  ~StatementVariables() = default;

 private:
  std::uint64_t version_ = 1;
  /// Next version for settings that hold while a routine runs; no other version is so high.
  std::uint64_t next_inner_version_ = 1ULL << 63U;
};

}  // namespace swizzle::sql
