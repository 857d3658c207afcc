#include "wal/internal/rollback_room.h"

#include "base/runtime/asked_to_end.h"
#include "base/runtime/latch_count.h"

namespace swizzle::wal {

void RollbackRoom::start_with(std::uint64_t kept) noexcept {
  kept_ = kept;
  owed_ = kept;
  owed_from_before_ = kept;
  is_recovering_ = true;
}

void RollbackRoom::recovered() noexcept {
  is_recovering_ = false;
  release(owed_from_before_.exchange(0));
  hooks_.want_files();
}

bool RollbackRoom::is_covered() const noexcept {
  return is_recovering_.load(std::memory_order_relaxed) ||
         owed_.load(std::memory_order_seq_cst) <= kept_.load(std::memory_order_seq_cst);
}

Result<> RollbackRoom::owe(std::uint64_t bytes) {
  const std::uint64_t owed = owed_.fetch_add(bytes, std::memory_order_seq_cst) + bytes;
  // Requests the next file before a transaction has to wait for it.
  if (owed > kept_.load(std::memory_order_relaxed) / 4 * 3) hooks_.want_files();
  if (is_covered()) [[likely]]
    return {};
  if (lacks_files_.load(std::memory_order_relaxed) && hooks_.is_held()) return {};
  assert_no_latch_held();
  Waiter waiter{&Runtime::current().parker(), false, {}};
  {
    const std::lock_guard guard{mutex_};
    waiters_.push_back(&waiter);
    // A file may have come before the waiter was registered.
    if (is_covered()) answer_all(nullptr);
  }
  hooks_.want_files();
  for (;;) {
    const bool ends = is_asked_to_end();
    {
      const std::lock_guard guard{mutex_};
      if (waiter.is_answered) break;
      if (ends) {
        std::erase(waiters_, &waiter);
        waiter.why.emplace(sqlstate::query_canceled, "canceling statement due to user request");
        break;
      }
    }
    park_overseen();
  }
  if (!waiter.why) return {};
  release(bytes);
  return fail(std::move(*waiter.why));
}

void RollbackRoom::release(std::uint64_t bytes) noexcept {
  owed_.fetch_sub(bytes, std::memory_order_acq_rel);
}

void RollbackRoom::set_kept(std::uint64_t bytes) noexcept {
  const std::lock_guard guard{mutex_};
  kept_.store(bytes, std::memory_order_seq_cst);
  lacks_files_.store(false, std::memory_order_relaxed);
  if (is_covered()) answer_all(nullptr);
}

void RollbackRoom::answer(const Error& why) noexcept {
  lacks_files_.store(true, std::memory_order_relaxed);
  // A waiter has registered its debt before, so the checks below include it.
  const std::lock_guard guard{mutex_};
  answer_all(is_covered() || hooks_.is_held() ? nullptr : &why);
}

void RollbackRoom::answer_all(const Error* why) noexcept {
  for (Waiter* const waiter : waiters_) {
    waiter->is_answered = true;
    if (why != nullptr) {
      waiter->why.emplace(why->state(), why->message());
      waiter->why = std::move(*waiter->why).with_detail(why->detail()).with_hint(why->hint());
    }
    // Under the mutex: the owner cannot read the answer and destroy the waiter before.
    waiter->parker->unpark();
  }
  waiters_.clear();
}

}  // namespace swizzle::wal
