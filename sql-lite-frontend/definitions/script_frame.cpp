#include "sql-lite-frontend/definitions/script_frame.h"

namespace swizzle::sql {

ScriptFrame::ScriptFrame(StatementContext& session, Oid user, const std::string& path)
    : session_(session),
      acting_(session, user, ActingUser::As::itself),
      mark_(session.settings.mark()),
      settings_version_(session.variables.version()) {
  try {
    value_of(session.settings.set("search_path", path, SessionSettings::Lifetime::transaction));
    session.variables.changed(nullptr);
  } catch (...) {
    restore();
    throw;
  }
  session.variables.begin_inner();
}

void ScriptFrame::restore() {
  session_.settings.roll_back_to(mark_);
  session_.variables.changed(nullptr);
  session_.variables.end_inner(settings_version_);
}

}  // namespace swizzle::sql
