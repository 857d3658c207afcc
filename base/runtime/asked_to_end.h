#pragma once

#include "base/runtime/runtime.h"

namespace swizzle {

/// Returns true if the overseer of the calling thread or fiber wants its work to end. For waits
/// that report an outcome instead of throwing; the request stays set for the overseer's own check.
[[nodiscard]] bool is_asked_to_end() noexcept;

/// Parks the caller until it is woken. If it has an overseer, the park also ends after a moment: a
/// request to end is not signalled, so callers ask is_asked_to_end() after each park.
void park_overseen() noexcept;

/// While it lives, the caller has no overseer: a rollback cannot be cancelled.
class UnendedScope {
 public:
  UnendedScope() noexcept;
  UnendedScope(const UnendedScope&) = delete;
  UnendedScope& operator=(const UnendedScope&) = delete;
  ~UnendedScope() { parker_.overseer = previous_; }

 private:
  Parker& parker_;
  Overseer* previous_;
};

}  // namespace swizzle
