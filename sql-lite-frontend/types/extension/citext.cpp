#include "sql-lite-frontend/types/extension/citext.h"

#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {

int compare_citext(const Value& a, const Value& b) {
  const std::string_view left = a.as_text();
  const std::string_view right = b.as_text();
  const std::size_t both = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < both; ++i) {
    const int one = static_cast<unsigned char>(to_lower(left[i]));
    const int other = static_cast<unsigned char>(to_lower(right[i]));
    if (one != other) return one - other;
  }
  return order_of(left.size(), right.size());
}

std::string lowered(std::string_view text) {
  std::string out{text};
  for (char& letter : out) letter = to_lower(letter);
  return out;
}

std::string folded_citext(const Value& value, std::uint32_t database_collation) {
  const CollationRule* const rule = find_collation_rule(database_collation);
  if (rule == nullptr || !rule->of_all) return lowered(value.as_text());
  return icu_change_case(rule->locale, LetterCase::lower, value.as_text());
}

namespace {

constexpr TypeOrder kCitextOrder{
    .compare = &compare_citext,
    .hash =
        [](const Value& value, std::uint64_t seed) {
          return hash_whole(Value::from_text(lowered(value.as_text())), seed);
        },
    .put_key = [](std::string& key,
                  const Value& value) { keys::put_text(key, lowered(value.as_text())); },
    .take_key = &keys::take_text};

}  // namespace

const Type& citext_object() noexcept {
  static const Type kType = [] {
    Type type = builtin::text;
    type.id = kCitextType;
    type.array = user_array_of(kCitextType);
    type.name = "citext";
    type.sql_name = "citext";
    type.preferred = false;
    type.in_btree_gist = false;
    type.order = kCitextOrder;
    type.family = TypeId::none;
    type.measures = nullptr;
    type.functions = nullptr;
    return type;
  }();
  return kType;
}

}  // namespace swizzle::sql
