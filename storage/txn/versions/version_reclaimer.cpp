#include "storage/txn/versions/version_reclaimer.h"

#include <chrono>

#include "storage/txn/undo/transaction_pool.h"

namespace swizzle {
namespace {

constexpr Duration kReclaimerLooksEvery = std::chrono::milliseconds{100};

}  // namespace

void VersionReclaimer::start() {
  pool_.on_work([this] { task_.wake(); });
  task_.start("version reclaimer", [this] { run(); });
}

void VersionReclaimer::run() {
  Runtime& runtime = Runtime::current();
  while (!task_.is_stopping()) {
    while (pool_.reclaim_some() && !task_.is_stopping()) runtime.yield();
    while (pool_.reclaim_step() && !task_.is_stopping()) runtime.yield();
    task_.wait_until(runtime.now() + kReclaimerLooksEvery);
  }
}

}  // namespace swizzle
