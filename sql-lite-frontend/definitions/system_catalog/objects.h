#pragma once

#include "sql-lite-frontend/catalog/computed.h"

/// Row providers of the system catalogs, by file.
namespace swizzle::sql {

// classes.cpp, attribute_rows.cpp, type_rows.cpp
void schema_rows(Execution& execution, const EmitRow& emit);
void table_view_rows(Execution& execution, const EmitRow& emit);
void class_rows(Execution& execution, const EmitRow& emit);
void attribute_rows(Execution& execution, const EmitRow& emit);
void type_rows(Execution& execution, const EmitRow& emit);
void enum_rows(Execution& execution, const EmitRow& emit);
void range_rows(Execution& execution, const EmitRow& emit);

// procedures.cpp
void procedure_rows(Execution& execution, const EmitRow& emit);

// shared_rows.cpp
void role_rows(Execution& execution, const EmitRow& emit);
void authid_rows(Execution& execution, const EmitRow& emit);
void role_member_rows(Execution& execution, const EmitRow& emit);
void database_rows(Execution& execution, const EmitRow& emit);
void shared_description_rows(Execution& execution, const EmitRow& emit);
void role_setting_rows(Execution& execution, const EmitRow& emit);

// objects.cpp: parts of tables
void index_rows(Execution& execution, const EmitRow& emit);
void constraint_rows(Execution& execution, const EmitRow& emit);
void default_rows(Execution& execution, const EmitRow& emit);
void description_rows(Execution& execution, const EmitRow& emit);
void sequence_rows(Execution& execution, const EmitRow& emit);
void view_rows(Execution& execution, const EmitRow& emit);
void index_view_rows(Execution& execution, const EmitRow& emit);

// large_object_rows.cpp
void large_object_rows(Execution& execution, const EmitRow& emit);
void large_object_page_rows(Execution& execution, const EmitRow& emit);

// partition_rows.cpp
void inheritance_rows(Execution& execution, const EmitRow& emit);
void partitioned_table_rows(Execution& execution, const EmitRow& emit);

// policy_rows.cpp
void policy_rows(Execution& execution, const EmitRow& emit);

// publication_rows.cpp
void publication_rows(Execution& execution, const EmitRow& emit);
void event_trigger_rows(Execution& execution, const EmitRow& emit);
void publication_member_rows(Execution& execution, const EmitRow& emit);
void publication_schema_rows(Execution& execution, const EmitRow& emit);
void replication_slot_rows(Execution& execution, const EmitRow& emit);

// made_rows.cpp
void aggregate_rows(Execution& execution, const EmitRow& emit);
void operator_rows(Execution& execution, const EmitRow& emit);
void cast_rows(Execution& execution, const EmitRow& emit);
void extension_rows(Execution& execution, const EmitRow& emit);
void available_extension_rows(Execution& execution, const EmitRow& emit);
void extension_version_rows(Execution& execution, const EmitRow& emit);

}  // namespace swizzle::sql
