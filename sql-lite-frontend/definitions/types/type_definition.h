#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/type.h"

/// Functions that CREATE, ALTER and DROP of all kinds of types share.
namespace swizzle::sql {

struct TypeName {
  std::string_view schema;  ///< empty: not given
  std::string_view name;
};
TypeName type_named(ast::NodeList names);
std::string written(const TypeName& name);
/// Returns the built-in type of that name, or null.
const Type* builtin_named(const TypeName& name);

/// Returns null if there is no user-defined type of that name. Throws 3F000.
TypePtr find_type_named(StatementContext& session, const TypeName& name);
/// Throws 42501.
void require_owner(StatementContext& session, const UserType& type);
/// Throws 42809 for a relation's row type.
void refuse_row_type(StatementContext& session, const UserType& type);
/// Returns the type, locked for a change that only its owner may make. Throws 42704, also for a
/// shell type, and 42501.
enum class Shells : std::uint8_t { refused, allowed };
TypePtr lock_own_type(StatementContext& session, const TypeName& name,
                      Shells shells = Shells::refused);
/// Throws 42704 for a shell type.
void refuse_shell(const UserType& type, std::string_view name);
/// The same in statements on domains. Throws 42809 for other types.
TypePtr lock_own_domain(StatementContext& session, const TypeName& name);
void require_domain(StatementContext& session, const UserType& type);
void replace_type(StatementContext& session, const UserType& old, UserType type);

/// A composite type also needs a free relation name.
enum class TypeOf : std::uint8_t { values, rows };

/// Returns a type of that name in the schema that the search path gives, without a number; nothing
/// is stored yet. 42710 if the name is taken, 42501. Ends a shell of that name.
UserType new_type(StatementContext& session, const TypeName& name, TypeOf made = TypeOf::values);
/// Allocates a type oid of the kind whose oids begin at `first`.
Oid allocate_type(StatementContext& session, std::uint32_t first);
/// Throws 42710 if the name is taken by a type, or by a relation with a row type; 42P07 if a
/// composite type is to get a relation's name.
void refuse_taken(StatementContext& session, Oid schema, std::string_view name,
                  TypeOf made = TypeOf::values);

}  // namespace swizzle::sql
