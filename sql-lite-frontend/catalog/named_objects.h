#pragma once

#include <vector>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"

/// Objects that an object's record refers to by number: schema, owner, grantees, types, routines,
/// relations and others. The writer of a record holds all of them, so that none is dropped
/// meanwhile (`CatalogView::hold`).
namespace swizzle::sql {

struct Table;

/// In ascending order, without repetition. Of built-in objects it has only schemas and roles,
/// without the bootstrap superuser, which owns all others.
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
NamedObjects named_by(const EventTrigger& trigger);
NamedObjects named_by(const Role& role);
NamedObjects named_by(const DatabaseEntry& database);

/// Returns the keys of an object in the dependency index, in ascending order: the numbers that its
/// record names, and those of its parts. Parts of a table are indexes with their parents,
/// constraints, triggers and policies; of a type, its checks and the relation by which pg_class
/// lists it.
template <class Object>
NamedObjects dependency_keys(const Object& object) {
  return named_by(object);
}
NamedObjects dependency_keys(const Table& table);
NamedObjects dependency_keys(const UserType& type);

}  // namespace swizzle::sql
