#pragma once

#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// IF EXISTS: tells the client that the object, which `what` gives by kind and name, does not
/// exist.
void notice_missing(StatementContext& session, ResultSink& sink, std::string_view what);

/// The same in the words of the error that it would have been.
void notice_skipped(StatementContext& session, ResultSink& sink, std::string_view message);

}  // namespace swizzle::sql
