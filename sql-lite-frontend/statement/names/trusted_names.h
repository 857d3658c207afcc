#pragma once

#include <utility>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Lets a statement of our own name everything while it is bound.
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
