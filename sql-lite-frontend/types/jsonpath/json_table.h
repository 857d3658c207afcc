#pragma once

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Row source of JSON_TABLE, before its columns are computed. A row has, for each path of the
/// table, the ordinal number of its current item and the item itself, then the variables.
///
/// Arguments: the document, the numbers of the paths' parents ("-1,0,0", prefixed by "e" for ERROR
/// ON ERROR), the paths, the variables. The row shape has the variables' names.
const Function& json_table_rows();

}  // namespace swizzle::sql
