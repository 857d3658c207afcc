#pragma once

#include <memory>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/routines/plpgsql/tree.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql::plpgsql {

/// Signature of the routine to which the body belongs.
struct Signature {
  RoutinePtr routine;
  std::vector<TypeId> argument_types;  ///< with concrete types of the call for polymorphic ones
  TypeId result = TypeId::void_;
  bool is_trigger = false;
  TablePtr table = nullptr;  ///< of a trigger, for OLD and NEW; null: not known yet
  Oid collation = kNoOid;    ///< of the variables that say none; none: the database's
};

/// Parses a body. Throws its syntax errors, with positions in the body.
std::unique_ptr<Program> read_program(StatementContext& session, const Signature& signature);

}  // namespace swizzle::sql::plpgsql
