#pragma once

#include <string_view>

namespace swizzle::server {

/// Notifies the service manager that started us of our state ("READY=1", "STOPPING=1"), through the
/// datagram socket that NOTIFY_SOCKET names. Does nothing without one, and ignores errors.
void notify_service_manager(std::string_view state) noexcept;

}  // namespace swizzle::server
