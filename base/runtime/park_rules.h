#pragma once

namespace swizzle {

/// Asserts the conditions of every park() of every runtime: no latch held, not inside a catch
/// block, no exception in flight. A parked fiber would leave its exception to the next fiber of its
/// thread.
void assert_may_park() noexcept;
/// For callers that can go on without waiting.
bool may_park() noexcept;

}  // namespace swizzle
