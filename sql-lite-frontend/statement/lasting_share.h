#pragma once

#include <cstddef>

#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// The part of a session's account of what outlives its statement: prepared statements, cursors,
/// settings, channels. Together with all else it may take three quarters of the session's limit:
/// the rest stays for statements, so that a session that keeps all that it may can still run some.
class LastingShare {
 public:
  LastingShare() = default;
  /// A copy charges nothing: the memory belongs to the original.
  LastingShare(const LastingShare& /*other*/) noexcept {}
  LastingShare& operator=(const LastingShare&) = delete;
  ~LastingShare() { lower(0); }

  /// Before the memory is there. Throws SqlError 53200.
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
