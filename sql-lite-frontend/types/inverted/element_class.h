#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"

/// Operator classes of inverted indexes (USING gin).
namespace swizzle::sql {

/// Method of splitting a value into elements, each of which gets an entry in an inverted index.
enum class ElementClass : std::uint8_t {
  array,       ///< its elements
  jsonb,       ///< keys and scalar values separately, at any depth
  jsonb_path,  ///< scalars, each with the keys that lead to it
  words,       ///< those of a tsvector
  trigrams,    ///< groups of three letters of a text
  pairs,       ///< keys of an hstore, and keys with their values
};

/// One row of pg_opclass for gin.
struct ElementClassInfo {
  ElementClass id;
  std::uint32_t oid;
  std::string_view name;
  std::uint32_t family;
  TypeId type;     ///< anyarray for all arrays
  TypeId element;  ///< pg_opclass.opckeytype
  bool is_default;
  std::string_view extension = {};  ///< that brings it; empty: it is always there
};
std::span<const ElementClassInfo> element_classes() noexcept;

/// Returns null if there is no class with that name. Empty `name`: the default class of the type,
/// or of a domain's base type.
const ElementClassInfo* find_element_class(TypeId type, std::string_view name) noexcept;
/// True if the class can split values of the type into elements.
bool takes_apart(const ElementClassInfo& of, TypeId type) noexcept;

/// True if an index of the class supports `operand op value`, or `value op operand` with the
/// operand on the right.
enum class OperandSide : std::uint8_t { left, right };
bool answers(ElementClass id, std::string_view op, OperandSide side, TypeId value) noexcept;

}  // namespace swizzle::sql
