#pragma once

#include <cstdint>

namespace swizzle::sql::xml {

/// What a text is to be well-formed as.
enum class Option : std::uint8_t { document, content };

enum class Blanks : std::uint8_t { kept, stripped };

}  // namespace swizzle::sql::xml
