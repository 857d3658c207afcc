#pragma once

namespace swizzle {

/// Asserts the conditions of every park() of every runtime: no latch held, not inside a catch
/// block, no exception in flight. A parked fiber would leave its exception to the next one of its
/// thread.
void assert_may_park() noexcept;
/// For who would rather go on than wait.
bool may_park() noexcept;

}  // namespace swizzle
