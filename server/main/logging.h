#pragma once

#include <spdlog/spdlog.h>

namespace swizzle::server {

/// Lines to standard error, with time and process id in front.
inline void start_logging() {
  spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e [%P] %l: %v");
}

}  // namespace swizzle::server
