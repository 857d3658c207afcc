#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <array>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/invariant.h"
#include "base/io/io_backend.h"
#include "base/io/io_transfer.h"
#include "base/io/uring.h"

namespace swizzle {
namespace {

// One io_uring for all threads of the process; a thread of its own reaps.
class SharedUring final : public IoBackend {
 public:
  explicit SharedUring(std::unique_ptr<Uring> ring) : ring_(std::move(ring)) {}
  ~SharedUring() override {
    if (!reaper_.joinable()) return;
    {
      const std::lock_guard guard{mutex_};
      INVARIANT(under_way_ == 0 && waiting_.empty());
      ring_->start_wake();
      ring_->flush();
    }
    reaper_.join();
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "io_uring"; }

  void submit(int descriptor, std::span<IoRequest* const> requests) noexcept override {
    const std::lock_guard guard{mutex_};
    if (!reaper_.joinable()) reaper_ = std::thread{[this] { reap_until_woken(); }};
    for (IoRequest* request : requests) {
      begin_transfer(descriptor, *request);
      waiting_.push(*request);
    }
    start_waiting();
  }

 private:
  void start_waiting() noexcept {
    while (!waiting_.empty() && under_way_ < ring_->capacity()) {
      ring_->start(waiting_.pop());
      ++under_way_;
    }
    ring_->flush();
  }

  void reap_until_woken() noexcept {
    pthread_setname_np(pthread_self(), "io_uring reaper");
    for (bool woken = false; !woken;) {
      ring_->wait();
      std::array<Uring::Completion, 64> room{};
      const auto completions = ring_->reap(room);
      IoQueue finished;
      {
        // Also orders the submitter's writes to a request before our reads of it.
        const std::lock_guard guard{mutex_};
        for (const auto& [request, result] : completions) {
          if (request == nullptr) {
            woken = true;
            continue;
          }
          --under_way_;
          const bool again = advance_transfer(*request, result) == IoProgress::again;
          (again ? waiting_ : finished).push(*request);
        }
        start_waiting();
      }
      while (!finished.empty()) {
        IoRequest& request = finished.pop();
        request.done(request);
      }
    }
  }

  std::unique_ptr<Uring> ring_;
  std::mutex mutex_;
  IoQueue waiting_;
  unsigned under_way_ = 0;
  std::thread reaper_;
};

// Threads that block in pread, pwrite and fdatasync on behalf of others.
class BlockingThreads final : public IoBackend {
 public:
  static constexpr std::size_t kThreads = 16;

  ~BlockingThreads() override {
    {
      const std::lock_guard guard{mutex_};
      INVARIANT(waiting_.empty());
      stopping_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "threads"; }

  void submit(int descriptor, std::span<IoRequest* const> requests) noexcept override {
    {
      const std::lock_guard guard{mutex_};
      while (threads_.size() < kThreads) threads_.emplace_back([this] { serve(); });
      for (IoRequest* request : requests) {
        begin_transfer(descriptor, *request);
        waiting_.push(*request);
      }
    }
    requests.size() == 1 ? work_.notify_one() : work_.notify_all();
  }

 private:
  void serve() noexcept {
    pthread_setname_np(pthread_self(), "blocking io");
    std::unique_lock lock{mutex_};
    for (;;) {
      work_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      IoRequest& request = waiting_.pop();
      lock.unlock();
      transfer_blocking(request);
      request.done(request);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  IoQueue waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

class AtOnce final : public IoBackend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "blocking"; }

  void submit(int descriptor, std::span<IoRequest* const> requests) noexcept override {
    for (IoRequest* request : requests) {
      begin_transfer(descriptor, *request);
      transfer_blocking(*request);
      request->done(*request);
    }
  }
};

IoEngine from_environment() {
  const char* wanted = std::getenv("SWIZZLE_IO_ENGINE");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr) return IoEngine::io_uring;
  return std::string_view{wanted} == "threads" ? IoEngine::threads : IoEngine::io_uring;
}

}  // namespace

IoBackend& blocking_backend() noexcept {
  static AtOnce backend;
  return backend;
}

IoEngine resolve(IoEngine wanted) {
  if (wanted == IoEngine::automatic) wanted = from_environment();
  if (wanted == IoEngine::threads || Uring::refusal() == 0) return wanted;
  static std::once_flag said;
  std::call_once(said, [] {
    spdlog::warn("io_uring is refused ({}): blocking threads carry file transfers, more slowly",
                 std::system_category().message(Uring::refusal()));
  });
  return IoEngine::threads;
}

std::unique_ptr<IoBackend> make_shared_backend(IoEngine engine) {
  constexpr unsigned kCapacity = 256;
  if (resolve(engine) == IoEngine::io_uring) {
    if (auto ring = Uring::open(kCapacity, Uring::Use::many_threads)) {
      return std::make_unique<SharedUring>(std::move(ring));
    }
    spdlog::warn("no further io_uring to be had: blocking threads carry file transfers");
  }
  return std::make_unique<BlockingThreads>();
}

}  // namespace swizzle
