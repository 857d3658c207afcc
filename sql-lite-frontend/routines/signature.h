#pragma once

#include <span>
#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// A type in a routine's signature.
struct SignatureType {
  TypeId type = TypeId::none;
  Oid relation = kNoOid;  ///< the relation whose row type it is; `type` is record then
};
/// table.column%TYPE means the type that the column has now, which `told` is told.
SignatureType signature_type(StatementContext& session, const ast::TypeName& name,
                             ResultSink* told);
/// The type of which there is only that name yet; null for anything else.
TypePtr shell_named(StatementContext& session, const ast::TypeName& name);
/// Says which inputs a result of this polymorphic type needs, if there is none of them: without
/// one, a call could not tell the type of its result. Empty for any other result.
std::string missing_polymorphic_input(TypeId result, std::span<const TypeId> inputs);

}  // namespace swizzle::sql
