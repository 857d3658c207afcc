#include "base/fibers/crash_report.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/fibers/fiber.h"
#include "base/fibers/reactor.h"
#include "base/fibers/signal_report.h"

namespace swizzle {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10U;

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

void write_report(int number, const siginfo_t& info) noexcept {
  SignalReport report;
  report.add("PANIC:  ended by signal ");
  report.add_number(static_cast<std::uint64_t>(number));
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
  report.add_number(static_cast<std::uint64_t>(::getpid()));
  report.add("\n");
  report.add_work();
  report.write_with_stack(report_descriptor.load(std::memory_order_relaxed));
}

[[maybe_unused]] void on_crash(int number, siginfo_t* info, void* /*context*/) {
  // From here on a second signal, even of this thread, ends the process as usual.
  ::signal(number, SIG_DFL);
  if (!reporting.exchange(true)) {
    write_report(number, *info);
  } else {
    // Another thread, or this one within its report. Waits until the other's report is complete.
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
  SignalReport::prepare();
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
