#pragma once

#include <utility>

#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {

/// Carries the error of a request of the worker's session to its caller, with all fields.
struct RequestFailed {
  Diagnostic error;
};

/// Throws RequestFailed for an error.
inline void require_done(Outcome outcome) {
  if (!outcome) throw RequestFailed{std::move(outcome.error())};
}

}  // namespace swizzle::sql
