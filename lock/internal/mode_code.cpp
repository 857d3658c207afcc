#include "lock/internal/mode_code.h"

#include <fmt/format.h>

namespace swizzle::lock {

std::string name(ModeCode mode) {
  if (is_awaiting(mode)) return fmt::format("holders against {}", name(table_mode(mode)));
  if (!detail::is_key_code(std::to_underlying(mode))) return std::string{name(table_mode(mode))};
  const KeyMode parts = key_mode(mode);
  if (parts.gap == Access::none) return fmt::format("key {}", name(parts.key));
  if (parts.key == Access::none) return fmt::format("gap {}", name(parts.gap));
  return fmt::format("key {}, gap {}", name(parts.key), name(parts.gap));
}

}  // namespace swizzle::lock
