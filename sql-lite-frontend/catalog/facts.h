#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/type_id.h"

/// Contents of PostgreSQL's own catalogs that clients compare. generate_facts.py generates them as
/// facts.inc.
namespace swizzle::sql {

struct ColumnFacts {
  std::string_view name;
  TypeId type;
  bool not_null;
};

/// A relation of pg_catalog or information_schema.
struct RelationFacts {
  Oid oid;
  Oid schema;
  std::string_view name;
  char kind;  ///< relkind: r or v
  std::size_t first_column;
  std::size_t column_count;
};
std::span<const RelationFacts> relation_facts() noexcept;
std::span<const ColumnFacts> columns_of(const RelationFacts& relation) noexcept;

/// Functions of a type, in the order typinput, typoutput, typreceive, typsend, typmodin, typmodout,
/// typanalyze, typsubscript.
struct TypeFunctions {
  TypeId type;
  std::array<Oid, 8> functions;
};
/// Returns a type's functions; null if PostgreSQL has no such type.
const TypeFunctions* type_functions(TypeId type) noexcept;

/// A function that SQL cannot call, but that pg_proc lists and regproc can name.
struct FunctionName {
  Oid oid;
  std::string_view name;
  TypeId result;
  std::uint8_t argument_count;
  std::array<TypeId, 5> types;
  bool strict;
  char volatility;

  [[nodiscard]] std::span<const TypeId> arguments() const noexcept {
    return std::span{types}.first(argument_count);
  }
};
std::span<const FunctionName> internal_function_names() noexcept;

/// A btree operator class of a type that we have.
struct OperatorClass {
  Oid oid;
  std::string_view name;
  Oid family;
  std::string_view family_name;
  TypeId type;
  bool is_default;
};
std::span<const OperatorClass> operator_classes() noexcept;
/// Returns an operator class; 0 if there is none. An empty `name` means the default of the type, or
/// of the type that compares its values.
Oid operator_class(TypeId type, std::string_view name) noexcept;

}  // namespace swizzle::sql
