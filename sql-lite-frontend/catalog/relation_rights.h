#pragma once

#include <string_view>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// Returns the grants on a relation of users.
AccessList access_list(const Relation& relation);
/// Returns the grants on any relation. Those on the system's relations are fixed: everyone reads
/// most of them, a few are for superusers, or for members of one predefined role.
AccessList access_list(const Table& table);

/// Returns the word for the relation in messages about rights: "table", "view", "sequence" …
std::string_view right_noun(const Table& table);

}  // namespace swizzle::sql
