#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"

/// Objects that an object's record names by number: its schema, its owner, its grantees, types,
/// routines, relations … A writer of the record holds all of them, so that none is dropped
/// meanwhile (`CatalogView::hold`).
namespace swizzle::sql {

struct Table;

/// Each once, in ascending order. Of what the server came with, only schemas and roles, and not its
/// first role, which owns everything else.
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

/// Returns the numbers under which the index of dependencies finds an object: those that its record
/// names, and those of its parts. Parts of a table are indexes, those that these are parts of,
/// constraints, triggers and policies; of a type, checks and the relation under which pg_class
/// lists it. In ascending order.
template <class Object>
NamedObjects dependency_keys(const Object& object) {
  return named_by(object);
}
NamedObjects dependency_keys(const Table& table);
NamedObjects dependency_keys(const UserType& type);

}  // namespace swizzle::sql
