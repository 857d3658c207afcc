#pragma once

#include <string_view>

namespace swizzle::server {

/// Tells the service manager that started us how we are ("READY=1", "STOPPING=1"), through the
/// datagram socket that NOTIFY_SOCKET names. Without one, nothing happens; a manager that does not
/// listen is its own problem.
void notify_service_manager(std::string_view state) noexcept;

}  // namespace swizzle::server
