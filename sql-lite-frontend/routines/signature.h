#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// A type in a routine's signature.
struct SignatureType {
  TypeId type = TypeId::none;
  Oid relation = kNoOid;  ///< relation with that row type; `type` is record then
};
/// Resolves a type. For table.column%TYPE, sends the notice of PostgreSQL to `told`.
SignatureType signature_type(StatementContext& session, const ast::TypeName& name,
                             ResultSink* told);
/// Returns the shell type with that name; null if the name is anything else.
TypePtr shell_named(StatementContext& session, const ast::TypeName& name);
/// Returns an error text that says which input types a polymorphic result needs, if there is none
/// of them: a call could not determine its type. Empty for any other result.
std::string missing_polymorphic_input(TypeId result, std::span<const TypeId> inputs);

}  // namespace swizzle::sql
