#include "storage/recovery/background_redo.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>

#include "base/runtime/long_work.h"

namespace swizzle {
namespace {

std::uint32_t redo_tasks(std::uint32_t wanted) noexcept {
  constexpr std::uint32_t kMost = 8;
  if (wanted != 0) return wanted;
  // The other processors are left to the sessions.
  return std::clamp(static_cast<std::uint32_t>(std::thread::hardware_concurrency()) / 2, 1U, kMost);
}

}  // namespace

void BackgroundRedo::start() {
  if (parts_.pending.count() == 0) return;
  task_.start("redo", [this] {
    const auto worked = work([this] { return !task_.is_stopping(); });
    if (!worked)
      spdlog::warn("{} pages still lack changes: {}", parts_.pending.count(),
                   worked.error().message());
  });
}

Result<> BackgroundRedo::work(const RedoBatches::GoesOn& goes_on) {
  const std::lock_guard in_turn(turn_);
  if (parts_.pending.count() == 0) return {};
  RedoBatches batches(
      {parts_.pending, parts_.log, parts_.listed_from, options_.memory_bytes, parts_.pages});
  for (auto batch = batches.next(goes_on); !batch.empty(); batch = batches.next(goes_on))
    redo_batch(batch, goes_on);
  const std::lock_guard hold(mutex_);
  if (error_) return fail(std::move(*std::exchange(error_, std::nullopt)));
  return {};
}

void BackgroundRedo::redo_batch(std::span<const PageId> batch, const RedoBatches::GoesOn& goes_on) {
  // The tasks do not pay off for a few pages.
  constexpr std::size_t kWorthIt = 64;
  const std::uint32_t shares = batch.size() < kWorthIt ? 1 : redo_tasks(options_.tasks);
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::uint32_t i = 1; i < shares; ++i)
    tasks.push_back(Runtime::current().spawn(
        "redo", [=, this, &goes_on] { redo_share(batch, i, shares, goes_on); }));
  redo_share(batch, 0, shares, goes_on);
  for (const auto& task : tasks) task->join();
}

void BackgroundRedo::redo_share(std::span<const PageId> share_of, std::uint32_t share,
                                std::uint32_t shares, const RedoBatches::GoesOn& goes_on) {
  for (std::size_t i = share; i < share_of.size() && goes_on(); i += shares) {
    // A page that cannot be redone has been given up, or each read of it returns the error again.
    auto brought = parts_.pool.bring_in(share_of[i]);
    if (!brought && brought.error().state() != sqlstate::data_corrupted) {
      const std::lock_guard hold(mutex_);
      if (!error_) error_ = std::move(brought).error();
    }
    unending_yield_point(kUnknownWork);
  }
}

}  // namespace swizzle
