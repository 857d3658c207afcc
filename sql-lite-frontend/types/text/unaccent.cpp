#include "sql-lite-frontend/types/text/unaccent.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

struct UnaccentRule {
  std::uint16_t character;
  std::string_view plain;
};
#include "sql-lite-frontend/types/text/unaccent_rules.inc"

/// Returns the character's rule; null if it is unchanged.
const UnaccentRule* rule_of(char32_t character) {
  const auto* const found =
      std::ranges::lower_bound(kUnaccentRules, character, {}, &UnaccentRule::character);
  return found != std::end(kUnaccentRules) && found->character == character ? found : nullptr;
}

}  // namespace

std::string without_marks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    constexpr std::size_t kWorkOfCharacter = 4;
    yield_point(kWorkOfCharacter);
    const std::size_t size = utf8_length(text[at]);
    const std::string_view character = text.substr(at, size);
    const UnaccentRule* const rule = size == 1 ? nullptr : rule_of(decode_character(character));
    out += rule == nullptr ? character : rule->plain;
    at += size;
  }
  return out;
}

}  // namespace swizzle::sql
