#include "base/io/file.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/runtime/park_rules.h"
#include "base/runtime/runtime.h"

namespace swizzle {
namespace {

// Counts requests down and wakes the thread or fiber that waits for them.
class Countdown {
 public:
  explicit Countdown(std::size_t requests) noexcept
      : parker_(Runtime::current().parker()), left_(requests) {}

  static void one_done(IoRequest& request) noexcept {
    auto& countdown = *static_cast<Countdown*>(request.context);
    // With the last count the waiter may return and destroy this object, so read the parker first;
    // it outlives us (Parker::unpark).
    Parker& parker = countdown.parker_;
    // Release: publishes the request's error. Acquire: the last request's count also carries the
    // others'.
    if (countdown.left_.fetch_sub(1, std::memory_order_acq_rel) == 1) parker.unpark();
  }

  void wait() noexcept {
    // Acquire: sees every request's error and what the device read.
    while (left_.load(std::memory_order_acquire) != 0) parker_.park();
  }

 private:
  Parker& parker_;
  std::atomic<std::size_t> left_;
};

}  // namespace

Result<> File::transfer(IoRequest& request) {
  assert_may_park();
  if (!transfer_here(request)) {
    Countdown countdown{1};
    request.done = &Countdown::one_done;
    request.context = &countdown;
    IoRequest* const only = &request;
    submit({&only, 1});
    countdown.wait();
  }
  if (request.error != 0) return fail(failure(request));
  return {};
}

Result<> File::read_at(std::uint64_t offset, MutableBytes into) {
  IoRequest request;
  request.kind = IoRequest::Kind::read;
  request.offset = offset;
  request.data = into.data();
  request.size = into.size();
  return transfer(request);
}

Result<> File::write_at(std::uint64_t offset, Bytes from) {
  IoRequest request;
  request.kind = IoRequest::Kind::write;
  request.offset = offset;
  request.data = const_cast<std::byte*>(from.data());  // NOLINT: a write only reads from it
  request.size = from.size();
  return transfer(request);
}

Result<> File::sync() {
  IoRequest request;
  request.kind = IoRequest::Kind::sync;
  return transfer(request);
}

void File::transfer_all(std::span<IoRequest> requests) noexcept {
  assert_may_park();
  if (requests.empty()) return;
  Countdown countdown{requests.size()};
  // In portions, so that the array of pointers needs no heap.
  constexpr std::size_t kPortion = 64;
  std::array<IoRequest*, kPortion> portion{};
  for (std::size_t at = 0; at < requests.size(); at += kPortion) {
    const std::size_t count = std::min(kPortion, requests.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      portion[i] = &requests[at + i];
      portion[i]->done = &Countdown::one_done;
      portion[i]->context = &countdown;
    }
    submit({portion.data(), count});
  }
  countdown.wait();
}

Error File::failure(const IoRequest& request) const {
  const std::string reason = std::system_category().message(request.error);
  const auto state =
      request.error == ENOSPC || request.error == EDQUOT ? sqlstate::disk_full : sqlstate::io_error;
  switch (request.kind) {
    case IoRequest::Kind::read:
      return Error{state, fmt::format("could not read {} bytes at offset {} of file \"{}\": {}",
                                      request.size, request.offset, path().native(), reason)};
    case IoRequest::Kind::write:
      return Error{state, fmt::format("could not write {} bytes at offset {} of file \"{}\": {}",
                                      request.size, request.offset, path().native(), reason)};
    case IoRequest::Kind::sync:
      break;
  }
  return Error{state, fmt::format("could not sync file \"{}\": {}", path().native(), reason)};
}

}  // namespace swizzle
