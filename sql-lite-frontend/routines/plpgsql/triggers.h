#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql::plpgsql {

TriggerCodePtr make_trigger_code(StatementContext& session, const CallablePtr& callable,
                                 const TablePtr& table);

}  // namespace swizzle::sql::plpgsql
