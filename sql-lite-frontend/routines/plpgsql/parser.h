#pragma once

#include <memory>

#include "sql-lite-frontend/catalog/callable_routine.h"
#include "sql-lite-frontend/routines/plpgsql/tree.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql::plpgsql {

/// Routine to which the body belongs.
struct Signature {
  RoutinePtr routine;
  std::vector<TypeId> argument_types;  ///< polymorphic ones made concrete, as the call gives them
  TypeId result = TypeId::void_;
  bool is_trigger = false;
  TablePtr table = nullptr;  ///< the trigger's table, for OLD and NEW; null: not known yet
  Oid collation = kNoOid;    ///< of the variables that say none; none: the database's
};

/// Throws syntax errors of the text; positions are the body's.
std::unique_ptr<Program> read_program(StatementContext& session, const Signature& signature);

}  // namespace swizzle::sql::plpgsql
