#include "sql-lite-frontend/types/polymorphic.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool is_compatible_family(TypeId type) noexcept {
  return type == TypeId::anycompatible || type == TypeId::anycompatiblearray ||
         type == TypeId::anycompatiblenonarray || type == TypeId::anycompatiblerange ||
         type == TypeId::anycompatiblemultirange;
}

}  // namespace

bool is_any_family(TypeId type) noexcept {
  return type == TypeId::anyelement || type == TypeId::anyarray || type == TypeId::anynonarray ||
         type == TypeId::anyenum || is_range_family(type);
}

bool is_polymorphic(TypeId type) noexcept {
  return is_any_family(type) || is_compatible_family(type);
}

bool is_range_family(TypeId type) noexcept {
  return type == TypeId::anyrange || type == TypeId::anymultirange;
}

TypeId substitute(TypeId declared, const Bindings& bindings) {
  switch (declared) {
    case TypeId::anyelement:
    case TypeId::anynonarray:
    case TypeId::anyenum:
      return bindings.element;
    case TypeId::anyarray:
      return bindings.array;
    case TypeId::anyrange:
      return bindings.range;
    case TypeId::anymultirange:
      return bindings.multirange;
    case TypeId::anycompatible:
    case TypeId::anycompatiblenonarray:
      return bindings.compatible;
    case TypeId::anycompatiblearray:
      return bindings.compatible_array;
    case TypeId::anycompatiblerange:
      return bindings.compatible_range;
    case TypeId::anycompatiblemultirange:
      return bindings.compatible_multirange;
    default:
      return declared;
  }
}

namespace {

/// Takes `type` for `known`. False: another one is known already.
bool agree(TypeId& known, TypeId type) {
  if (known != TypeId::none && known != type) return false;
  known = type;
  return true;
}

/// Takes the arguments of one call, one after the other.
class ParameterBinder {
 public:
  explicit ParameterBinder(std::span<const TypeId> declared) : declared_{declared} {}

  /// Returns false if the argument cannot be of the declared type.
  bool take(TypeId declared, TypeId type) {
    if (is_compatible_family(declared)) any_compatible_ = true;
    if (type == TypeId::unknown) return true;
    switch (declared) {
      case TypeId::anyenum:
        return is_enum(type) && agree(out_.element, type);
      case TypeId::anynonarray:
        return !is_array(type) && agree(out_.element, type);
      case TypeId::anyelement:
        return agree(out_.element, type);
      case TypeId::anyarray:
        type = base_type(type);
        return (element_type(type) != TypeId::none || type == TypeId::anyarray) &&
               agree(out_.array, type);
      case TypeId::anyrange:
        type = base_type(type);
        return range_subtype(type) != TypeId::none && agree(out_.range, type);
      case TypeId::anymultirange:
        type = base_type(type);
        return range_of_multirange(type) != TypeId::none && agree(out_.multirange, type);
      default:
        return take_compatible(declared, type);
    }
  }

  std::optional<Bindings> finish() {
    const bool fits = fit_ranges() && fit_element() && (!any_compatible_ || fit_compatible());
    return fits ? std::optional{out_} : std::nullopt;
  }

 private:
  bool take_compatible(TypeId declared, TypeId type) {
    switch (declared) {
      case TypeId::anycompatiblenonarray:
        if (is_array(type)) return false;
        [[fallthrough]];
      case TypeId::anycompatible:
        compatible_.push_back(type);
        return true;
      case TypeId::anycompatiblearray:
        if (element_type(type) == TypeId::none) return false;
        compatible_.push_back(element_type(type));
        return true;
      case TypeId::anycompatiblerange:
        if (range_subtype(type) == TypeId::none || !agree(out_.compatible_range, base_type(type)))
          return false;
        compatible_.push_back(range_subtype(type));
        return true;
      case TypeId::anycompatiblemultirange:
        if (range_of_multirange(type) == TypeId::none ||
            !agree(out_.compatible_range, range_of_multirange(type)))
          return false;
        compatible_.push_back(range_subtype(out_.compatible_range));
        return true;
      default:
        return true;
    }
  }

  /// A range determines its multirange, and the other way round, and both their element type.
  bool fit_ranges() {
    if (out_.multirange != TypeId::none && !agree(out_.range, range_of_multirange(out_.multirange)))
      return false;
    if (out_.range == TypeId::none) return true;
    out_.multirange = multirange_of_range(out_.range);
    return agree(out_.element, range_subtype(out_.range));
  }

  bool fit_element() {
    if (out_.array != TypeId::none && out_.array != TypeId::anyarray) {
      if (!agree(out_.element, element_type(out_.array))) return false;
    } else if (out_.element != TypeId::none && out_.array == TypeId::none) {
      out_.array = array_type(out_.element);
    }
    if (std::ranges::find(declared_, TypeId::anyenum) != declared_.end() && !is_enum(out_.element))
      return false;
    // An element's type alone does not tell which range over it is meant.
    const bool wants_range = std::ranges::any_of(declared_, is_range_family);
    return !wants_range || out_.range != TypeId::none || out_.element == TypeId::none;
  }

  bool fit_compatible() {
    const auto common = find_common_type(compatible_);
    if (!common) return false;
    for (const TypeId type : compatible_)
      if (!can_coerce(type, *common, CastContext::implicit)) return false;
    out_.compatible = *common;
    out_.compatible_array = array_type(*common);
    if (out_.compatible_range == TypeId::none) return true;
    out_.compatible_multirange = multirange_of_range(out_.compatible_range);
    return range_subtype(out_.compatible_range) == *common;
  }

  std::span<const TypeId> declared_;
  Bindings out_;
  std::vector<TypeId> compatible_;
  bool any_compatible_ = false;
};

}  // namespace

namespace {

[[noreturn]] void refuse_argument(TypeId declared, TypeId given) {
  std::string_view kind;
  switch (declared) {
    case TypeId::anyarray:
    case TypeId::anycompatiblearray:
      kind = "an array";
      break;
    case TypeId::anyrange:
    case TypeId::anycompatiblerange:
      kind = "a range type";
      break;
    case TypeId::anymultirange:
    case TypeId::anycompatiblemultirange:
      kind = "a multirange type";
      break;
    case TypeId::anyenum:
      throw_error(sqlstate::datatype_mismatch, "type matched to anyenum is not an enum type: {}",
                  format_type(given));
    case TypeId::anynonarray:
    case TypeId::anycompatiblenonarray:
      throw_error(sqlstate::datatype_mismatch, "type matched to {} is an array type: {}",
                  format_type(declared), format_type(given));
    default:
      throw_error(sqlstate::datatype_mismatch, "arguments declared \"{}\" are not all alike",
                  format_type(declared));
  }
  throw_error(sqlstate::datatype_mismatch, "argument declared {} is not {} but type {}",
              format_type(declared), kind, format_type(given));
}

}  // namespace

Bindings require_polymorphic(std::span<const TypeId> declared, std::span<const TypeId> actual) {
  ParameterBinder binder{declared};
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (!binder.take(declared[i], actual[i])) refuse_argument(declared[i], actual[i]);
  if (auto bindings = binder.finish()) return *bindings;
  throw SqlError{sqlstate::datatype_mismatch, "arguments of polymorphic types are not all alike"};
}

std::optional<Bindings> bind_polymorphic(std::span<const TypeId> declared,
                                         std::span<const TypeId> actual) {
  ParameterBinder binder{declared};
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (!binder.take(declared[i], actual[i])) return std::nullopt;
  return binder.finish();
}

}  // namespace swizzle::sql
