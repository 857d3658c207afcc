#pragma once

#include <utility>

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Lets a statement of our own name everything while it is bound.
class TrustedNames {
 public:
  TrustedNames(Session::State& session, bool trusted)
      : session_(session), before_(std::exchange(session.names.trusts_names, trusted)) {}
  TrustedNames(const TrustedNames&) = delete;
  TrustedNames& operator=(const TrustedNames&) = delete;
  ~TrustedNames() { session_.names.trusts_names = before_; }

 private:
  Session::State& session_;
  bool before_;
};

}  // namespace swizzle::sql
