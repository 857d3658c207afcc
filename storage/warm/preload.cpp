#include "storage/warm/preload.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "storage/engine_parts.h"
#include "storage/txn/rows/any_tree.h"

namespace swizzle {
namespace {

constexpr Duration kBetweenLists = std::chrono::seconds{30};
/// Limit of read-aheads in progress, while no session waits for a page and while one does. Lower in
/// a small pool: what the pool does not take is not read.
constexpr std::uint64_t kAtEase = 64;
constexpr std::uint64_t kBesideOthers = 8;
constexpr std::uint64_t kFramesForEach = 32;
/// Share of the frames that stays free: one in so many.
constexpr std::uint32_t kFreeShare = 16;

}  // namespace

void Preload::start() {
  task_.start("preload", [this] { run(); });
}

void Preload::run() {
  const TimePoint begun = Runtime::current().now();
  const auto& read = parts_.pool.counters().reads_ahead;
  const std::uint64_t before = read.load(std::memory_order_relaxed);
  const auto pages = ResidentPages::load(parts_.files, parts_.directory, parts_.database_id);
  // Hot pages first, with the branches that lead to them; then all.
  std::vector<ResidentPage> hot;
  std::ranges::copy_if(pages, std::back_inserter(hot), [](const ResidentPage& page) {
    return page.level > 0 || page.usage >= Frame::kMaxUsage;
  });
  warm(hot);
  warm(pages);
  is_over_.store(true);
  // Scans of sessions have read ahead meanwhile, too, if any ran.
  const std::uint64_t count = read.load(std::memory_order_relaxed) - before;
  if (count > 0)
    spdlog::info("{} pages have been read ahead in {:.2f} s, for {} that were in memory before",
                 count, std::chrono::duration<double>{Runtime::current().now() - begun}.count(),
                 pages.size());
}

void Preload::warm(std::span<const ResidentPage> pages) {
  for (std::size_t begin = 0; begin < pages.size() && goes_on();) {
    const TreeId id = pages[begin].tree;
    std::size_t end = begin;
    while (end < pages.size() && pages[end].tree == id) ++end;
    const auto of_tree = pages.subspan(begin, end - begin);
    begin = end;
    // Hold the tree instead of a lock: it cannot go away meanwhile.
    const TreeTable::Hold hold(parts_.trees);
    if (id == TreeId::directory) {
      warm_tree(parts_.trees.directory(), of_tree);
      continue;
    }
    // A tree dropped since is no error.
    if (const auto tree = parts_.trees.find(id)) warm_tree(**tree, of_tree);
  }
}

void Preload::warm_tree(AnyTree& tree, std::span<const ResidentPage> pages) {
  std::vector<PageId> wanted;
  for (const ResidentPage& page : pages) wanted.push_back(page.page);
  std::ranges::sort(wanted);
  // Branches by descending level, each with its level and a key that it covers.
  std::deque<std::pair<std::vector<std::byte>, std::uint8_t>> branches;
  branches.emplace_back(std::vector<std::byte>{}, UINT8_MAX);
  while (!branches.empty() && goes_on()) {
    give_way();
    auto [key, level] = std::move(branches.front());
    branches.pop_front();
    auto ahead = tree.read_ahead_of(key, level, wanted);
    // Ignore an error: a session that wants the page gets it.
    if (!ahead) continue;
    for (std::vector<std::byte>& child : ahead->branches)
      branches.emplace_back(std::move(child), static_cast<std::uint8_t>(ahead->level - 1));
    if (ahead->next) branches.emplace_front(std::move(*ahead->next), ahead->level);
  }
}

bool Preload::goes_on() const noexcept {
  return !task_.is_stopping() &&
         parts_.pool.free_frames() > parts_.pool.arena().count() / kFreeShare;
}

/// Waits until few read-aheads are in progress.
void Preload::give_way() {
  Runtime& runtime = Runtime::current();
  const PoolCounters& counters = parts_.pool.counters();
  const auto misses = [&counters] {
    return counters.reads.load(std::memory_order_relaxed) -
           counters.reads_ahead.load(std::memory_order_relaxed);
  };
  while (goes_on()) {
    const std::uint64_t now = misses();
    const bool others_wait = std::exchange(seen_misses_, now) != now;
    const std::uint64_t most = std::min(others_wait ? kBesideOthers : kAtEase,
                                        parts_.pool.arena().count() / kFramesForEach);
    if (parts_.pool.occupancy().being_read <= most) break;
    runtime.sleep_until(runtime.now() + std::chrono::microseconds{200});
  }
  runtime.yield();
}

void Preload::save(When when) noexcept {
  const TimePoint now = Runtime::current().now();
  if (!is_over_.load() || (when == When::at_checkpoint && now - saved_at_ < kBetweenLists)) return;
  saved_at_ = now;
  const auto saved = ResidentPages::save(parts_.files, parts_.directory, parts_.database_id,
                                         ResidentPages::of(parts_.pool.arena()));
  if (!saved)
    spdlog::warn("the list of pages in memory cannot be kept: {}", saved.error().message());
}

}  // namespace swizzle
