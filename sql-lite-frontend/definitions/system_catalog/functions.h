#pragma once

#include <span>

#include "sql-lite-frontend/query/bound/expression.h"

/// Functions that describe objects.
namespace swizzle::sql {

/// pg_get_expr, pg_table_is_visible and others.
std::span<const SessionEntry> catalog_functions();
/// pg_relation_size, pg_database_size and others.
std::span<const SessionEntry> size_functions();
/// has_table_privilege, pg_has_role and others.
std::span<const SessionEntry> privilege_functions();
/// pg_index_column_has_property, pg_relation_filenode
std::span<const SessionEntry> index_property_functions();
/// pg_describe_object
std::span<const SessionEntry> description_functions();
/// pg_identify_object, pg_identify_object_as_address
std::span<const SessionEntry> identity_functions();
// event_trigger_functions.cpp
std::span<const SessionEntry> event_trigger_functions();
std::span<const SetEntry> event_trigger_sets();
void add_view_functions();
/// Registers aclexplode, acldefault and pg_get_acl; called at start-up.
void add_acl_functions();
/// Registers ts_stat and ts_rewrite over a query's rows; called at start-up.
void add_text_query_functions();
/// Registers query_to_xml and table_to_xml; called at start-up.
void add_xml_row_functions();

}  // namespace swizzle::sql
