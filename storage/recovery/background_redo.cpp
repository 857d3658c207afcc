#include "storage/recovery/background_redo.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "base/runtime/long_work.h"
#include "storage/recovery/analysis.h"

namespace swizzle {
namespace {

// Nanoseconds that the copy of a record takes, roughly: the task yields by the clock on a reactor.
constexpr std::size_t kWorkPerRecord = 1000;
// Memory that a record takes, for the size of a batch.
constexpr std::uint64_t kRecordBytes = 256;

std::uint32_t redo_tasks(std::uint32_t wanted) noexcept {
  constexpr std::uint32_t kMost = 8;
  if (wanted != 0) return wanted;
  // The others are for the sessions.
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

Result<> BackgroundRedo::finish() {
  return work([] { return true; });
}

Result<> BackgroundRedo::work(const RedoGoesOn& goes_on) {
  const std::lock_guard in_turn(turn_);
  if (parts_.pending.count() == 0) return {};
  complete_lists();
  const std::vector<PageId> pages = parts_.pending.in_log_order();
  for (std::span<const PageId> left{pages}; !left.empty() && goes_on();) {
    const auto batch = left.first(batch_of(left));
    collect(batch, goes_on);
    redo_batch(batch, goes_on);
    for (const PageId page : batch) parts_.pending.keep_records(page, nullptr);
    left = left.subspan(batch.size());
  }
  const std::lock_guard hold(mutex_);
  if (error_) return fail(std::move(*std::exchange(error_, std::nullopt)));
  return {};
}

/// One pass over the log that analysis did not read. Where that fails, pages follow their chains,
/// and those that need the missing part say so.
void BackgroundRedo::complete_lists() {
  PendingPageMap pages = parts_.pending.incomplete();
  if (pages.empty()) return;
  wal::Reader reader = parts_.log.reader();
  if (auto completed = complete_records(reader, parts_.listed_from, pages); !completed) {
    spdlog::warn("redo follows each page's chain: {}", completed.error().message());
    return;
  }
  parts_.pending.update(std::move(pages));
}

/// Returns how many of the pages make the next batch.
std::size_t BackgroundRedo::batch_of(std::span<const PageId> pages) const {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (const PageId page : pages) {
    const auto known = parts_.pending.find(page);
    if (known.page != nullptr) bytes += known.page->records.size() * kRecordBytes;
    if (count > 0 && bytes > options_.memory_bytes) break;
    ++count;
  }
  return count;
}

void BackgroundRedo::collect(std::span<const PageId> batch, const RedoGoesOn& goes_on) {
  std::vector<std::pair<Lsn, PageId>> wanted;
  for (const PageId page : batch) {
    const auto known = parts_.pending.find(page);
    if (known.page == nullptr || !known.page->is_complete) continue;
    for (const Lsn at : known.page->records) wanted.emplace_back(at, page);
  }
  std::ranges::sort(wanted);
  wal::Reader reader = parts_.log.reader();
  std::unordered_map<PageId, std::shared_ptr<PageRecords>> records;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    count_unended_work(kWorkPerRecord);
    if (!goes_on()) return;
    const auto [at, page] = wanted[i];
    const auto record = reader.read(at);
    // Each page that wants the record will say so.
    if (!record) return;
    std::shared_ptr<PageRecords>& kept = records[page];
    if (kept == nullptr) kept = std::make_shared<PageRecords>();
    kept->add(*record);
  }
  for (auto& [page, kept] : records) parts_.pending.keep_records(page, std::move(kept));
}

void BackgroundRedo::redo_batch(std::span<const PageId> batch, const RedoGoesOn& goes_on) {
  // A few pages are not worth the tasks.
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
                                std::uint32_t shares, const RedoGoesOn& goes_on) {
  for (std::size_t i = share; i < share_of.size() && goes_on(); i += shares) {
    // An unreadable page has been given up, or says at each read what it lacks.
    auto brought = parts_.pool.bring_in(share_of[i]);
    if (!brought && brought.error().state() != sqlstate::data_corrupted) {
      const std::lock_guard hold(mutex_);
      if (!error_) error_ = std::move(brought).error();
    }
    count_unended_work(kUnknownWork);
  }
}

}  // namespace swizzle
