#include "storage/txn/tidying/tree_reaper.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <mutex>

#include "base/runtime/asked_to_end.h"
#include "storage/engine_parts.h"
#include "storage/txn/rows/overflow.h"

namespace swizzle {
namespace {

// The task polls, since the end of the snapshot that delays a tree is not signalled.
constexpr Duration kReaperLooksEvery = std::chrono::milliseconds{100};
constexpr Duration kReaperIdles = std::chrono::seconds{2};
constexpr Duration kAfterFailedReaping = std::chrono::seconds{10};

}  // namespace

void TreeReaper::start() {
  task_.start("tree reaper", [this] { run(); });
}

void TreeReaper::wait_until_reaped() {
  constexpr Duration kPause = std::chrono::milliseconds{1};
  const std::uint64_t failures = failures_.load();
  // A caller that is cancelled leaves early, and finds the request still set.
  // No tree is due before its drop is durable, which an asynchronous commit may not be yet.
  if (engine_.trees->has_retired()) engine_.log->flush_to(engine_.log->tail());
  while (engine_.trees->has_due(engine_.registry->oldest_snapshot()) &&
         failures_.load() == failures && !is_asked_to_end()) {
    wake();
    Runtime::current().sleep_until(Runtime::current().now() + kPause);
  }
}

void TreeReaper::run() {
  Runtime& runtime = Runtime::current();
  while (!task_.is_stopping()) {
    if (!reap_one_round()) {
      // A newly dropped tree does not shorten this pause.
      task_.pause_until(runtime.now() + kAfterFailedReaping);
      continue;
    }
    task_.wait_until(runtime.now() +
                     (engine_.trees->has_retired() ? kReaperLooksEvery : kReaperIdles));
  }
}

/// Returns false if a tree could not be freed and must be tried again.
bool TreeReaper::reap_one_round() {
  bool all_well = true;
  for (const TreeId tree : engine_.trees->take_due(engine_.registry->oldest_snapshot())) {
    if (!task_.is_stopping() && reap(tree)) {
      engine_.trees->gone(tree);
      continue;
    }
    engine_.trees->retire(tree, Lsn::none);
    if (task_.is_stopping()) continue;
    failures_.fetch_add(1);
    all_well = false;
  }
  return all_well;
}

bool TreeReaper::reap(TreeId tree) {
  std::unique_lock working(working_);
  const auto goes_on = [&] {
    working.unlock();
    Runtime::current().yield();
    working.lock();
    return !task_.is_stopping();
  };
  auto freed = remove_overflow_of(engine_, tree, goes_on);
  if (freed) freed = engine_.trees->destroy_dropped(tree, goes_on);
  if (!freed && !task_.is_stopping())
    spdlog::warn("the pages of dropped tree {} cannot be freed yet: {}", raw(tree),
                 freed.error().message());
  return freed.has_value();
}

}  // namespace swizzle
