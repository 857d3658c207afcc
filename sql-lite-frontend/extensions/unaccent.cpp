// unaccent: letters without their marks, by rules of our own (generate_unaccent.py). A dictionary
// of text search is not there.
#include <algorithm>
#include <array>
#include <string>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/extensions/extension.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

struct UnaccentRule {
  std::uint16_t character;
  std::string_view plain;
};
#include "sql-lite-frontend/extensions/unaccent_rules.inc"

/// Null: it stays.
const UnaccentRule* rule_of(char32_t character) {
  const auto* const found =
      std::ranges::lower_bound(kUnaccentRules, character, {}, &UnaccentRule::character);
  return found != std::end(kUnaccentRules) && found->character == character ? found : nullptr;
}

Value unaccent(FunctionContext& context, std::span<const Value> a) {
  const std::string_view text = a[0].as_text();
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    constexpr std::size_t kWorkOfCharacter = 4;
    count_work(kWorkOfCharacter);
    const std::size_t size = utf8_length(text[at]);
    const std::string_view character = text.substr(at, size);
    const UnaccentRule* const rule = size == 1 ? nullptr : rule_of(decode_character(character));
    out += rule == nullptr ? character : rule->plain;
    at += size;
  }
  return Value::from_text(context.arena.copy(std::string_view{out}));
}

constexpr ScalarEntry kUnaccentFunctions[] = {{"unaccent", &unaccent}};

constexpr std::string_view kUnaccentScript = R"SQL(
CREATE FUNCTION unaccent(text) RETURNS text
  AS '$libdir/unaccent', 'unaccent' LANGUAGE c STABLE STRICT PARALLEL SAFE;
)SQL";

}  // namespace

const BundledExtension& unaccent_extension() {
  static constexpr BundledExtension kExtension{
      .name = "unaccent",
      .version = "1.1",
      .comment = "text search dictionary that removes accents",
      .script = kUnaccentScript,
      .scalars = kUnaccentFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
