#include "sql-lite-frontend/types/memory_account.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/invariant.h"
#include "base/memory/huge_pages.h"
#include "base/runtime/helper_threads.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

bool MemoryTotal::take(std::size_t bytes) noexcept {
  const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  const std::size_t limit = limit_bytes();
  if (before <= limit && bytes <= limit - before) return true;
  give_back(bytes);
  return false;
}

namespace {

constexpr std::size_t in_kilobytes(std::size_t bytes) noexcept {
  return bytes / 1024;
}

}  // namespace

MemoryAccount::~MemoryAccount() {
  // A wrong sum is a bug for the tests to find, not a reason to end the server.
  INVARIANT_SLOW(room_ == granted_);
  if (total_ != nullptr) total_->give_back(granted_ - kFreeBytes);
}

void MemoryAccount::ask_for(std::size_t bytes) {
  const std::size_t used = used_bytes();
  if (used > limit_ || bytes > limit_ - used) {
    throw sql_error(sqlstate::out_of_memory, "out of memory")
        .with_detail(
            fmt::format("The session's statements keep {} kB, {} kB more are asked for, and "
                        "session_memory_limit allows {} kB.",
                        in_kilobytes(used), in_kilobytes(bytes + 1023), in_kilobytes(limit_)))
        .with_hint("A superuser may raise session_memory_limit.");
  }
  const std::size_t wanted = bytes - room_;
  // The grant grows with the account, so that a growing account rarely touches the shared total.
  const std::size_t grant = (std::max(wanted, granted_ / 8) + kGrant - 1) / kGrant * kGrant;
  if (total_ == nullptr || total_->take(grant)) {
    granted_ += grant;
    room_ += grant;
    return;
  }
  if (!total_->take(wanted)) {
    throw sql_error(sqlstate::out_of_memory, "out of memory")
        .with_detail(
            fmt::format("The statements of all sessions keep {} kB, {} kB more are asked for, and "
                        "server_memory_limit allows {} kB.",
                        in_kilobytes(total_->used_bytes()), in_kilobytes(bytes + 1023),
                        in_kilobytes(total_->limit_bytes())))
        .with_hint("Lower work_mem or session_memory_limit, or raise server_memory_limit.");
  }
  granted_ += wanted;
  room_ += wanted;
}

void MemoryAccount::return_grants() noexcept {
  // Keep some room, so that taking and returning the same amount again and again does not touch the
  // total.
  const std::size_t used = used_bytes();
  if (room_ <= used / 4 + kMostRoom) return;
  const std::size_t kept = std::max(kFreeBytes, used + used / 8 + kGrant);
  const std::size_t returned = granted_ - kept;
  granted_ -= returned;
  room_ -= returned;
  if (total_ != nullptr) total_->give_back(returned);
}

namespace {

/// Populates the whole pages of the allocation. Works in pieces, because other threads that need
/// memory of the system may have to wait for each call. If the system does not support it, the
/// first write to each page populates it.
void touch(std::byte* memory, std::size_t bytes) noexcept {
  constexpr std::size_t kPiece = std::size_t{2} << 20U;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (at + page - 1) & ~(page - 1);
  const std::uintptr_t end = (at + bytes) & ~(page - 1);
  for (std::uintptr_t from = begin; from < end; from += kPiece) {
    const std::size_t piece = std::min<std::size_t>(kPiece, end - from);
    if (::madvise(reinterpret_cast<void*>(from), piece, MADV_POPULATE_WRITE) != 0) return;
  }
}

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using LongMemory = std::unique_ptr<std::byte, FreeMemory>;

}  // namespace

void touch_aside(std::byte* memory, std::size_t bytes) {
  prefer_huge_pages(memory, bytes);
  Runtime::current().run_aside([&] { touch(memory, bytes); });
}

void* allocate_long(std::size_t bytes) {
  LongMemory memory{static_cast<std::byte*>(std::malloc(bytes))};
  if (!memory) throw std::bad_alloc{};
  touch_aside(memory.get(), bytes);
  return memory.release();
}

void free_long(void* memory) noexcept {
  HelperThreads::of_the_process().destroy(LongMemory{static_cast<std::byte*>(memory)});
}

}  // namespace swizzle::sql
