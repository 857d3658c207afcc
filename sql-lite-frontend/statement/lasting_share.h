#pragma once

#include <cstddef>

#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Part of a session's account for memory that outlives its statements: prepared statements,
/// cursors, settings, channels. All of it together is limited to three quarters of the session's
/// limit: the rest stays for statements, so that such a session can still run some.
class LastingShare {
 public:
  LastingShare() = default;
  /// A copy charges nothing: the memory belongs to the original.
  LastingShare(const LastingShare& /*other*/) noexcept {}
  LastingShare& operator=(const LastingShare&) = delete;
  ~LastingShare() { lower(0); }

  /// Charges memory before it is allocated. Throws SqlError 53200.
  void set(MemoryAccount& account, std::size_t bytes);
  void lower(std::size_t bytes) noexcept {
    if (account_ == nullptr || bytes >= bytes_) return;
    account_->give_back(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  MemoryAccount* account_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace swizzle::sql
