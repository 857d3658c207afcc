#include "storage/recovery/redo_batches.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/runtime/long_work.h"
#include "storage/recovery/analysis.h"

namespace swizzle {
namespace {

// Approximate nanoseconds that the copy of a record takes: on a reactor the task yields by the
// clock.
constexpr std::size_t kWorkPerRecord = 1000;
// Approximate memory for a record, from which the size of a batch follows.
constexpr std::uint64_t kRecordBytes = 256;

}  // namespace

RedoBatches::RedoBatches(const Parts& parts) : parts_(parts) {
  if (parts_.pages == Pages::all) complete_lists();
  pages_ = parts_.pending.in_log_order();
  if (parts_.pages == Pages::listed) {
    std::erase_if(pages_, [this](PageId page) {
      const auto known = parts_.pending.find(page);
      return known.page == nullptr || !known.page->is_complete;
    });
  }
  left_ = pages_;
}

std::span<const PageId> RedoBatches::next(const GoesOn& goes_on) {
  forget_batch();
  if (left_.empty() || !goes_on()) return {};
  batch_ = left_.first(size_of_next());
  left_ = left_.subspan(batch_.size());
  collect(goes_on);
  return batch_;
}

/// Completes the pages' lists of records. If that fails, redo follows each page's chain, and the
/// read of a page that needs the missing part fails.
void RedoBatches::complete_lists() {
  PendingPageMap pages = parts_.pending.incomplete();
  if (pages.empty()) return;
  wal::Reader reader = parts_.log.reader();
  if (auto completed = complete_records(reader, parts_.listed_from, pages); !completed) {
    spdlog::warn("redo follows each page's chain: {}", completed.error().message());
    return;
  }
  parts_.pending.update(std::move(pages));
}

std::size_t RedoBatches::size_of_next() const {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (const PageId page : left_) {
    const auto known = parts_.pending.find(page);
    if (known.page != nullptr) bytes += known.page->records.size() * kRecordBytes;
    if (count > 0 && bytes > parts_.memory_bytes) break;
    ++count;
  }
  return count;
}

void RedoBatches::collect(const GoesOn& goes_on) {
  std::vector<std::pair<Lsn, PageId>> wanted;
  for (const PageId page : batch_) {
    const auto known = parts_.pending.find(page);
    if (known.page == nullptr || !known.page->is_complete) continue;
    for (const Lsn at : known.page->records) wanted.emplace_back(at, page);
  }
  std::ranges::sort(wanted);
  wal::Reader reader = parts_.log.reader();
  std::unordered_map<PageId, std::shared_ptr<PageRecords>> records;
  for (const auto& [at, page] : wanted) {
    unending_yield_point(kWorkPerRecord);
    if (!goes_on()) return;
    const auto record = reader.read(at);
    // The read of each page that needs the record will fail.
    if (!record) return;
    std::shared_ptr<PageRecords>& kept = records[page];
    if (kept == nullptr) kept = std::make_shared<PageRecords>();
    kept->add(*record);
  }
  for (auto& [page, kept] : records) parts_.pending.keep_records(page, std::move(kept));
}

void RedoBatches::forget_batch() {
  for (const PageId page : batch_) parts_.pending.keep_records(page, nullptr);
  batch_ = {};
}

}  // namespace swizzle
