#include "sql-lite-frontend/types/polymorphic.h"

#include <algorithm>
#include <vector>

#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool is_compatible_family(TypeId type) noexcept {
  return type == TypeId::anycompatible || type == TypeId::anycompatiblearray ||
         type == TypeId::anycompatiblenonarray;
}

}  // namespace

bool is_any_family(TypeId type) noexcept {
  return type == TypeId::anyelement || type == TypeId::anyarray || type == TypeId::anynonarray ||
         type == TypeId::anyenum;
}

TypeId substitute(TypeId declared, const Bindings& bindings) {
  switch (declared) {
    case TypeId::anyelement:
    case TypeId::anynonarray:
    case TypeId::anyenum:
      return bindings.element;
    case TypeId::anyarray:
      return bindings.array;
    case TypeId::anycompatible:
    case TypeId::anycompatiblenonarray:
      return bindings.compatible;
    case TypeId::anycompatiblearray:
      return bindings.compatible_array;
    default:
      return declared;
  }
}

std::optional<Bindings> bind_polymorphic(std::span<const TypeId> declared,
                                         std::span<const TypeId> actual) {
  Bindings out;
  std::vector<TypeId> compatible;
  bool any_compatible = false;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    TypeId type = actual[i];
    if (is_compatible_family(declared[i])) any_compatible = true;
    if (type == TypeId::unknown) continue;
    switch (declared[i]) {
      case TypeId::anyenum:
        if (!is_enum(type)) return std::nullopt;
        if (out.element != TypeId::none && out.element != type) return std::nullopt;
        out.element = type;
        break;
      case TypeId::anynonarray:
        if (is_array(type)) return std::nullopt;
        [[fallthrough]];
      case TypeId::anyelement:
        if (out.element != TypeId::none && out.element != type) return std::nullopt;
        out.element = type;
        break;
      case TypeId::anyarray:
        type = base_type(type);
        if (element_type(type) == TypeId::none && type != TypeId::anyarray) return std::nullopt;
        if (out.array != TypeId::none && out.array != type) return std::nullopt;
        out.array = type;
        break;
      case TypeId::anycompatiblenonarray:
        if (is_array(type)) return std::nullopt;
        [[fallthrough]];
      case TypeId::anycompatible:
        compatible.push_back(type);
        break;
      case TypeId::anycompatiblearray:
        if (element_type(type) == TypeId::none) return std::nullopt;
        compatible.push_back(element_type(type));
        break;
      default:
        break;
    }
  }
  if (out.array != TypeId::none && out.array != TypeId::anyarray) {
    const TypeId element = element_type(out.array);
    if (out.element != TypeId::none && out.element != element) return std::nullopt;
    out.element = element;
  } else if (out.element != TypeId::none && out.array == TypeId::none) {
    out.array = array_type(out.element);
  }
  if (std::ranges::find(declared, TypeId::anyenum) != declared.end() && !is_enum(out.element))
    return std::nullopt;
  if (any_compatible) {
    const auto common = find_common_type(compatible);
    if (!common) return std::nullopt;
    for (const TypeId type : compatible)
      if (!can_coerce(type, *common, CastContext::implicit)) return std::nullopt;
    out.compatible = *common;
    out.compatible_array = array_type(*common);
  }
  return out;
}

}  // namespace swizzle::sql
