#include "base/programs/version.h"

namespace swizzle {

std::string_view swizzle_version() noexcept {
  return SWIZZLE_VERSION;
}

}  // namespace swizzle
