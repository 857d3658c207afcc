#include "base/fibers/crash_report.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/fibers/fiber.h"
#include "base/fibers/reactor.h"

namespace swizzle {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10U;
constexpr int kDeepest = 64;

std::atomic<int> report_descriptor{-1};
std::atomic<bool> reporting{false};

struct NamedSignal {
  int number;
  std::string_view name;
};
constexpr std::array kReported = std::to_array<NamedSignal>({
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"},
});

/// A report in the making. Only what a signal handler may do: no memory, no lock, no stdio.
class Report {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), count);
    size_ += count;
  }
  void add_number(std::uint64_t number, unsigned base) noexcept {
    std::array<char, 64> digits{};
    std::size_t at = digits.size();
    do {
      digits[--at] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    add({digits.data() + at, digits.size() - at});
  }
  void add(const CrashSubject& subject) noexcept {
    size_ += subject.describe(std::span{text_}.subspan(size_));
  }
  void write_to(int descriptor) noexcept {
    for (std::size_t at = 0; at < size_;) {
      const auto done = ::write(descriptor, text_.data() + at, size_ - at);
      if (done <= 0) break;
      at += static_cast<std::size_t>(done);
    }
    size_ = 0;
  }

 private:
  std::array<char, 4096> text_{};
  std::size_t size_ = 0;
};

const CrashSubject* present_subject() noexcept {
  const Reactor* reactor = Reactor::current();
  const Fiber* fiber = reactor == nullptr ? nullptr : reactor->running_fiber();
  return fiber == nullptr ? nullptr : fiber->crash_subject();
}

void write_report(int number, const siginfo_t& info) noexcept {
  const int descriptor = report_descriptor.load(std::memory_order_relaxed);
  Report report;
  report.add("PANIC:  ended by signal ");
  report.add_number(static_cast<std::uint64_t>(number), 10);
  for (const NamedSignal& known : kReported) {
    if (known.number != number) continue;
    report.add(" (");
    report.add(known.name);
    report.add(")");
  }
  if (number == SIGSEGV || number == SIGBUS) {
    report.add(" at address 0x");
    report.add_number(reinterpret_cast<std::uintptr_t>(info.si_addr), 16);
  }
  report.add(", process ");
  report.add_number(static_cast<std::uint64_t>(::getpid()), 10);
  report.add("\n");
  if (const CrashSubject* subject = present_subject()) {
    report.add(*subject);
    report.add("\n");
  }
  report.add("STACK:  (addr2line -Cfpie PROGRAM ADDRESS tells the lines)\n");
  // First what cannot fail: reading a broken stack may end in another signal.
  report.write_to(descriptor);
  std::array<void*, kDeepest> frames{};
  const int found = ::backtrace(frames.data(), kDeepest);
  ::backtrace_symbols_fd(frames.data(), found, descriptor);
}

[[maybe_unused]] void on_crash(int number, siginfo_t* info, void* /*context*/) {
  // From here on a second signal, of this thread too, ends the process as it would without us.
  ::signal(number, SIG_DFL);
  if (!reporting.exchange(true)) {
    write_report(number, *info);
  } else {
    // Another thread, or this one within its report. The other's is not to be cut short.
    ::sleep(1);
  }
  ::raise(number);
}

}  // namespace

CrashSubjectScope::CrashSubjectScope(const CrashSubject& subject) noexcept {
  Reactor* reactor = Reactor::current();
  if (reactor != nullptr && reactor->running_fiber() != nullptr) {
    reactor->running_fiber()->set_crash_subject(&subject);
  }
}

CrashSubjectScope::~CrashSubjectScope() {
  Reactor* reactor = Reactor::current();
  if (reactor != nullptr && reactor->running_fiber() != nullptr) {
    reactor->running_fiber()->set_crash_subject(nullptr);
  }
}

void report_crashes_to(int descriptor) noexcept {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  report_descriptor.store(descriptor, std::memory_order_relaxed);
  // The first call loads the unwinder, which takes memory.
  std::array<void*, 2> warm_up{};
  static_cast<void>(::backtrace(warm_up.data(), static_cast<int>(warm_up.size())));
  struct sigaction action{};
  action.sa_sigaction = &on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const NamedSignal& known : kReported) ::sigaction(known.number, &action, nullptr);
#else
  static_cast<void>(descriptor);
#endif
}

CrashStack::CrashStack() noexcept {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  void* memory =
      ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kStackBytes;
  if (::sigaltstack(&stack, nullptr) != 0) {
    ::munmap(memory, kStackBytes);
    return;
  }
  memory_ = memory;
#endif
}

CrashStack::~CrashStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, kStackBytes);
}

}  // namespace swizzle
