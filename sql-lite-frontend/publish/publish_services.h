#pragma once

#include "sql-lite-frontend/bound/session_services.h"

/// Services that publishing needs from the session; session/ implements them.
namespace swizzle::sql {

class NameSource;
class TableShapes;

CatalogView& catalog_view_of(Session::State& session);
NameSource& names_of(Session::State& session);
TableShapes& table_shapes_of(Session::State& session);
/// Returns whether wal_level is logical, so that changes to published tables are written to the
/// log.
bool logs_changes(Session::State& session);

}  // namespace swizzle::sql
