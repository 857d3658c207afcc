#pragma once

#include "sql-lite-frontend/catalog/computed.h"

/// The rows of the system catalogs that describe what tables consist of.
namespace swizzle::sql {

void index_rows(Execution& execution, const EmitRow& emit);
void constraint_rows(Execution& execution, const EmitRow& emit);
void default_rows(Execution& execution, const EmitRow& emit);
void description_rows(Execution& execution, const EmitRow& emit);
void sequence_rows(Execution& execution, const EmitRow& emit);
void view_rows(Execution& execution, const EmitRow& emit);
void index_view_rows(Execution& execution, const EmitRow& emit);

}  // namespace swizzle::sql
