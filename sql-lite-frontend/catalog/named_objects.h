#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"

/// Objects that an object's record names by number: its schema, its owner, its grantees, types,
/// routines, relations … A writer of the record holds all of them, so that none is dropped
/// meanwhile (`CatalogView::hold`).
namespace swizzle::sql {

/// Each once, in ascending order; none that the server came with but schemas.
using NamedObjects = std::vector<Oid>;

NamedObjects named_by(const Relation& relation);
NamedObjects named_by(const Schema& schema);
NamedObjects named_by(const UserType& type);
NamedObjects named_by(const Routine& routine);
NamedObjects named_by(const UserOperator& op);
NamedObjects named_by(const UserCast& cast);
NamedObjects named_by(const UserCollation& collation);
NamedObjects named_by(const UserTextDictionary& dictionary);
NamedObjects named_by(const UserTextConfig& config);
NamedObjects named_by(const Extension& extension);
NamedObjects named_by(const Publication& publication);
NamedObjects named_by(const Role& role);
NamedObjects named_by(const DatabaseEntry& database);

}  // namespace swizzle::sql
