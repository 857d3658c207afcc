#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/types/type_id.h"

/// Parameters that take any type, as anyelement and anyarray do, and agree on which.
namespace swizzle::sql {

/// anyelement and those that agree with it.
bool is_any_family(TypeId type) noexcept;
/// anyrange, anymultirange: their actual type does not follow from anyelement's.
bool is_range_family(TypeId type) noexcept;

/// Meanings of the polymorphic parameters in one call.
struct Bindings {
  TypeId element = TypeId::none;
  TypeId array = TypeId::none;
  TypeId range = TypeId::none;
  TypeId multirange = TypeId::none;
  TypeId compatible = TypeId::none;
  TypeId compatible_array = TypeId::none;
  TypeId compatible_range = TypeId::none;
  TypeId compatible_multirange = TypeId::none;
};

/// The type that a declared one means in the call.
TypeId substitute(TypeId declared, const Bindings& bindings);

/// Binds the polymorphic parameters to types; nothing if the arguments do not agree on them.
/// Unknown literals agree with everything.
std::optional<Bindings> bind_polymorphic(std::span<const TypeId> declared,
                                         std::span<const TypeId> actual);
/// The same; throws SqlError 42804 that says which argument does not fit.
Bindings require_polymorphic(std::span<const TypeId> declared, std::span<const TypeId> actual);

}  // namespace swizzle::sql
