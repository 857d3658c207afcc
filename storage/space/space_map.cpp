#include "storage/space/space_map.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/invariant.h"

namespace swizzle {
namespace {

// The file grows by an eighth, so that large ones grow seldom and small ones stay small.
constexpr std::uint64_t kMinExtentPages = (std::uint64_t{1} << 20U) / kPageBytes;
constexpr std::uint64_t kMaxExtentPages = (std::uint64_t{64} << 20U) / kPageBytes;

std::uint64_t extent_for(std::uint64_t pages) noexcept {
  return std::clamp(pages / 8, kMinExtentPages, kMaxExtentPages) / kMinExtentPages *
         kMinExtentPages;
}

constexpr std::uint64_t bit(std::uint64_t page) noexcept {
  return std::uint64_t{1} << (page % 64);
}

bool test(const std::vector<std::uint64_t>& words, std::uint64_t page) noexcept {
  return page / 64 < words.size() && (words[page / 64] & bit(page)) != 0;
}

}  // namespace

Result<PageId> SpaceMap::reserve(std::optional<PageId> near) {
  assert_no_latch_held();
  while (true) {
    if (const auto page = try_reserve(near)) return *page;
    RETURN_IF_ERROR(grow());
  }
}

std::optional<PageId> SpaceMap::try_reserve(std::optional<PageId> near) noexcept {
  const std::lock_guard hold(mutex_);
  const std::uint64_t from = near ? raw(*near) : cursor_;
  auto page = find_free(from);
  if (!page && from != kFirstPage) page = find_free(kFirstPage);
  if (!page) return std::nullopt;
  if (!near) cursor_ = *page + 1;
  take(*page);
  return PageId{*page};
}

void SpaceMap::cancel(PageId page) noexcept {
  const std::lock_guard hold(mutex_);
  INVARIANT(test(taken_, raw(page)) && !test(allocated_, raw(page)));
  release(raw(page));
}

void SpaceMap::mark_allocated(PageId page) noexcept {
  const std::lock_guard hold(mutex_);
  cover(raw(page) + 1);
  if (test(allocated_, raw(page))) return;
  about_to_change(raw(page));
  if (!test(taken_, raw(page))) take(raw(page));  // in redo it was not reserved
  allocated_[raw(page) / 64] |= bit(raw(page));
  allocated_count_.fetch_add(1, std::memory_order_relaxed);
}

void SpaceMap::mark_free(PageId page) noexcept {
  const std::lock_guard hold(mutex_);
  if (!test(allocated_, raw(page))) return;
  about_to_change(raw(page));
  allocated_[raw(page) / 64] &= ~bit(raw(page));
  allocated_count_.fetch_sub(1, std::memory_order_relaxed);
  release(raw(page));
}

bool SpaceMap::is_allocated(PageId page) const noexcept {
  const std::lock_guard hold(mutex_);
  return test(allocated_, raw(page));
}

Result<> SpaceMap::grow() {
  const std::lock_guard hold(size_mutex_);
  {
    // Another thread may have grown the file, or freed a page, while we waited.
    const std::lock_guard words(mutex_);
    if (find_free(kFirstPage)) return {};
  }
  const std::uint64_t old = volume_.page_count();
  // To a whole number of smallest extents: the first page is the header's.
  const std::uint64_t grown = old + extent_for(old) - old % kMinExtentPages;
  RETURN_IF_ERROR(keep_room_for_copies(grown));
  RETURN_IF_ERROR(volume_.grow_to(grown));
  const std::lock_guard words(mutex_);
  cover(grown);
  end_ = grown;
  return {};
}

Result<> SpaceMap::fit_file() {
  const std::lock_guard hold(size_mutex_);
  std::uint64_t wanted = 0;
  {
    const std::lock_guard words(mutex_);
    wanted = end_of_taken();
  }
  if (wanted <= volume_.page_count()) return {};
  wanted = (wanted + kMinExtentPages - 1) / kMinExtentPages * kMinExtentPages;
  RETURN_IF_ERROR(keep_room_for_copies(wanted));
  RETURN_IF_ERROR(volume_.grow_to(wanted));
  const std::lock_guard words(mutex_);
  cover(wanted);
  end_ = wanted;
  return {};
}

// Makes words and groups for pages [0, pages).
void SpaceMap::cover(std::uint64_t pages) {
  const std::uint64_t groups = (pages + kGroupPages - 1) / kGroupPages;
  if (groups <= group_free_.size()) return;
  allocated_.resize(groups * kGroupWords);
  taken_.resize(groups * kGroupWords);
  group_free_.resize(groups, static_cast<std::uint32_t>(kGroupPages));
  // The header's page cannot be taken.
  if (!test(taken_, 0)) take(0);
}

void SpaceMap::take(std::uint64_t page) noexcept {
  taken_[page / 64] |= bit(page);
  --group_free_[page / kGroupPages];
}

void SpaceMap::release(std::uint64_t page) noexcept {
  taken_[page / 64] &= ~bit(page);
  ++group_free_[page / kGroupPages];
}

std::optional<std::uint64_t> SpaceMap::find_free(std::uint64_t from) const noexcept {
  for (std::uint64_t group = from / kGroupPages; group < group_free_.size(); ++group) {
    if (group_free_[group] == 0) continue;
    if (const auto page = find_free_in_group(group, std::max(from, group * kGroupPages)))
      return page;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> SpaceMap::find_free_in_group(std::uint64_t group,
                                                          std::uint64_t from) const noexcept {
  const std::uint64_t last_word = (group + 1) * kGroupWords;
  std::uint64_t free = ~taken_[from / 64] & ~(bit(from) - 1);
  for (std::uint64_t word = from / 64;;) {
    if (free != 0) {
      const std::uint64_t page = word * 64 + static_cast<std::uint64_t>(std::countr_zero(free));
      return page < end_ ? std::optional{page} : std::nullopt;
    }
    if (++word == last_word) return std::nullopt;
    free = ~taken_[word];
  }
}

std::uint64_t SpaceMap::end_of_taken() const noexcept {
  for (std::uint64_t word = taken_.size(); word-- > 0;) {
    if (taken_[word] != 0)
      return word * 64 + 64 - static_cast<std::uint64_t>(std::countl_zero(taken_[word]));
  }
  return 0;
}

void SpaceMap::Copying::make_room(std::uint64_t groups) {
  map.words.resize(groups * kGroupWords);
  is_copied.assign(groups, false);
}

std::uint64_t SpaceMap::covered_groups() const noexcept {
  const std::lock_guard hold(mutex_);
  return group_free_.size();
}

bool SpaceMap::begin_copy(Copying& copying) noexcept {
  const std::lock_guard hold(mutex_);
  INVARIANT(copying_ == nullptr);
  if (copying.is_copied.size() != group_free_.size()) return false;
  copying.map.page_count = end_;
  copying_ = &copying;
  return true;
}

void SpaceMap::finish_copy(Copying& copying) noexcept {
  for (std::uint64_t group = 0; group < copying.is_copied.size(); ++group) {
    const std::lock_guard hold(mutex_);
    copy_group(group);
  }
  const std::lock_guard hold(mutex_);
  copying_ = nullptr;
}

// Pre: mutex_ is held, and a copy is being made.
void SpaceMap::copy_group(std::uint64_t group) noexcept {
  if (copying_->is_copied[group]) return;
  copying_->is_copied[group] = true;
  const auto first = static_cast<std::ptrdiff_t>(group * kGroupWords);
  std::copy_n(allocated_.begin() + first, kGroupWords, copying_->map.words.begin() + first);
}

// Groups added later have no page that was in use when the copy began.
void SpaceMap::about_to_change(std::uint64_t page) noexcept {
  if (copying_ == nullptr || page / kGroupPages >= copying_->is_copied.size()) return;
  copy_group(page / kGroupPages);
}

void SpaceMap::checkpoint_done() noexcept {
  const std::lock_guard hold(mutex_);
  shrink_limit_ = std::max(checkpointed_end_, persisted_end_);
  checkpointed_end_ = persisted_end_;
}

Result<std::uint64_t> SpaceMap::shrink() {
  const std::lock_guard hold(size_mutex_);
  const std::uint64_t old = volume_.page_count();
  std::uint64_t kept = 0;
  {
    const std::lock_guard words(mutex_);
    // A recovery from one of these checkpoints may read pages that were in use at it.
    if (shrink_limit_ == UINT64_MAX) return 0;
    kept = std::max(end_of_taken(), shrink_limit_);
    kept = (kept + kMinExtentPages - 1) / kMinExtentPages * kMinExtentPages;
    if (kept >= old) return 0;
    end_ = kept;
  }
  auto shrunk = volume_.shrink_to(kept);
  const std::lock_guard words(mutex_);
  end_ = volume_.page_count();
  if (!shrunk) return fail(std::move(shrunk).error());
  return old - kept;
}

}  // namespace swizzle
