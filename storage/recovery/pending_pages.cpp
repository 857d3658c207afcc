#include "storage/recovery/pending_pages.h"

#include <algorithm>

namespace swizzle {

void PageRecords::add(const wal::Record& record) {
  const std::size_t at = payloads_.size();
  payloads_.insert(payloads_.end(), record.payload.begin(), record.payload.end());
  records_.push_back({record, at});
}

void PageRecords::reverse() noexcept {
  std::ranges::reverse(records_);
}

wal::Record PageRecords::at(std::size_t index) const noexcept {
  const Kept& kept = records_[index];
  wal::Record record = kept.record;
  // The memory has moved since the record was added.
  record.payload = {payloads_.data() + kept.payload, kept.record.payload.size()};
  return record;
}

PendingPages::PendingPages(PendingPageMap pages) : count_(pages.size()) {
  pages_.reserve(pages.size());
  for (auto& [page, pending] : pages) {
    changes_ += pending.records.size();
    pages_.emplace(page, Known{std::make_shared<const PendingPage>(std::move(pending)), nullptr});
  }
}

bool PendingPages::contains(PageId page) const noexcept {
  if (count() == 0) return false;
  const std::lock_guard hold(mutex_);
  return pages_.contains(page);
}

bool PendingPages::erase(PageId page) noexcept {
  if (count() == 0) return false;
  const std::lock_guard hold(mutex_);
  const auto found = pages_.find(page);
  if (found == pages_.end()) return false;
  changes_ -= found->second.page->records.size();
  pages_.erase(found);
  // Release: publishes what made the page leave the set.
  count_.store(pages_.size(), std::memory_order_release);
  return pages_.empty();
}

PendingPages::Known PendingPages::find(PageId page) const {
  const std::lock_guard hold(mutex_);
  const auto found = pages_.find(page);
  return found == pages_.end() ? Known{} : found->second;
}

std::vector<DirtyPage> PendingPages::list() const {
  std::vector<DirtyPage> all;
  const std::lock_guard hold(mutex_);
  all.reserve(pages_.size());
  for (const auto& [page, known] : pages_)
    all.push_back({page, known.page->since, known.page->newest});
  return all;
}

std::vector<PageId> PendingPages::in_log_order() const {
  std::vector<DirtyPage> all = list();
  std::ranges::sort(all, {},
                    [](const DirtyPage& page) { return std::pair{page.since, page.page}; });
  std::vector<PageId> pages;
  pages.reserve(all.size());
  for (const DirtyPage& page : all) pages.push_back(page.page);
  return pages;
}

PendingPageMap PendingPages::incomplete() const {
  PendingPageMap pages;
  const std::lock_guard hold(mutex_);
  for (const auto& [page, known] : pages_)
    if (!known.page->is_complete) pages.emplace(page, *known.page);
  return pages;
}

void PendingPages::update(PendingPageMap pages) {
  for (auto& [page, pending] : pages) {
    auto updated = std::make_shared<const PendingPage>(std::move(pending));
    const std::lock_guard hold(mutex_);
    const auto found = pages_.find(page);
    if (found == pages_.end()) continue;
    changes_ += updated->records.size() - found->second.page->records.size();
    found->second.page = std::move(updated);
  }
}

void PendingPages::keep_records(PageId page, std::shared_ptr<const PageRecords> records) {
  const std::lock_guard hold(mutex_);
  if (const auto found = pages_.find(page); found != pages_.end())
    found->second.records = std::move(records);
}

}  // namespace swizzle
