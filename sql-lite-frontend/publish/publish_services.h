#pragma once

#include "sql-lite-frontend/bound/session_services.h"

/// Services that publishing needs from the session; session/ implements them.
namespace swizzle::sql {

class NameSource;
class TableShapes;

CatalogView& catalog_view_of(Session::State& session);
NameSource& names_of(Session::State& session);
TableShapes& table_shapes_of(Session::State& session);
/// wal_level is logical: what happens to published tables is told in the log.
bool logs_changes(Session::State& session);

}  // namespace swizzle::sql
