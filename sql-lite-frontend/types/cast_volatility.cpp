#include "sql-lite-frontend/types/cast_volatility.h"

#include <algorithm>
#include <array>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Types whose input and output functions are both stable, besides composed ones.
constexpr std::array kBothStable{TypeId::date,     TypeId::timestamp, TypeId::timestamptz,
                                 TypeId::interval, TypeId::aclitem,   TypeId{790} /* money */};
/// Types of which only the input is.
constexpr std::array kInputStable{TypeId::xml, TypeId::time, TypeId::timetz};

/// True if the text form names catalog objects, or contains text forms of other types.
bool is_of_other_things(TypeId type) {
  if (is_object_id(type)) return type != TypeId::oid;
  return is_array(type) || is_enum(type) || value_type(type).shape == Shape::record ||
         range_subtype(type) != TypeId::none || range_of_multirange(type) != TypeId::none;
}

bool has_stable_output(TypeId type) {
  const TypeId base = base_type(type);
  return std::ranges::find(kBothStable, base) != kBothStable.end() || is_of_other_things(base);
}

bool has_stable_input(TypeId type) {
  return has_stable_output(type) ||
         std::ranges::find(kInputStable, base_type(type)) != kInputStable.end();
}

}  // namespace

Volatility cast_volatility(const Cast& cast) {
  check_stack();
  switch (cast.method) {
    case CastMethod::relabel:
    case CastMethod::wrap:
      return Volatility::immutable;
    case CastMethod::function:
      return cast.function != nullptr ? cast.function->volatility : Volatility::immutable;
    case CastMethod::elements: {
      const auto element = find_cast(element_type(base_type(cast.source)),
                                     element_type(base_type(cast.target)), cast.context);
      return element ? cast_volatility(*element) : Volatility::stable;
    }
    case CastMethod::text_form:
      break;
  }
  return has_stable_output(cast.source) || has_stable_input(cast.target) ? Volatility::stable
                                                                         : Volatility::immutable;
}

}  // namespace swizzle::sql
