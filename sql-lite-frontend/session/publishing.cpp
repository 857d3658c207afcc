// Services of the session for publishing.
#include "sql-lite-frontend/publish/publish_services.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

CatalogView& catalog_view_of(Session::State& session) {
  return session.catalog;
}

NameSource& names_of(Session::State& session) {
  return session.names;
}

TableShapes& table_shapes_of(Session::State& session) {
  return session.shared.table_shapes;
}

bool logs_changes(Session::State& session) {
  return session.settings.text("wal_level") == "logical";
}

}  // namespace swizzle::sql
