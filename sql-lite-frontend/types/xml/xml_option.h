#pragma once

#include <cstdint>

namespace swizzle::sql::xml {

/// Form in which a text must be well-formed.
enum class Option : std::uint8_t { document, content };

enum class Blanks : std::uint8_t { kept, stripped };

}  // namespace swizzle::sql::xml
