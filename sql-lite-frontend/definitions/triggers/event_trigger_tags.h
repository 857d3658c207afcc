#pragma once

#include <string_view>

/// Tags of statements that event triggers know.
namespace swizzle::sql {

/// True for a tag of PostgreSQL's.
bool is_command_tag(std::string_view tag) noexcept;
/// True if triggers of ddl_command_start, ddl_command_end and sql_drop fire at it.
bool has_event_triggers(std::string_view tag) noexcept;
/// True if it can write a table anew.
bool may_rewrite(std::string_view tag) noexcept;

}  // namespace swizzle::sql
