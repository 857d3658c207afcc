#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"

namespace swizzle::sql {

struct StatementContext;

/// The names of pg_class: relations, their indexes and composite types share one namespace in each
/// schema.

/// Returns the relation that regclass's text names. Nothing if there is none.
std::optional<Oid> find_relation_named(StatementContext& session, std::string_view schema,
                                       std::string_view name);
/// Returns the name as regclass shows it: with its schema if the search path would find another.
/// Nothing if there is no such object.
std::optional<std::string> relation_name(StatementContext& session, Oid oid);
/// True if the search path finds it by its name. Nothing if there is no such object.
std::optional<bool> is_relation_visible(StatementContext& session, Oid oid);
/// The same for a known name.
bool is_relation_visible(StatementContext& session, Oid schema, std::string_view name);

}  // namespace swizzle::sql
