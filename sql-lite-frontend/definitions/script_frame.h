#pragma once

#include <cstdint>
#include <string>

#include "sql-lite-frontend/statement/rights/acting_user.h"

namespace swizzle::sql {

/// While this lives, statements of a definition run: as `user` and along `path`, which is written
/// as the setting search_path. Afterwards both are as before.
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
