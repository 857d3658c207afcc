#include "base/fibers/signal_report.h"

#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/fibers/crash_report.h"
#include "base/fibers/fiber.h"
#include "base/fibers/reactor.h"

namespace swizzle {
namespace {

constexpr int kDeepest = 64;

const CrashSubject* subject_of_the_fiber() noexcept {
  const Reactor* reactor = Reactor::current();
  const Fiber* fiber = reactor == nullptr ? nullptr : reactor->running_fiber();
  return fiber == nullptr ? nullptr : fiber->crash_subject();
}

}  // namespace

void SignalReport::prepare() noexcept {
  std::array<void*, 2> frames{};
  static_cast<void>(::backtrace(frames.data(), static_cast<int>(frames.size())));
}

void SignalReport::add(std::string_view text) noexcept {
  const std::size_t count = std::min(text.size(), text_.size() - size_);
  std::memcpy(text_.data() + size_, text.data(), count);
  size_ += count;
}

void SignalReport::add_number(std::uint64_t number, unsigned base) noexcept {
  std::array<char, 64> digits{};
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  add({digits.data() + at, digits.size() - at});
}

void SignalReport::add_work() noexcept {
  const CrashSubject* subject = subject_of_the_fiber();
  if (subject == nullptr) return;
  size_ += subject->describe(std::span{text_}.subspan(size_));
  add("\n");
}

void SignalReport::write_with_stack(int descriptor) noexcept {
  add("STACK:  (addr2line -Cfpie PROGRAM ADDRESS tells the lines)\n");
  for (std::size_t at = 0; at < size_;) {
    const auto done = ::write(descriptor, text_.data() + at, size_ - at);
    if (done <= 0) break;
    at += static_cast<std::size_t>(done);
  }
  size_ = 0;
  std::array<void*, kDeepest> frames{};
  const int found = ::backtrace(frames.data(), kDeepest);
  ::backtrace_symbols_fd(frames.data(), found, descriptor);
}

}  // namespace swizzle
