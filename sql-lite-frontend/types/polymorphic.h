#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/types/type_id.h"

/// Polymorphic parameters: anyelement, anyarray and so on must resolve to matching types.
namespace swizzle::sql {

/// True for anyelement and the types that depend on it.
bool is_any_family(TypeId type) noexcept;
/// True for anyrange and anymultirange, whose type cannot be derived from anyelement's.
bool is_range_family(TypeId type) noexcept;

/// Actual types of the polymorphic parameters in one call.
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

/// Returns the actual type for a declared one.
TypeId substitute(TypeId declared, const Bindings& bindings);

/// Resolves the polymorphic parameters; nothing if the arguments conflict. Unknown literals match
/// every type.
std::optional<Bindings> bind_polymorphic(std::span<const TypeId> declared,
                                         std::span<const TypeId> actual);
/// The same; throws SqlError 42804, which names the conflicting argument.
Bindings require_polymorphic(std::span<const TypeId> declared, std::span<const TypeId> actual);

}  // namespace swizzle::sql
