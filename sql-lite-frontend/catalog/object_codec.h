#pragma once

#include <string>

#include "base/bytes.h"
#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/large_objects.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/subscription.h"

namespace swizzle::sql {

/// The stored form of catalog objects: a format version, then the fields in order, numbers
/// little-endian, strings and lists with their length before them. Fields are only ever added at
/// the end of a struct, with the version raised.
std::string encode(const Schema& object);
std::string encode(const Relation& object);
std::string encode(const UserType& object);
std::string encode(const Routine& object);
std::string encode(const UserOperator& object);
std::string encode(const UserCast& object);
std::string encode(const UserCollation& object);
std::string encode(const UserTextDictionary& object);
std::string encode(const UserTextConfig& object);
std::string encode(const Extension& object);
std::string encode(const Publication& object);
std::string encode(const EventTrigger& object);
std::string encode(const Subscription& object);
std::string encode(const Role& object);
std::string encode(const DatabaseEntry& object);
std::string encode(const DefaultGrants& object);
std::string encode(const LargeObject& object);

/// Sets the type numbers of a relation's row type and its array type.
void number_row_type(Relation& relation);

/// Throws SqlError XX001 on malformed bytes or an unknown version.
template <class T>
T decode(Bytes bytes);
template <>
Schema decode<Schema>(Bytes bytes);
template <>
Relation decode<Relation>(Bytes bytes);
template <>
UserType decode<UserType>(Bytes bytes);
template <>
Routine decode<Routine>(Bytes bytes);
template <>
UserOperator decode<UserOperator>(Bytes bytes);
template <>
UserCast decode<UserCast>(Bytes bytes);
template <>
UserCollation decode<UserCollation>(Bytes bytes);
template <>
UserTextDictionary decode<UserTextDictionary>(Bytes bytes);
template <>
UserTextConfig decode<UserTextConfig>(Bytes bytes);
template <>
Extension decode<Extension>(Bytes bytes);
template <>
Publication decode<Publication>(Bytes bytes);
template <>
EventTrigger decode<EventTrigger>(Bytes bytes);
template <>
Subscription decode<Subscription>(Bytes bytes);
template <>
Role decode<Role>(Bytes bytes);
template <>
DatabaseEntry decode<DatabaseEntry>(Bytes bytes);
template <>
DefaultGrants decode<DefaultGrants>(Bytes bytes);
template <>
LargeObject decode<LargeObject>(Bytes bytes);

}  // namespace swizzle::sql
