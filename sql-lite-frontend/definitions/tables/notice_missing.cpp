#include "sql-lite-frontend/definitions/tables/notice_missing.h"

#include <fmt/format.h>

namespace swizzle::sql {

void notice_missing(StatementContext& session, ResultSink& sink, std::string_view what) {
  notice_skipped(session, sink, fmt::format("{} does not exist", what));
}

void notice_skipped(StatementContext& session, ResultSink& sink, std::string_view message) {
  session.notice(sink, Severity::notice, SqlState{"00000"}, fmt::format("{}, skipping", message));
}

}  // namespace swizzle::sql
