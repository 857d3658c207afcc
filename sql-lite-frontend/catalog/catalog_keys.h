#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/objects.h"

/// Keys of the catalog's records.
namespace swizzle::sql {

enum class RecordKind : char {
  counter = 1,  ///< (0, counter, 0) → the first oid not reserved yet
  schema = 2,
  relation = 3,
  temporary = 4,  ///< a temporary relation, so that a restart can drop those that a crash left
  role = 5,
  database = 6,
  lock = 7,              ///< → u64 version of the relation
  name = 8,              ///< (schema, name) → oid; relations and indexes share their names
  sequence = 9,          ///< → the durable position of the sequence
  statistics_tree = 10,  ///< (0, statistics_tree, 0) → the tree that is pg_statistic
  /// (referenced, referencing): a foreign key. (reference, 0) marks that all foreign keys are
  /// recorded; a database of an older server lacks it.
  reference = 11,
  default_grants = 12,  ///< (role, schema, kind of object)
  comment = 13,         ///< (class, object, part) → text; for objects without a record of their own
  user_type = 14,
  type_name = 15,  ///< (schema, name) → oid of a user-defined type
  routine = 16,
  routine_name = 17,  ///< (schema, name, zero byte, argument types) → oid of a routine
  user_operator = 18,
  operator_name = 19,  ///< (schema, name, zero byte, operands' types) → oid of an operator
  user_cast = 20,
  extension = 21,
  user_collation = 30,
  collation_name = 31,  ///< (schema, name) → oid of a user-defined collation
  publication = 32,
  /// → definition of a table for logical decoding, from the time when changes noted it by this
  /// number (execution/publish/table_shapes.h)
  table_shape = 33,
  /// Never visible: inserted and removed in one transaction (execution/publish/logged_message.h).
  logged_message = 34,
  user_text_dictionary = 35,
  text_dictionary_name = 36,  ///< (schema, name) → oid, as for types
  user_text_config = 37,
  text_config_name = 38,
  large_object_tree = 45,  ///< (large_object_tree, 0) → the tree of the database's large objects
  event_trigger = 46,
  subscription = 40,
  subscription_table = 41,     ///< (subscription, table) → state and position (subscriptions.h)
  subscription_position = 42,  ///< → position of the publisher's log up to which it is applied
};

/// Database number in the keys of shared objects: roles and databases.
inline constexpr Oid kSharedCatalog = 0;

inline void append_oid(std::string& key, Oid oid) {
  std::byte bytes[sizeof oid];
  store_big_endian(bytes, oid);
  key += as_text(Bytes{bytes, sizeof bytes});
}

inline std::string kind_prefix(Oid database, RecordKind kind) {
  std::string key;
  append_oid(key, database);
  key += static_cast<char>(kind);
  return key;
}

inline std::string object_key(Oid database, RecordKind kind, Oid oid) {
  std::string key = kind_prefix(database, kind);
  append_oid(key, oid);
  return key;
}

inline std::string reference_key(Oid database, Oid referenced, Oid referencing) {
  std::string key = object_key(database, RecordKind::reference, referenced);
  append_oid(key, referencing);
  return key;
}

/// `owner` is the schema, or a RecordKind for names outside of schemas.
inline std::string name_key(Oid database, Oid owner, std::string_view name) {
  std::string key = object_key(database, RecordKind::name, owner);
  key += name;
  return key;
}

inline std::string type_name_key(Oid database, Oid schema, std::string_view name) {
  std::string key = object_key(database, RecordKind::type_name, schema);
  key += name;
  return key;
}

inline std::string collation_name_key(Oid database, Oid schema, std::string_view name) {
  std::string key = object_key(database, RecordKind::collation_name, schema);
  key += name;
  return key;
}

inline std::string text_dictionary_name_key(Oid database, Oid schema, std::string_view name) {
  return object_key(database, RecordKind::text_dictionary_name, schema).append(name);
}
inline std::string text_config_name_key(Oid database, Oid schema, std::string_view name) {
  return object_key(database, RecordKind::text_config_name, schema).append(name);
}

inline std::string operator_name_key(Oid database, const UserOperator& op) {
  std::string key = object_key(database, RecordKind::operator_name, op.schema);
  key += op.name;
  key += '\0';
  append_oid(key, raw(op.left));
  append_oid(key, raw(op.right));
  return key;
}

inline std::string routine_name_key(Oid database, const Routine& routine) {
  std::string key = object_key(database, RecordKind::routine_name, routine.schema);
  key += routine.name;
  key += '\0';
  for (const TypeId type : routine.argument_types()) append_oid(key, raw(type));
  return key;
}

}  // namespace swizzle::sql
