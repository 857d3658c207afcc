#pragma once

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// The rows of JSON_TABLE before its columns: for each path of the table the place of an item among
/// those that the path has found, and the item; then the variables, unchanged.
///
/// Arguments: the document, the paths' parents ("-1,0,0", behind an "e" where errors are errors),
/// the paths, the variables. The names of the variables stand in the row's shape.
const Function& json_table_rows();

}  // namespace swizzle::sql
