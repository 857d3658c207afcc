#pragma once

#include "sql-lite-frontend/catalog/computed.h"

/// The rows of the system catalogs that describe what tables consist of.
namespace swizzle::sql {

void index_rows(Execution& execution, const ComputedRelation::Emit& emit);
void constraint_rows(Execution& execution, const ComputedRelation::Emit& emit);
void default_rows(Execution& execution, const ComputedRelation::Emit& emit);
void description_rows(Execution& execution, const ComputedRelation::Emit& emit);
void sequence_rows(Execution& execution, const ComputedRelation::Emit& emit);
void view_rows(Execution& execution, const ComputedRelation::Emit& emit);
void index_view_rows(Execution& execution, const ComputedRelation::Emit& emit);
void lock_rows(Execution& execution, const ComputedRelation::Emit& emit);
void snapshot_rows(Execution& execution, const ComputedRelation::Emit& emit);
void version_store_rows(Execution& execution, const ComputedRelation::Emit& emit);
void activity_rows(Execution& execution, const ComputedRelation::Emit& emit);
void prepared_rows(Execution& execution, const ComputedRelation::Emit& emit);
void function_rows(Execution& execution, const ComputedRelation::Emit& emit);
void schema_table_rows(Execution& execution, const ComputedRelation::Emit& emit);
void schema_column_rows(Execution& execution, const ComputedRelation::Emit& emit);
void schema_schema_rows(Execution& execution, const ComputedRelation::Emit& emit);

}  // namespace swizzle::sql
