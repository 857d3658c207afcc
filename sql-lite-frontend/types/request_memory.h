#pragma once

#include <cstddef>

#include "base/result.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Memory that a request's texts take before its statement runs, charged to its session.
class RequestMemory {
 public:
  explicit RequestMemory(MemoryAccount& account) noexcept : account_(account) {}
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;
  ~RequestMemory() { give_back(taken_); }

  /// 53200 if the limit of the session or the server would be exceeded.
  Result<> take(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept {
    account_.give_back(bytes);
    taken_ -= bytes;
  }
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }

 private:
  MemoryAccount& account_;
  std::size_t taken_ = 0;
};

}  // namespace swizzle::sql
