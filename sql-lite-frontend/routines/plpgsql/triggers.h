#pragma once

#include "sql-lite-frontend/routines/language.h"

namespace swizzle::sql::plpgsql {

TriggerCodePtr make_trigger_code(StatementContext& session, const CallablePtr& callable,
                                 const TablePtr& table);
EventTriggerCodePtr make_event_trigger_code(StatementContext& session, const CallablePtr& callable);

}  // namespace swizzle::sql::plpgsql
