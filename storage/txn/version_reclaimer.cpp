#include "storage/txn/version_reclaimer.h"

#include <chrono>
#include <mutex>

#include "base/invariant.h"
#include "storage/txn/transaction_pool.h"

namespace swizzle {
namespace {

constexpr Duration kReclaimerLooksEvery = std::chrono::milliseconds{100};

}  // namespace

VersionReclaimer::~VersionReclaimer() {
  stop();
}

void VersionReclaimer::start() {
  INVARIANT(task_ == nullptr);
  stopping_.store(false);
  task_ = Runtime::current().spawn("version reclaimer", [this] { run(); });
}

void VersionReclaimer::stop() noexcept {
  if (task_ == nullptr) return;
  stopping_.store(true);
  {
    const std::lock_guard hold(task_mutex_);
    if (task_parker_ != nullptr) task_parker_->unpark();
  }
  task_->join();
  task_.reset();
}

void VersionReclaimer::run() {
  Runtime& runtime = Runtime::current();
  {
    const std::lock_guard hold(task_mutex_);
    task_parker_ = &runtime.parker();
  }
  while (!stopping_.load()) {
    while (pool_.reclaim_some() && !stopping_.load()) runtime.yield();
    runtime.parker().park_until(runtime.now() + kReclaimerLooksEvery);
  }
  const std::lock_guard hold(task_mutex_);
  task_parker_ = nullptr;
}

}  // namespace swizzle
