#pragma once

#include <cstdint>
#include <string>

#include "sql-lite-frontend/statement/rights/acting_user.h"

namespace swizzle::sql {

/// Scope in which the statements of a definition's script run as `user` and with the search_path
/// `path`. Restores both at its end.
class ScriptFrame {
 public:
  ScriptFrame(StatementContext& session, Oid user, const std::string& path);
  ScriptFrame(const ScriptFrame&) = delete;
  ScriptFrame& operator=(const ScriptFrame&) = delete;
  ~ScriptFrame() { restore(); }

 private:
  void restore();

  StatementContext& session_;
  ActingUser acting_;
  SessionSettings::Mark mark_;
  std::uint64_t settings_version_;
};

}  // namespace swizzle::sql
