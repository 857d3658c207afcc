#pragma once

#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// IF EXISTS: tells the client that the object, which `what` gives by kind and name, does not
/// exist.
void notice_missing(StatementContext& session, ResultSink& sink, std::string_view what);

/// The same with the text of the error that a statement without IF EXISTS throws.
void notice_skipped(StatementContext& session, ResultSink& sink, std::string_view message);

}  // namespace swizzle::sql
