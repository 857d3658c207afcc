// Changes of a transaction to the catalog.
#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/named_objects.h"
#include "sql-lite-frontend/catalog/not_null_constraints.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Differences between the kinds of objects that are one record and one name.
struct Traits {
  RecordKind kind;
  bool shared;
  SqlState duplicate;
  std::string_view noun;
};
Traits traits_of(const Schema&) {
  return {RecordKind::schema, false, sqlstate::duplicate_schema, "schema"};
}
Traits traits_of(const UserType&) {
  return {RecordKind::user_type, false, sqlstate::duplicate_object, "type"};
}
Traits traits_of(const Routine&) {
  return {RecordKind::routine, false, sqlstate::duplicate_function, "function"};
}
Traits traits_of(const UserOperator&) {
  return {RecordKind::user_operator, false, sqlstate::duplicate_function, "operator"};
}
Traits traits_of(const UserCast&) {
  return {RecordKind::user_cast, false, sqlstate::duplicate_object, "cast"};
}
Traits traits_of(const UserCollation&) {
  return {RecordKind::user_collation, false, sqlstate::duplicate_object, "collation"};
}
Traits traits_of(const UserTextDictionary&) {
  return {RecordKind::user_text_dictionary, false, sqlstate::duplicate_object,
          "text search dictionary"};
}
Traits traits_of(const UserTextConfig&) {
  return {RecordKind::user_text_config, false, sqlstate::duplicate_object,
          "text search configuration"};
}
Traits traits_of(const Extension&) {
  return {RecordKind::extension, false, sqlstate::duplicate_object, "extension"};
}
Traits traits_of(const Publication&) {
  return {RecordKind::publication, false, sqlstate::duplicate_object, "publication"};
}
Traits traits_of(const EventTrigger&) {
  return {RecordKind::event_trigger, false, sqlstate::duplicate_object, "event trigger"};
}
Traits traits_of(const Role&) {
  return {RecordKind::role, true, sqlstate::duplicate_object, "role"};
}
Traits traits_of(const DatabaseEntry&) {
  return {RecordKind::database, true, sqlstate::duplicate_database, "database"};
}

/// Returns the key under which an object's number is found; it is unique.
template <class Object>
std::string name_record(Oid part, const Object& object) {
  if constexpr (std::is_same_v<Object, UserType>) {
    return type_name_key(part, object.schema, object.name);
  } else if constexpr (std::is_same_v<Object, Routine>) {
    return routine_name_key(part, object);
  } else if constexpr (std::is_same_v<Object, UserOperator>) {
    return operator_name_key(part, object);
  } else if constexpr (std::is_same_v<Object, UserCollation>) {
    return collation_name_key(part, object.schema, object.name);
  } else if constexpr (std::is_same_v<Object, UserTextDictionary>) {
    return text_dictionary_name_key(part, object.schema, object.name);
  } else if constexpr (std::is_same_v<Object, UserTextConfig>) {
    return text_config_name_key(part, object.schema, object.name);
  } else {
    return name_key(part, static_cast<Oid>(traits_of(object).kind), object.name);
  }
}

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

RecordKind record_kind(const Relation& relation) {
  return relation.persistence == Persistence::temporary ? RecordKind::temporary
                                                        : RecordKind::relation;
}

std::string version_value(std::uint64_t version) {
  std::byte bytes[sizeof version];
  store_big_endian(bytes, version);
  return std::string{as_text(Bytes{bytes, sizeof bytes})};
}

}  // namespace

namespace {

std::string record_of(const Table& table) {
  return encode(table.relation);
}
template <class Object>
std::string record_of(const Object& object) {
  return encode(object);
}

std::size_t memory_of(const CatalogObject& object) {
  return std::visit(
      [](const auto& pointer) {
        return pointer ? DefinitionMemory::bytes_of_record(record_of(*pointer).size()) : 0;
      },
      object);
}

}  // namespace

/// Returns the state that a change takes the place of; a null pointer if there is none.
CatalogObject CatalogView::present(const CatalogChange& change) const {
  return std::visit(
      [&](const auto& pointer) -> CatalogObject {
        using Ptr = std::remove_cvref_t<decltype(pointer)>;
        if (const Ptr* const mine = changes_.last<Ptr>(change.oid)) return *mine;
        return before(0, change);
      },
      change.object);
}

/// Counts the memory of a new state. Throws 53200.
void CatalogView::count(CatalogChange& change) const {
  const std::size_t bytes = memory_of(change.object);
  if (bytes == 0) return;
  const std::size_t replaced = change.created ? 0 : memory_of(present(change));
  DefinitionMemory::Share share{catalog_.shared_objects().definition_memory(), bytes};
  share.require_within_limit(replaced);
  std::visit([&](auto& pointer) { pointer = counted(std::move(pointer), std::move(share)); },
             change.object);
}

void CatalogView::change(CatalogChange change) {
  count(change);
  if (auto* const type = std::get_if<TypePtr>(&change.object))
    *type = registered(*type, catalog_.default_collation());
  changes_.add(std::move(change));
  ++local_version_;
}

void CatalogView::put_name(Transaction& transaction, Oid schema, std::string_view name, Oid oid) {
  std::string value;
  append_oid(value, oid);
  const std::string key = name_key(catalog_.database(), schema, name);
  const std::uint64_t before = catalog_.version();
  if (!value_of(catalog_.tree().insert(transaction, as_bytes(key), as_bytes(value)))) {
    throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", name);
  }
  look_again_if_moved(before);
}

/// Claims the name of a relation's row type, or of a type. Relations have a type of their name, and
/// composite types share their names with relations and indexes. So a transaction that takes the
/// name for one kind waits for another that takes it for the other kind, and looks again.
void CatalogView::claim_type_name(Transaction& transaction, Oid schema, std::string_view name) {
  const std::uint64_t before = catalog_.version();
  for (const std::string& key : {type_name_key(catalog_.database(), schema, name),
                                 name_key(catalog_.database(), schema, name)}) {
    value_of(catalog_.tree().lock_key(transaction, as_bytes(key)));
  }
  look_again_if_moved(before);
  const TablePtr table = this->table(schema, name);
  if (type(schema, name) || (table && table->relation.row_type != kNoOid)) {
    throw_error(sqlstate::duplicate_object, "type \"{}\" already exists", name);
  }
}

/// Changes the name records from those of `old` to those of `relation`; either may be null.
void CatalogView::change_names(Transaction& transaction, const Relation* old,
                               const Relation* relation) {
  const auto names_of = [](const Relation* from) {
    std::vector<std::pair<Oid, std::string>> names;
    if (from == nullptr || from->persistence == Persistence::temporary) return names;
    names.emplace_back(from->schema, from->name);
    for (const Index& index : from->indexes) names.emplace_back(from->schema, index.name);
    return names;
  };
  const auto before = names_of(old);
  const auto after = names_of(relation);
  if (!after.empty() && relation->row_type != kNoOid && !contains(before, after.front())) {
    claim_type_name(transaction, relation->schema, relation->name);
  }
  for (const auto& [schema, name] : before) {
    if (contains(after, std::pair{schema, name})) continue;
    const std::string key = name_key(catalog_.database(), schema, name);
    value_of(catalog_.tree().remove(transaction, as_bytes(key)));
  }
  for (const auto& [schema, name] : after) {
    if (contains(before, std::pair{schema, name})) continue;
    put_name(transaction, schema, name, relation->oid);
  }
}

/// The same for the records of its foreign keys. Those of a database that has no such records yet
/// are written all the same and not read.
void CatalogView::change_references(Transaction& transaction, const Relation* old,
                                    const Relation* relation) {
  const auto references_of = [](const Relation* from) {
    if (from == nullptr || from->persistence == Persistence::temporary) return std::vector<Oid>{};
    return from->referenced_relations();
  };
  const std::vector<Oid> before = references_of(old);
  const std::vector<Oid> after = references_of(relation);
  for (const Oid referenced : before) {
    if (contains(after, referenced)) continue;
    const std::string key = reference_key(catalog_.database(), referenced, old->oid);
    value_of(catalog_.tree().remove(transaction, as_bytes(key)));
  }
  for (const Oid referenced : after) {
    if (contains(before, referenced)) continue;
    const std::string key = reference_key(catalog_.database(), referenced, relation->oid);
    value_of(catalog_.tree().insert(transaction, as_bytes(key), {}));
  }
}

TablePtr CatalogView::create(Transaction& transaction, Relation relation) {
  yield_point(kUnknownWork);
  complete_not_nulls(relation, [this] { return allocate_oid(); });
  hold_named<Relation>(transaction, nullptr, relation);
  change_names(transaction, nullptr, &relation);
  change_references(transaction, nullptr, &relation);
  const Oid oid = relation.oid;
  const std::string record = encode(relation);
  const std::string key = object_key(catalog_.database(), record_kind(relation), oid);
  value_of(catalog_.tree().insert(transaction, as_bytes(key), as_bytes(record)));
  const std::string lock = object_key(catalog_.database(), RecordKind::lock, oid);
  value_of(catalog_.tree().insert(transaction, as_bytes(lock), as_bytes(version_value(1))));
  TablePtr table = open_table(catalog_.engine(), std::move(relation), 1, nullptr);
  change({oid, true, table});
  return table;
}

TablePtr CatalogView::replace(Transaction& transaction, const Table& old, Relation relation,
                              std::shared_ptr<TableRuntime> fresh_runtime) {
  yield_point(kUnknownWork);
  complete_not_nulls(relation, [this] { return allocate_oid(); });
  hold_named(transaction, &old.relation, relation);
  change_names(transaction, &old.relation, &relation);
  change_references(transaction, &old.relation, &relation);
  const Oid oid = relation.oid;
  const std::uint64_t version = old.version + 1;
  const std::string record = encode(relation);
  const std::string key = object_key(catalog_.database(), record_kind(relation), oid);
  value_of(catalog_.tree().update(transaction, as_bytes(key), as_bytes(record)));
  const std::string lock = object_key(catalog_.database(), RecordKind::lock, oid);
  value_of(catalog_.tree().update(transaction, as_bytes(lock), as_bytes(version_value(version))));
  TablePtr table = open_table(catalog_.engine(), std::move(relation), version,
                              fresh_runtime ? std::move(fresh_runtime) : old.runtime);
  change({oid, false, table});
  return table;
}

void CatalogView::remove(Transaction& transaction, const Table& table) {
  yield_point(kUnknownWork);
  change_names(transaction, &table.relation, nullptr);
  change_references(transaction, &table.relation, nullptr);
  const Oid oid = table.relation.oid;
  for (const RecordKind kind : {record_kind(table.relation), RecordKind::lock}) {
    const std::string key = object_key(catalog_.database(), kind, oid);
    value_of(catalog_.tree().remove(transaction, as_bytes(key)));
  }
  change({oid, false, TablePtr{}});
}

/// True for objects that end with their session.
template <class Object>
bool is_of_session(const CatalogView& view, const Object& object) {
  if constexpr (std::is_same_v<Object, Relation>) {
    return object.persistence == Persistence::temporary;
  } else if constexpr (std::is_same_v<Object, Routine>) {
    // A session's schema for temporary objects has no record.
    return view.schema(object.schema) == nullptr;
  } else {
    return false;
  }
}

/// Holds the objects that the record names but `old`, which may be null, does not: the others are
/// held already by being named there. Refuses temporary functions in objects that outlive them.
template <class Object>
void CatalogView::hold_named(Transaction& transaction, const Object* old, const Object& object) {
  const NamedObjects before = old == nullptr ? NamedObjects{} : named_by(*old);
  for (const Oid named : named_by(object)) {
    if (std::ranges::binary_search(before, named)) continue;
    hold(transaction, named);
    const RoutinePtr called = routine(named);
    if (!called || !is_of_session(*this, *called) || is_of_session(*this, object)) continue;
    throw_error(sqlstate::feature_not_supported,
                "using the temporary function \"{}\" in a permanent object is not supported",
                called->name);
  }
}

/// Throws unless `old` is the newest version, so that no change of another transaction is
/// overwritten.
template <class Object>
void CatalogView::require_newest(Transaction& transaction, std::string_view key,
                                 const Object& old) {
  const std::uint64_t before = catalog_.version();
  ValueBuffer buffer;
  const bool found =
      value_of(catalog_.tree().get(transaction, as_bytes(key), buffer, ReadMode::for_update));
  if (found && as_text(buffer.bytes()) == encode(old)) return;
  look_again_if_moved(before);
}

template <class Object, class Ptr>
Ptr CatalogView::create_object(Transaction& transaction, Object object) {
  yield_point(kUnknownWork);
  hold_named<Object>(transaction, nullptr, object);
  const Traits traits = traits_of(object);
  const Oid part = traits.shared ? kSharedCatalog : catalog_.database();
  std::string value;
  append_oid(value, object.oid);
  const std::string name = name_record(part, object);
  if constexpr (std::is_same_v<Object, UserType>) {
    claim_type_name(transaction, object.schema, object.name);
  }
  if (!value_of(catalog_.tree().insert(transaction, as_bytes(name), as_bytes(value)))) {
    throw_error(traits.duplicate, "{} \"{}\" already exists", traits.noun, object.name);
  }
  const std::string key = object_key(part, traits.kind, object.oid);
  value_of(catalog_.tree().insert(transaction, as_bytes(key), as_bytes(encode(object))));
  const Oid oid = object.oid;
  Ptr pointer = std::make_shared<Object>(std::move(object));
  change({oid, true, pointer});
  return pointer;
}

template <class Object>
void CatalogView::replace_object(Transaction& transaction, const Object& old, Object object) {
  yield_point(kUnknownWork);
  const Traits traits = traits_of(object);
  const Oid part = traits.shared ? kSharedCatalog : catalog_.database();
  const std::string key = object_key(part, traits.kind, object.oid);
  require_newest(transaction, key, old);
  hold_named(transaction, &old, object);
  if (!value_of(catalog_.tree().update(transaction, as_bytes(key), as_bytes(encode(object))))) {
    throw_error(sqlstate::undefined_object, "{} \"{}\" does not exist", traits.noun, old.name);
  }
  const std::string before = name_record(part, old);
  const std::string after = name_record(part, object);
  if (before != after) {
    if constexpr (std::is_same_v<Object, UserType>) {
      claim_type_name(transaction, object.schema, object.name);
    }
    std::string value;
    append_oid(value, object.oid);
    if (!value_of(catalog_.tree().insert(transaction, as_bytes(after), as_bytes(value)))) {
      throw_error(traits.duplicate, "{} \"{}\" already exists", traits.noun, object.name);
    }
    value_of(catalog_.tree().remove(transaction, as_bytes(before)));
  }
  const Oid oid = object.oid;
  change({oid, false, std::make_shared<const Object>(std::move(object))});
}

template <class Object>
void CatalogView::remove_object(Transaction& transaction, const Object& object) {
  yield_point(kUnknownWork);
  const Traits traits = traits_of(object);
  const Oid part = traits.shared ? kSharedCatalog : catalog_.database();
  lock(transaction, object.oid, lock::RelationMode::access_exclusive);
  const std::string name = name_record(part, object);
  const std::string key = object_key(part, traits.kind, object.oid);
  require_newest(transaction, key, object);
  if (!value_of(catalog_.tree().remove(transaction, as_bytes(key)))) {
    throw_error(sqlstate::undefined_object, "{} \"{}\" does not exist", traits.noun, object.name);
  }
  value_of(catalog_.tree().remove(transaction, as_bytes(name)));
  change({object.oid, false, CheckedShared<const Object>{}});
}

SchemaPtr CatalogView::create(Transaction& transaction, Schema schema) {
  return create_object<Schema, SchemaPtr>(transaction, std::move(schema));
}
TypePtr CatalogView::create(Transaction& transaction, UserType type) {
  const NotedType name = note_user_type(type, catalog_.default_collation());
  return create_object<UserType, TypePtr>(transaction, std::move(type));
}
RoutinePtr CatalogView::create(Transaction& transaction, Routine routine) {
  return create_object<Routine, RoutinePtr>(transaction, std::move(routine));
}
OperatorPtr CatalogView::create(Transaction& transaction, UserOperator op) {
  return create_object<UserOperator, OperatorPtr>(transaction, std::move(op));
}
CastPtr CatalogView::create(Transaction& transaction, UserCast cast) {
  return create_object<UserCast, CastPtr>(transaction, std::move(cast));
}
CollationPtr CatalogView::create(Transaction& transaction, UserCollation collation) {
  note_user_collation(collation);
  return create_object<UserCollation, CollationPtr>(transaction, std::move(collation));
}
PublicationPtr CatalogView::create(Transaction& transaction, Publication publication) {
  return create_object<Publication, PublicationPtr>(transaction, std::move(publication));
}
EventTriggerPtr CatalogView::create(Transaction& transaction, EventTrigger trigger) {
  return create_object<EventTrigger, EventTriggerPtr>(transaction, std::move(trigger));
}
UserTextDictionaryPtr CatalogView::create(Transaction& transaction, UserTextDictionary dictionary) {
  return create_object<UserTextDictionary, UserTextDictionaryPtr>(transaction,
                                                                  std::move(dictionary));
}
UserTextConfigPtr CatalogView::create(Transaction& transaction, UserTextConfig config) {
  return create_object<UserTextConfig, UserTextConfigPtr>(transaction, std::move(config));
}
ExtensionPtr CatalogView::create(Transaction& transaction, Extension extension) {
  return create_object<Extension, ExtensionPtr>(transaction, std::move(extension));
}
RolePtr CatalogView::create(Transaction& transaction, Role role) {
  return create_object<Role, RolePtr>(transaction, std::move(role));
}
DatabasePtr CatalogView::create(Transaction& transaction, DatabaseEntry database) {
  return create_object<DatabaseEntry, DatabasePtr>(transaction, std::move(database));
}
void CatalogView::replace(Transaction& transaction, const Schema& old, Schema schema) {
  replace_object(transaction, old, std::move(schema));
}
void CatalogView::replace(Transaction& transaction, const UserType& old, UserType type) {
  replace_object(transaction, old, std::move(type));
}
void CatalogView::replace(Transaction& transaction, const Routine& old, Routine routine) {
  replace_object(transaction, old, std::move(routine));
}
void CatalogView::replace(Transaction& transaction, const UserOperator& old, UserOperator op) {
  replace_object(transaction, old, std::move(op));
}
void CatalogView::replace(Transaction& transaction, const UserCast& old, UserCast cast) {
  replace_object(transaction, old, std::move(cast));
}
void CatalogView::replace(Transaction& transaction, const UserCollation& old,
                          UserCollation collation) {
  replace_object(transaction, old, std::move(collation));
}
void CatalogView::replace(Transaction& transaction, const Publication& old,
                          Publication publication) {
  replace_object(transaction, old, std::move(publication));
}
void CatalogView::replace(Transaction& transaction, const EventTrigger& old, EventTrigger trigger) {
  replace_object(transaction, old, std::move(trigger));
}
void CatalogView::replace(Transaction& transaction, const UserTextDictionary& old,
                          UserTextDictionary dictionary) {
  replace_object(transaction, old, std::move(dictionary));
}
void CatalogView::replace(Transaction& transaction, const UserTextConfig& old,
                          UserTextConfig config) {
  replace_object(transaction, old, std::move(config));
}
void CatalogView::replace(Transaction& transaction, const Extension& old, Extension extension) {
  replace_object(transaction, old, std::move(extension));
}
void CatalogView::replace(Transaction& transaction, const Role& old, Role role) {
  replace_object(transaction, old, std::move(role));
}
void CatalogView::replace(Transaction& transaction, const DatabaseEntry& old,
                          DatabaseEntry database) {
  replace_object(transaction, old, std::move(database));
}
void CatalogView::remove(Transaction& transaction, const Schema& schema) {
  remove_object(transaction, schema);
}
void CatalogView::remove(Transaction& transaction, const UserType& type) {
  remove_object(transaction, type);
}
void CatalogView::remove(Transaction& transaction, const Routine& routine) {
  remove_object(transaction, routine);
}
void CatalogView::remove(Transaction& transaction, const UserOperator& op) {
  remove_object(transaction, op);
}
void CatalogView::remove(Transaction& transaction, const UserCast& cast) {
  remove_object(transaction, cast);
}
void CatalogView::remove(Transaction& transaction, const UserCollation& collation) {
  remove_object(transaction, collation);
}
void CatalogView::remove(Transaction& transaction, const Publication& publication) {
  remove_object(transaction, publication);
}
void CatalogView::remove(Transaction& transaction, const EventTrigger& trigger) {
  remove_object(transaction, trigger);
}
void CatalogView::remove(Transaction& transaction, const UserTextDictionary& dictionary) {
  remove_object(transaction, dictionary);
}
void CatalogView::remove(Transaction& transaction, const UserTextConfig& config) {
  remove_object(transaction, config);
}
void CatalogView::remove(Transaction& transaction, const Extension& extension) {
  remove_object(transaction, extension);
}
void CatalogView::remove(Transaction& transaction, const Role& role) {
  remove_object(transaction, role);
}
void CatalogView::remove(Transaction& transaction, const DatabaseEntry& database) {
  remove_object(transaction, database);
}

void CatalogView::rollback_to(std::size_t mark) {
  if (changes_.size() == mark) return;
  changes_.cut(mark);
  ++local_version_;
}

bool CatalogView::changes_temporaries() const {
  return std::ranges::any_of(changes_, [&](const CatalogChange& change) {
    const auto* table = std::get_if<TablePtr>(&change.object);
    return temporary_.contains(change.oid) ||
           (table != nullptr && *table && (*table)->relation.persistence == Persistence::temporary);
  });
}

/// Pre: the change is of a temporary relation, which exists.
void CatalogView::put_temporary(CatalogChange change) {
  const Oid oid = change.oid;
  forget_temporary(oid);
  temporary_names_.add(kKindOf<Table>, oid, dependency_keys(*std::get<TablePtr>(change.object)));
  temporary_.emplace(oid, std::move(change));
}

void CatalogView::forget_temporary(Oid oid) {
  const auto known = temporary_.find(oid);
  if (known == temporary_.end()) return;
  temporary_names_.remove(kKindOf<Table>, oid,
                          dependency_keys(*std::get<TablePtr>(known->second.object)));
  temporary_.erase(known);
}

void CatalogView::commit() {
  if (changes_.empty()) return;
  std::vector<CatalogChange> published;
  for (CatalogChange& change : changes_.take()) {
    const auto* table = std::get_if<TablePtr>(&change.object);
    const bool was_temporary = temporary_.contains(change.oid);
    const bool is_temporary =
        table != nullptr && *table && (*table)->relation.persistence == Persistence::temporary;
    if (is_temporary) {
      put_temporary(std::move(change));
    } else if (was_temporary) {
      forget_temporary(change.oid);
    } else {
      published.push_back(std::move(change));
    }
  }
  ++local_version_;
  if (!published.empty()) catalog_.apply(published);
}

}  // namespace swizzle::sql
