#include "storage/recovery/redo_pages.h"

#include <algorithm>
#include <cstring>

#include "base/invariant.h"

namespace swizzle {
namespace {

constexpr std::size_t kLeastPages = 64;

}  // namespace

RedoPages::RedoPages(Volume& volume, std::uint64_t memory_bytes, Repair repair)
    : volume_(volume),
      repair_(std::move(repair)),
      memory_(std::max<std::size_t>(memory_bytes / kPageBytes, kLeastPages) * kPageBytes),
      pages_(memory_.size() / kPageBytes) {
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    pages_[i].bytes = memory_.data() + i * kPageBytes;
    unused_.push_back(&pages_[i]);
  }
}

Result<> RedoPages::gather(std::span<const Need> needs) {
  INVARIANT(needs.size() <= window_pages());
  ++window_;
  std::size_t absent_count = 0;
  for (const Need& need : needs) {
    if (const auto found = by_id_.find(need.page); found != by_id_.end())
      found->second->window = window_;
    else
      ++absent_count;
  }
  RETURN_IF_ERROR(make_room(absent_count));
  std::vector<Page*> to_read;
  for (const Need& need : needs) {
    const auto [entry, is_absent] = by_id_.try_emplace(need.page, nullptr);
    if (!is_absent) continue;
    Page& page = *unused_.back();
    unused_.pop_back();
    entry->second = &page;
    page.id = need.page;
    page.is_dirty = false;
    const auto given_up = given_up_.find(need.page);
    page.given_up = given_up == given_up_.end() ? nullptr : &given_up->second;
    page.window = window_;
    if (page.given_up != nullptr) continue;
    if (need.content == Need::Content::read) {
      to_read.push_back(&page);
    } else {
      std::memset(page.bytes, 0, kPageBytes);
      ++counters_.blank;
    }
  }
  return read(to_read);
}

Result<> RedoPages::make_room(std::size_t wanted) {
  std::vector<Page*> victims;
  while (unused_.size() + victims.size() < wanted) {
    Page& page = pages_[hand_++ % pages_.size()];
    // Two windows fit, so pages of the last one are mostly kept.
    const bool is_in_use = page.id == PageId::none || page.window == window_;
    if (!is_in_use && by_id_.erase(page.id) != 0) victims.push_back(&page);
  }
  std::vector<Page*> dirty;
  std::ranges::copy_if(victims, std::back_inserter(dirty), &Page::is_dirty);
  RETURN_IF_ERROR(write(dirty));
  for (Page* page : victims) {
    page->id = PageId::none;
    unused_.push_back(page);
  }
  return {};
}

Result<> RedoPages::write(std::span<Page* const> dirty) {
  std::vector<Page*> sorted(dirty.begin(), dirty.end());
  std::ranges::sort(sorted, {}, &Page::id);
  std::vector<PageImage> images;
  images.reserve(sorted.size());
  for (Page* page : sorted) {
    seal_page(page->bytes);
    images.push_back({page->id, page->bytes});
    page->is_dirty = false;
  }
  counters_.written += images.size();
  return volume_.write_pages(images);
}

Result<> RedoPages::write_all() {
  std::vector<Page*> dirty;
  for (Page& page : pages_) {
    if (page.id != PageId::none && page.is_dirty) dirty.push_back(&page);
  }
  return write(dirty);
}

Result<> RedoPages::read(std::span<Page* const> absent) {
  std::vector<PageRead> reads(absent.size());
  for (std::size_t i = 0; i < absent.size(); ++i) {
    reads[i].page = absent[i]->id;
    reads[i].into = absent[i]->bytes;
  }
  volume_.read_pages(reads);
  counters_.read += reads.size();
  for (const PageRead& read : reads) {
    auto outcome = volume_.outcome(read);
    if (outcome) continue;
    if (outcome.error().state() != sqlstate::data_corrupted) return outcome;
    RETURN_IF_ERROR(
        rebuild_or_give_up(*by_id_.at(read.page), Lsn::none, std::move(outcome).error()));
  }
  return {};
}

Result<> RedoPages::rebuild_or_give_up(Page& page, Lsn newest, Error&& why) {
  if (repair_) {
    auto repaired = repair_(page.id, newest, page.bytes);
    if (repaired) {
      page.is_dirty = true;
      const std::lock_guard hold(mutex_);
      ++counters_.repaired;
      return {};
    }
    if (repaired.error().state() != sqlstate::data_corrupted) return repaired;
    why = std::move(repaired).error();
  }
  give_up(page, std::move(why));
  return {};
}

void RedoPages::give_up(Page& page, Error&& why) {
  // The copy in memory may be half redone.
  page.is_dirty = false;
  const std::lock_guard hold(mutex_);
  page.given_up = &given_up_.try_emplace(page.id, PageGivenUp{page.id, Lsn::none, std::move(why)})
                       .first->second;
}

void RedoPages::begin_anew(Page& page) noexcept {
  std::memset(page.bytes, 0, kPageBytes);
  page.given_up = nullptr;
  const std::lock_guard hold(mutex_);
  given_up_.erase(page.id);
}

std::vector<PageGivenUp> RedoPages::take_given_up() {
  std::vector<PageGivenUp> all;
  for (auto& [page, given_up] : given_up_) all.push_back(std::move(given_up));
  given_up_.clear();
  return all;
}

}  // namespace swizzle
