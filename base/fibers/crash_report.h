#pragma once

#include <cstddef>
#include <span>

/// Writes a report before a signal ends the process: the signal, the work of the fiber, and the
/// stack, so that the log of a server that has crashed tells what ran.
namespace swizzle {

/// The work of a fiber, for a crash report.
class CrashSubject {
 public:
  CrashSubject(const CrashSubject&) = delete;
  CrashSubject& operator=(const CrashSubject&) = delete;

  /// Writes the present work into the buffer and returns the number of bytes. Called by a signal
  /// handler: takes no memory and no lock.
  virtual std::size_t describe(std::span<char> into) const noexcept = 0;

 protected:
  CrashSubject() = default;
  ~CrashSubject() = default;
};

/// Names the work of the running fiber for its lifetime. On a plain thread it does nothing.
class CrashSubjectScope {
 public:
  explicit CrashSubjectScope(const CrashSubject& subject) noexcept;
  CrashSubjectScope(const CrashSubjectScope&) = delete;
  CrashSubjectScope& operator=(const CrashSubjectScope&) = delete;
  ~CrashSubjectScope();
};

/// From here on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT are reported to the descriptor. The
/// process ends by the same signal, with its core file where there are any. Does nothing under the
/// sanitizers, which have reports of their own.
void report_crashes_to(int descriptor) noexcept;

/// A stack for the handler while this lives, since the stack of the thread that crashes may be
/// full. Each thread needs its own.
class CrashStack {
 public:
  CrashStack() noexcept;
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;
  ~CrashStack();

 private:
  void* memory_ = nullptr;
};

}  // namespace swizzle
