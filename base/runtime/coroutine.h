#pragma once

#include <boost/context/fiber.hpp>

#include "base/runtime/stack_pool.h"

namespace swizzle {

/// A call stack of its own that can be entered and left: the base of fibers and simulated tasks.
/// Switches the exception state of the C++ runtime and the bounds of the stack (stack_depth.h) as
/// well, and tells the sanitizers. Never changes threads while it runs.
class Coroutine {
 public:
  using Body = void (*)(void* argument) noexcept;

  /// Runs nothing yet. The caller takes the stack back once finished().
  Coroutine(FiberStack stack, Body body, void* argument);
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  /// Pre: finished, abandoned, or never resumed.
  ~Coroutine();

  /// Runs the body until it suspends or returns. Pre: not called from within.
  void resume() noexcept;
  /// Returns to the resumer. Pre: called from within.
  void suspend() noexcept;
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  [[nodiscard]] const FiberStack& stack() const noexcept { return stack_; }

  /// Gives up a suspended coroutine without unwinding it: the destructors of its frames never run,
  /// and their memory leaks (LeakSanitizer is told). Pre: suspended.
  void abandon() noexcept;

 private:
  struct ExceptionState {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static ExceptionState& exceptions_of_this_thread() noexcept;
  boost::context::fiber enter(boost::context::fiber&& resumer) noexcept;
  void announce_entry() noexcept;
  void announce_arrival() noexcept;
  void announce_departure() noexcept;
  void announce_return() noexcept;

  FiberStack stack_;
  Body body_;
  void* argument_;
  boost::context::fiber inside_;
  boost::context::fiber resumer_;
  ExceptionState exceptions_;
  bool finished_ = false;

  // State that AddressSanitizer and ThreadSanitizer need; unused otherwise.
  void* own_fake_stack_ = nullptr;
  void* resumers_fake_stack_ = nullptr;
  const void* resumers_stack_ = nullptr;
  std::size_t resumers_stack_bytes_ = 0;
  void* own_thread_state_ = nullptr;
  void* resumers_thread_state_ = nullptr;
};

}  // namespace swizzle
