#include "storage/buffer/cleaner.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "storage/latch/guards.h"

namespace swizzle {
namespace {

// One scan looks at every frame, so it should find work for several batches, and for more in a
// large pool: this bounds the looks per written page.
constexpr std::size_t kLeastPerScan = 8 * Cleaner::kBatchPages;
constexpr std::size_t kLooksPerPage = 8;
// Share of time that scans without a request may take.
constexpr int kScanShare = 20;

// Used by a slow invariant only.
[[maybe_unused]] bool has_addresses(const PageLayout& layout, std::byte* page) noexcept {
  bool found = false;
  layout.visit_refs(
      page,
      [](void* context, PageRef* reference) {
        if (load_ref(reference).is_swizzled()) *static_cast<bool*>(context) = true;
      },
      &found);
  return found;
}

}  // namespace

// The cleaner moves `since` from `dirty` to `writing` by storing the latter first, and back the
// other way round. So a reader of dirty, writing, dirty sees it in one of them.
Lsn oldest_unwritten(const Frame& frame) noexcept {
  const Lsn before = frame.dirty_since.load(std::memory_order_acquire);
  const Lsn writing = frame.writing_since.load(std::memory_order_acquire);
  const Lsn after = frame.dirty_since.load(std::memory_order_acquire);
  Lsn oldest = Lsn::none;
  for (const Lsn lsn : {before, writing, after}) {
    if (lsn != Lsn::none && (oldest == Lsn::none || lsn < oldest)) oldest = lsn;
  }
  return oldest;
}

Cleaner::Cleaner(FrameArena& frames, Volume& volume, LogGate& log, PageLayout layout,
                 Options options)
    : frames_(frames), volume_(volume), log_(log), layout_(layout), options_(std::move(options)) {
  copies_.reserve(kBatchPages);
}

void Cleaner::start() {
  task_.start("cleaner", [this] { run(); });
}

void Cleaner::set_redo_target(Lsn lsn) noexcept {
  redo_target_.store(lsn, std::memory_order_relaxed);
  ask(Asked::to_look);
}

void Cleaner::ask(Asked what) noexcept {
  // Evictors request again and again; one request is enough until the task has seen it.
  Asked asked = asked_.load(std::memory_order_relaxed);
  while (asked < what) {
    if (asked_.compare_exchange_weak(asked, what)) return task_.wake();
  }
}

void Cleaner::run() {
  while (!task_.is_stopping()) {
    if (auto worked = work(asked_.exchange(Asked::nothing)); !worked) {
      if (options_.on_failure) options_.on_failure(worked.error());
      return;
    }
    task_.wait_until(Runtime::current().now() + options_.interval);
  }
}

Result<> Cleaner::work(Asked asked) {
  const bool pressed = asked == Asked::for_room;
  Runtime& runtime = Runtime::current();
  if (asked == Asked::nothing && runtime.now() < next_scan_) return {};

  const TimePoint began = runtime.now();
  const Lsn target = redo_target_.load(std::memory_order_relaxed);
  Scan found = scan(Lsn::max, pressed ? Order::evictable_first : Order::oldest_first);
  next_scan_ = runtime.now() + (runtime.now() - began) * kScanShare;

  std::vector<Frame*> frames;
  const std::uint64_t tolerated =
      pressed ? 0 : std::uint64_t{frames_.count()} * options_.dirty_percent / 100;
  for (const Candidate& candidate : found.candidates) {
    const bool too_many = found.dirty - frames.size() > tolerated;
    if (!too_many && candidate.since >= target) break;
    frames.push_back(candidate.frame);
  }
  // A newer request may prefer other pages.
  const auto is_superseded = [&] {
    return task_.is_stopping() || asked_.load(std::memory_order_relaxed) > asked;
  };
  for (std::span<Frame* const> left = frames; !left.empty() && !is_superseded();) {
    const auto some = left.first(std::min(left.size(), kLeastPerScan));
    RETURN_IF_ERROR(clean(some));
    left = left.subspan(some.size());
  }
  return {};
}

Result<> Cleaner::clean_until(Lsn lsn) {
  Scan found;
  {
    // No batch is under way here, so every page that is not clean shows as dirty.
    const std::lock_guard hold(round_mutex_);
    found = scan(lsn, Order::all_oldest_first);
  }
  std::vector<Frame*> frames;
  frames.reserve(found.candidates.size());
  for (const Candidate& candidate : found.candidates) frames.push_back(candidate.frame);
  RETURN_IF_ERROR(clean(frames));
  // Another thread's batch may still be writing some of ours, and may fail.
  const std::lock_guard hold(round_mutex_);
  return volume_.writable();
}

Cleaner::Scan Cleaner::scan(Lsn before, Order order) {
  counters_.scans.fetch_add(1, std::memory_order_relaxed);
  Scan found;
  std::uint32_t looked_at = 0;
  frames_.for_each_used([&](Frame& frame) {
    // Other fibers of the thread run now and then; the scan sees their changes, or they are younger
    // than it.
    if (++looked_at % kFramesBetweenYields == 0) Runtime::current().yield();
    // Waits for a writer whose record is in the log and that has not marked the page yet.
    if (order == Order::all_oldest_first) static_cast<void>(frame.latch.optimistic());
    const Lsn since = frame.dirty_since.load(std::memory_order_acquire);
    if (since == Lsn::none) return;
    ++found.dirty;
    if (since < before) found.candidates.push_back({since, &frame});
  });
  auto& candidates = found.candidates;
  if (order == Order::all_oldest_first || candidates.size() <= kLeastPerScan) {
    std::ranges::sort(candidates, {}, &Candidate::since);
    return found;
  }
  const auto urgency = [order](const Candidate& candidate) noexcept {
    const bool waits =
        order == Order::evictable_first && candidate.frame->state() != FrameState::unswizzled;
    return std::pair{waits, candidate.since};
  };
  // States change during the scan, so each is read once.
  std::vector<std::pair<std::pair<bool, Lsn>, Candidate>> ranked;
  ranked.reserve(candidates.size());
  for (const Candidate& candidate : candidates) ranked.emplace_back(urgency(candidate), candidate);
  const auto by_rank = [](const auto& entry) { return entry.first; };
  const std::size_t most = std::max(kLeastPerScan, looked_at / kLooksPerPage);
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranked.size()));
  std::ranges::nth_element(ranked, end, {}, by_rank);
  // In this order, since they are cleaned in parts.
  std::ranges::sort(ranked.begin(), end, {}, by_rank);
  candidates.clear();
  for (auto at = ranked.begin(); at != end; ++at) candidates.push_back(at->second);
  return found;
}

Result<> Cleaner::clean(std::span<Frame* const> frames) {
  while (!frames.empty()) {
    const auto batch = frames.first(std::min(frames.size(), kBatchPages));
    RETURN_IF_ERROR(clean_batch(batch));
    frames = frames.subspan(batch.size());
  }
  return {};
}

Result<> Cleaner::clean_batch(std::span<Frame* const> frames) {
  const std::lock_guard one_at_a_time(round_mutex_);
  copies_.clear();
  Lsn newest = Lsn::none;
  for (Frame* frame : frames) {
    std::byte* to = memory_.data() + copies_.size() * kPageBytes;
    if (!copy_page(*frame, to)) continue;
    newest = std::max(newest, load<PageHeader>(to).lsn);
  }
  if (copies_.empty()) return {};
  log_.flush_to(newest);

  std::vector<PageImage> images;
  images.reserve(copies_.size());
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    std::byte* copy = memory_.data() + i * kPageBytes;
    seal_page(copy);
    images.push_back({copies_[i].page, copy});
  }
  auto written = volume_.write_pages(images);
  for (const Copy& copy : copies_) written ? finish(copy) : restore(copy);
  if (!written) return written;
  counters_.rounds.fetch_add(1, std::memory_order_relaxed);
  counters_.pages.fetch_add(copies_.size(), std::memory_order_relaxed);
  return {};
}

bool Cleaner::copy_page(Frame& frame, std::byte* to) noexcept {
  const SharedGuard hold(frame.latch);
  const Lsn since = frame.dirty_since.load(std::memory_order_relaxed);
  // The page may have been freed, or cleaned by another round, since it was chosen. A frame that is
  // still being written was freed and has a new page, which waits for the next round.
  if (since == Lsn::none || frame.state() == FrameState::free ||
      frame.writing_since.load(std::memory_order_relaxed) != Lsn::none)
    return false;
  std::memcpy(to, frame.page(), kPageBytes);
  unswizzle_copy(layout_, to);
  INVARIANT_SLOW(!has_addresses(layout_, to));
  // In this order for oldest_unwritten(), which holds no latch.
  frame.writing_since.store(since, std::memory_order_release);
  frame.dirty_since.store(Lsn::none, std::memory_order_release);
  copies_.push_back({&frame, frame.page_id(), since});
  return true;
}

// The frame may have been freed and given to another page while its old page was written. That page
// has its own dirty_since, and writing_since is changed by the cleaner alone.
void Cleaner::finish(const Copy& copy) noexcept {
  // Release: a thread that sees the frame clean may evict it and read the page back.
  copy.frame->writing_since.store(Lsn::none, std::memory_order_release);
}

void Cleaner::restore(const Copy& copy) noexcept {
  // Under the latch, so that no writer marks the page, and no evictor checks it, in between.
  const SharedGuard hold(copy.frame->latch);
  const bool same = copy.frame->page_id() == copy.page && copy.frame->state() != FrameState::free;
  if (same) copy.frame->dirty_since.store(copy.since, std::memory_order_release);
  copy.frame->writing_since.store(Lsn::none, std::memory_order_release);
}

}  // namespace swizzle
