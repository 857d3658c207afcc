#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sql-lite-frontend/types/type_id.h"

/// Types over which an inverted index (USING gin) can be made.
namespace swizzle::sql {

/// Method by which a value is taken apart into elements, each of which has an entry in an inverted
/// index.
enum class ElementClass : std::uint8_t {
  array,       ///< its elements
  jsonb,       ///< keys, and values by themselves, at any depth
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

/// Null where there is none of that name. `name` empty: the default of the type, or of a domain's
/// base.
const ElementClassInfo* find_element_class(TypeId type, std::string_view name) noexcept;
/// True if the class can split values of the type into elements.
bool takes_apart(const ElementClassInfo& of, TypeId type) noexcept;

/// True if an index of the class answers `operand op value`, or `value op operand` if the operand
/// is on the right, for the classes' own operators.
enum class OperandSide : std::uint8_t { left, right };
bool answers(ElementClass id, std::string_view op, OperandSide side, TypeId value) noexcept;

}  // namespace swizzle::sql
