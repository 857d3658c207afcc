#include "base/runtime/coroutine.h"

#include <cxxabi.h>

#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/runtime/stack_depth.h"
#include "base/sanitizers.h"

namespace swizzle {
namespace {

// The coroutine's creator owns the stack; Boost only borrows it.
struct BorrowedStack {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context& /*stack*/) noexcept {}
};

// Destroying a suspended Boost fiber would unwind it; these are never destroyed.
std::vector<boost::context::fiber>& abandoned_fibers() {
  thread_local auto& fibers = *new std::vector<boost::context::fiber>;
  return fibers;
}

}  // namespace

Coroutine::Coroutine(FiberStack stack, Body body, void* argument)
    : stack_(stack), body_(body), argument_(argument) {
  boost::context::stack_context context;
  context.sp = stack.top();
  context.size = stack.bytes;
  inside_ = boost::context::fiber{
      std::allocator_arg, boost::context::preallocated{context.sp, context.size, context},
      BorrowedStack{},
      [this](boost::context::fiber&& resumer) { return enter(std::move(resumer)); }};
#ifdef SWIZZLE_TSAN
  own_thread_state_ = __tsan_create_fiber(0);
#endif
}

Coroutine::~Coroutine() {
#ifdef SWIZZLE_TSAN
  __tsan_destroy_fiber(own_thread_state_);
#endif
}

Coroutine::ExceptionState& Coroutine::exceptions_of_this_thread() noexcept {
  // The Itanium ABI fixes these two fields; <cxxabi.h> leaves them opaque.
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

boost::context::fiber Coroutine::enter(boost::context::fiber&& resumer) noexcept {
  resumer_ = std::move(resumer);
  announce_entry();
  body_(argument_);
  finished_ = true;
#ifdef SWIZZLE_ASAN
  // A null slot tells that this stack's fake frames can be freed.
  __sanitizer_start_switch_fiber(nullptr, resumers_stack_, resumers_stack_bytes_);
#endif
#ifdef SWIZZLE_TSAN
  __tsan_switch_to_fiber(resumers_thread_state_, 0);
#endif
  return std::move(resumer_);
}

void Coroutine::resume() noexcept {
  ExceptionState& exceptions = exceptions_of_this_thread();
  const ExceptionState saved = std::exchange(exceptions, exceptions_);
  announce_arrival();
  {
    const RunningStack running{stack_};
    inside_ = std::move(inside_).resume();
  }
  announce_return();
  exceptions_ = std::exchange(exceptions, saved);
}

void Coroutine::suspend() noexcept {
  announce_departure();
  resumer_ = std::move(resumer_).resume();
  announce_entry();
}

void Coroutine::abandon() noexcept {
  abandoned_fibers().push_back(std::move(inside_));
#ifdef SWIZZLE_ASAN
  __lsan_register_root_region(stack_.open, static_cast<std::size_t>(stack_.top() - stack_.open));
#else
  StackPool::discard(stack_);
#endif
}

// The resumer's side, before and after a switch.
void Coroutine::announce_arrival() noexcept {
#ifdef SWIZZLE_ASAN
  __sanitizer_start_switch_fiber(&resumers_fake_stack_, stack_.lowest, stack_.bytes);
#endif
#ifdef SWIZZLE_TSAN
  resumers_thread_state_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(own_thread_state_, 0);
#endif
}

void Coroutine::announce_return() noexcept {
#ifdef SWIZZLE_ASAN
  __sanitizer_finish_switch_fiber(resumers_fake_stack_, nullptr, nullptr);
#endif
}

// The coroutine's side, after and before a switch.
void Coroutine::announce_entry() noexcept {
#ifdef SWIZZLE_ASAN
  __sanitizer_finish_switch_fiber(own_fake_stack_, &resumers_stack_, &resumers_stack_bytes_);
#endif
}

void Coroutine::announce_departure() noexcept {
#ifdef SWIZZLE_ASAN
  __sanitizer_start_switch_fiber(&own_fake_stack_, resumers_stack_, resumers_stack_bytes_);
#endif
#ifdef SWIZZLE_TSAN
  __tsan_switch_to_fiber(resumers_thread_state_, 0);
#endif
}

}  // namespace swizzle
