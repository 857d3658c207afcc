#pragma once

#include <utility>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// While it lives, bound statements may name any object: for statements of the server's own.
class TrustedNames {
 public:
  TrustedNames(StatementContext& session, bool trusted)
      : session_(session), before_(std::exchange(session.names.trusts_names, trusted)) {}
  TrustedNames(const TrustedNames&) = delete;
  TrustedNames& operator=(const TrustedNames&) = delete;
  ~TrustedNames() { session_.names.trusts_names = before_; }

 private:
  StatementContext& session_;
  bool before_;
};

}  // namespace swizzle::sql
