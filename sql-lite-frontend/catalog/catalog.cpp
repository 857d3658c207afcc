#include "sql-lite-frontend/catalog/catalog.h"

#include <fmt/format.h>

#include <mutex>

#include "sql-lite-frontend/catalog/bootstrap.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/counted_record.h"
#include "sql-lite-frontend/catalog/named_objects.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/catalog/object_map.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Calls `visit(oid, value)` with each committed record whose key is `prefix` and an oid.
template <class Visit>
void for_each_record(Engine& engine, const Tree& tree, const std::string& prefix, Visit&& visit) {
  auto transaction = engine.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  {
    const std::string high = key_successor(prefix);
    ScanRange range;
    range.low = as_bytes(prefix);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree.scan(*transaction, range));
    while (value_of(cursor.next())) {
      visit(load_big_endian<Oid>(cursor.key().data() + prefix.size()), cursor.value());
    }
  }
  transaction->rollback();
}

/// Drops the trees of temporary relations that a crash left behind.
void drop_leftovers(Engine& engine, Tree& tree, Oid database) {
  auto transaction = engine.begin();
  transaction->begin_statement();
  const std::string low = kind_prefix(database, RecordKind::temporary);
  const std::string high = key_successor(low);
  std::vector<std::string> keys;
  std::vector<TreeId> trees;
  {
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree.scan(*transaction, range));
    while (value_of(cursor.next())) {
      const auto relation = decode<Relation>(cursor.value());
      keys.emplace_back(as_text(cursor.key()));
      if (relation.tree != TreeId::directory) trees.push_back(relation.tree);
      for (const Index& index : relation.indexes) {
        if (!index.orders_rows()) trees.push_back(index.tree);
      }
    }
  }
  if (keys.empty()) {
    transaction->rollback();
    return;
  }
  for (const std::string& key : keys) value_of(tree.remove(*transaction, as_bytes(key)));
  for (const TreeId id : trees) value_of(engine.drop_tree(*transaction, id));
  value_of(transaction->commit());
}

/// Drops temporary functions that a crash left behind.
void drop_routines(Engine& engine, Tree& tree, Oid database, std::span<const Routine> leftovers) {
  if (leftovers.empty()) return;
  auto transaction = engine.begin();
  transaction->begin_statement();
  for (const Routine& routine : leftovers) {
    for (const std::string& key : {object_key(database, RecordKind::routine, routine.oid),
                                   routine_name_key(database, routine)}) {
      value_of(tree.remove(*transaction, as_bytes(key)));
    }
  }
  value_of(transaction->commit());
}

}  // namespace

std::unique_ptr<Catalog> Catalog::open(Engine& engine, SharedObjects& shared, Oid database) {
  Tree tree = value_of(engine.tree(kTree));
  if (!engine.is_standby()) drop_leftovers(engine, tree, database);
  std::unique_ptr<Catalog> catalog{new Catalog{engine, tree, shared, database}};
  catalog->load();
  return catalog;
}

namespace {

/// Returns the locale's name for ICU, whose root locale may be written as an empty name.
std::string icu_rule_of(const std::string& locale) {
  return locale.empty() ? "und" : locale;
}

}  // namespace

void Catalog::set_default_collation() {
  const DatabasePtr entry = shared_.database(database_);
  if (!entry || !entry->icu_locale) return;
  default_collation_ = collation_id::first_of_database + database_;
  note_collation(default_collation_,
                 {icu_rule_of(*entry->icu_locale), true, entry->locale_orders_all});
}

template <class Object, class Self>
auto& Catalog::map_of(Self& self) {
  if constexpr (std::is_same_v<Object, Table>) {
    return self.tables_;
  } else if constexpr (std::is_same_v<Object, Schema>) {
    return self.schemas_;
  } else if constexpr (std::is_same_v<Object, UserType>) {
    return self.types_;
  } else if constexpr (std::is_same_v<Object, Routine>) {
    return self.routines_;
  } else {
    return std::get<Made<Object>>(self.made_);
  }
}

template <class Object>
void Catalog::put_indexed(Oid oid, const CheckedShared<const Object>& object) {
  auto& map = map_of<Object>(*this);
  if (const auto old = find_or_null(map, oid)) {
    dependencies_.remove(kKindOf<Object>, oid, dependency_keys(*old));
  }
  put_object(map, oid, object);
  if (object) dependencies_.add(kKindOf<Object>, oid, dependency_keys(*object));
}
template void Catalog::put_indexed<Table>(Oid oid, const TablePtr& table);

void Catalog::load_schemas() {
  for_each_record(
      engine_, tree_, kind_prefix(database_, RecordKind::schema), [&](Oid oid, Bytes value) {
        put_indexed<Schema>(oid, read_record<Schema>(shared_.definition_memory(), value));
      });
  if (!engine_.salvages()) return;
  for (const Schema& schema : first_schemas()) {
    if (find_or_null(schemas_, schema.oid) == nullptr)
      put_indexed<Schema>(schema.oid, std::make_shared<const Schema>(schema));
  }
}

NotedType note_user_type(const UserType& type, Oid default_of_database) {
  Oid collation = type.collation != kNoOid ? type.collation : default_collation(type.base);
  if (collation == collation_id::by_default) collation = default_of_database;
  const bool is_collated = collation != kNoOid && !is_plain_collation(collation);
  const TypeId base = follows_database(type.base) ? in_database(type.base, default_of_database)
                      : is_collated               ? with_collation(type.base, collation)
                                                  : type.base;
  if (is_domain(type.id())) note_domain(type.id(), {base, type.base_typmod});
  if (is_user_range(type.id())) note_range(type.id(), base);
  return {type.id(), {quote_identifier(type.name), type.labels, {}}};
}

TypePtr registered(const TypePtr& type, Oid default_of_database) {
  struct Both {
    TypePtr type;
    NotedType name;
  };
  if (!type) return type;
  const auto both =
      std::make_shared<const Both>(Both{type, note_user_type(*type, default_of_database)});
  return std::shared_ptr<const UserType>{both, type.get()};
}

void note_user_collation(const UserCollation& collation) {
  CollationRule rule;
  rule.deterministic = collation.deterministic;
  if (collation.provider == 'i') rule.locale = icu_rule_of(collation.locale);
  if (collation.provider == 'b') {
    rule.letters = collation.locale == "C.UTF-8"           ? Letters::c_utf8
                   : collation.locale == "PG_UNICODE_FAST" ? Letters::unicode
                                                           : Letters::ascii;
  }
  note_collation(collation.oid, std::move(rule));
}

void Catalog::load_types() {
  for_each_record(engine_, tree_, kind_prefix(database_, RecordKind::user_type),
                  [&](Oid oid, Bytes value) {
                    put_type(oid, read_record<UserType>(shared_.definition_memory(), value));
                  });
}

template <class Object>
std::vector<CheckedShared<const Object>> Catalog::naming(Oid named) {
  if constexpr (std::is_same_v<Object, Table>) become_whole();
  const std::shared_lock lock{mutex_};
  std::vector<CheckedShared<const Object>> found;
  for (const Oid by : dependencies_.naming(kKindOf<Object>, named)) {
    found.push_back(map_of<Object>(*this).at(by));
  }
  return found;
}
template std::vector<TablePtr> Catalog::naming<Table>(Oid named);
template std::vector<SchemaPtr> Catalog::naming<Schema>(Oid named);
template std::vector<TypePtr> Catalog::naming<UserType>(Oid named);
template std::vector<RoutinePtr> Catalog::naming<Routine>(Oid named);
template std::vector<OperatorPtr> Catalog::naming<UserOperator>(Oid named);
template std::vector<CastPtr> Catalog::naming<UserCast>(Oid named);
template std::vector<ExtensionPtr> Catalog::naming<Extension>(Oid named);
template std::vector<CollationPtr> Catalog::naming<UserCollation>(Oid named);
template std::vector<PublicationPtr> Catalog::naming<Publication>(Oid named);
template std::vector<UserTextDictionaryPtr> Catalog::naming<UserTextDictionary>(Oid named);
template std::vector<UserTextConfigPtr> Catalog::naming<UserTextConfig>(Oid named);
template std::vector<EventTriggerPtr> Catalog::naming<EventTrigger>(Oid named);

void Catalog::put_type(Oid oid, const TypePtr& type) {
  if (const TypePtr old = find_or_null(types_, oid)) {
    // Erase the name only if it still refers to this type: another one may have got it meanwhile.
    const auto known = type_names_.find(NameKey{old->schema, old->name});
    if (known != type_names_.end() && known->second == oid) type_names_.erase(known);
  }
  put_indexed<UserType>(oid, registered(type, default_collation_));
  if (type) type_names_[NameKey{type->schema, type->name}] = oid;
}

TypePtr Catalog::type(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(types_, oid);
}
TypePtr Catalog::type(Oid schema, std::string_view name) const {
  const std::shared_lock lock{mutex_};
  const auto found = type_names_.find(NameKey{schema, name});
  return found == type_names_.end() ? nullptr : types_.at(found->second);
}
std::vector<TypePtr> Catalog::types() const {
  const std::shared_lock lock{mutex_};
  return values_of(types_);
}

void Catalog::load_routines() {
  std::vector<Routine> leftovers;
  for_each_record(engine_, tree_, kind_prefix(database_, RecordKind::routine),
                  [&](Oid oid, Bytes value) {
                    auto routine = read_record<Routine>(shared_.definition_memory(), value);
                    // Temporary, since the schema has no record. Its session is gone.
                    const bool is_temporary = find_or_null(schemas_, routine->schema) == nullptr;
                    if (is_temporary && !engine_.salvages()) {
                      leftovers.push_back(*routine);
                    } else {
                      put_routine(oid, std::move(routine));
                    }
                  });
  if (!engine_.is_standby()) drop_routines(engine_, tree_, database_, leftovers);
}

namespace {

constexpr RecordKind record_of(const UserOperator*) {
  return RecordKind::user_operator;
}
constexpr RecordKind record_of(const UserCast*) {
  return RecordKind::user_cast;
}
constexpr RecordKind record_of(const UserCollation*) {
  return RecordKind::user_collation;
}
constexpr RecordKind record_of(const Extension*) {
  return RecordKind::extension;
}
constexpr RecordKind record_of(const Publication*) {
  return RecordKind::publication;
}
constexpr RecordKind record_of(const UserTextDictionary*) {
  return RecordKind::user_text_dictionary;
}
constexpr RecordKind record_of(const UserTextConfig*) {
  return RecordKind::user_text_config;
}
constexpr RecordKind record_of(const EventTrigger*) {
  return RecordKind::event_trigger;
}

}  // namespace

template <class Object>
void Catalog::load_made() {
  const Object* const kind = nullptr;
  for_each_record(
      engine_, tree_, kind_prefix(database_, record_of(kind)), [&](Oid oid, Bytes value) {
        put_indexed<Object>(oid, read_record<Object>(shared_.definition_memory(), value));
      });
}

template <class Object>
CheckedShared<const Object> Catalog::made(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(std::get<Made<Object>>(made_), oid);
}
template <class Object>
std::vector<CheckedShared<const Object>> Catalog::all_made() const {
  const std::shared_lock lock{mutex_};
  return values_of(std::get<Made<Object>>(made_));
}
template OperatorPtr Catalog::made<UserOperator>(Oid oid) const;
template CastPtr Catalog::made<UserCast>(Oid oid) const;
template ExtensionPtr Catalog::made<Extension>(Oid oid) const;
template CollationPtr Catalog::made<UserCollation>(Oid oid) const;
template std::vector<OperatorPtr> Catalog::all_made<UserOperator>() const;
template std::vector<CastPtr> Catalog::all_made<UserCast>() const;
template std::vector<ExtensionPtr> Catalog::all_made<Extension>() const;
template std::vector<CollationPtr> Catalog::all_made<UserCollation>() const;
template PublicationPtr Catalog::made<Publication>(Oid oid) const;
template std::vector<PublicationPtr> Catalog::all_made<Publication>() const;
template UserTextDictionaryPtr Catalog::made<UserTextDictionary>(Oid oid) const;
template std::vector<UserTextDictionaryPtr> Catalog::all_made<UserTextDictionary>() const;
template UserTextConfigPtr Catalog::made<UserTextConfig>(Oid oid) const;
template std::vector<UserTextConfigPtr> Catalog::all_made<UserTextConfig>() const;
template EventTriggerPtr Catalog::made<EventTrigger>(Oid oid) const;
template std::vector<EventTriggerPtr> Catalog::all_made<EventTrigger>() const;

std::string constant_record(TypeId type, std::string_view text) {
  std::string record(1, kNoRoutine);
  return record.append(type_info(type).name).append(" ").append(text);
}

std::string operator_record(std::string_view name) {
  return std::string(1, kNoRoutine).append("operator ").append(name);
}
bool is_operator_record(std::string_view record) {
  return record.starts_with(operator_record(""));
}
std::string cast_record(TypeId source, TypeId target) {
  return std::string(1, kNoRoutine).append("cast ").append(cast_name(source, target));
}

std::string record_of_old(std::string name) {
  const std::string_view word = std::string_view{name}.substr(0, name.find(' '));
  if (word.size() == name.size()) return name;
  const Type* const type = word.starts_with("reg") ? find_type(word) : nullptr;
  const bool is_constant = type != nullptr && is_object_id(type->id);
  if (word == "operator" || word == "cast" || is_constant) name.insert(0, 1, kNoRoutine);
  return name;
}

TypeId constant_of_record(std::string_view record) {
  const std::size_t end = record.find(' ');
  if (end == std::string_view::npos || !record.starts_with(kNoRoutine)) return TypeId::none;
  const Type* type = find_type(record.substr(1, end - 1));
  return type != nullptr && is_object_id(type->id) ? type->id : TypeId::none;
}

std::string cast_name(TypeId source, TypeId target) {
  return fmt::format("{} {}", raw(source), raw(target));
}

void Catalog::put_routine(Oid oid, const RoutinePtr& routine) {
  if (const RoutinePtr old = find_or_null(routines_, oid)) {
    const auto [first, last] = routine_names_.equal_range(old->name);
    for (auto at = first; at != last; ++at) {
      if (at->second != old) continue;
      routine_names_.erase(at);
      break;
    }
  }
  put_indexed<Routine>(oid, routine);
  if (routine) routine_names_.emplace(routine->name, routine);
}

RoutinePtr Catalog::routine(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(routines_, oid);
}
std::vector<RoutinePtr> Catalog::routines_named(std::string_view name) const {
  const std::shared_lock lock{mutex_};
  std::vector<RoutinePtr> found;
  const auto [first, last] = routine_names_.equal_range(name);
  for (auto at = first; at != last; ++at) found.push_back(at->second);
  return found;
}
std::vector<RoutinePtr> Catalog::routines() const {
  const std::shared_lock lock{mutex_};
  return values_of(routines_);
}

SchemaPtr Catalog::schema(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(schemas_, oid);
}
SchemaPtr Catalog::schema(std::string_view name) const {
  const std::shared_lock lock{mutex_};
  return find_by_name(schemas_, name);
}
std::vector<SchemaPtr> Catalog::schemas() const {
  const std::shared_lock lock{mutex_};
  return values_of(schemas_);
}

void Catalog::apply(std::span<const CatalogChange> changes) {
  const std::unique_lock lock{mutex_};
  for (const CatalogChange& change : changes) put(change);
  absent_.clear();
  absent_names_.clear();
  // release: publishes the changes in the maps with the new number.
  version_.fetch_add(1, std::memory_order_release);
}

void Catalog::put(const CatalogChange& change) {
  if (const auto* schema = std::get_if<SchemaPtr>(&change.object)) {
    put_indexed<Schema>(change.oid, *schema);
  } else if (const auto* type = std::get_if<TypePtr>(&change.object)) {
    put_type(change.oid, *type);
  } else if (const auto* routine = std::get_if<RoutinePtr>(&change.object)) {
    put_routine(change.oid, *routine);
  } else if (const auto* role = std::get_if<RolePtr>(&change.object)) {
    shared_.put(change.oid, *role);
  } else if (const auto* database = std::get_if<DatabasePtr>(&change.object)) {
    shared_.put(change.oid, *database);
  } else if (const auto* op = std::get_if<OperatorPtr>(&change.object)) {
    put_indexed<UserOperator>(change.oid, *op);
  } else if (const auto* cast = std::get_if<CastPtr>(&change.object)) {
    put_indexed<UserCast>(change.oid, *cast);
  } else if (const auto* collation = std::get_if<CollationPtr>(&change.object)) {
    put_indexed<UserCollation>(change.oid, *collation);
    if (*collation) note_user_collation(**collation);
  } else if (const auto* extension = std::get_if<ExtensionPtr>(&change.object)) {
    put_indexed<Extension>(change.oid, *extension);
  } else if (const auto* publication = std::get_if<PublicationPtr>(&change.object)) {
    put_indexed<Publication>(change.oid, *publication);
  } else if (const auto* dictionary = std::get_if<UserTextDictionaryPtr>(&change.object)) {
    put_indexed<UserTextDictionary>(change.oid, *dictionary);
  } else if (const auto* config = std::get_if<UserTextConfigPtr>(&change.object)) {
    put_indexed<UserTextConfig>(change.oid, *config);
  } else if (const auto* trigger = std::get_if<EventTriggerPtr>(&change.object)) {
    put_indexed<EventTrigger>(change.oid, *trigger);
  } else {
    put_table(change, std::get<TablePtr>(change.object));
  }
}

void Catalog::put_table(const CatalogChange& change, const TablePtr& table) {
  if (!table && readers_ > 0) dropped_.insert(change.oid);
  const auto old = tables_.find(change.oid);
  if (old == tables_.end()) {
    // A later transaction that was published earlier has dropped it.
    if (!table || !change.created) return;
  } else {
    // Transactions may publish in another order than they committed: keep the newer version.
    if (table && old->second->version > table->version) return;
    forget(old->second->relation);
    if (!table) rows_of_dropped_.add(old->second->runtime->counters);
    put_indexed<Table>(change.oid, TablePtr{});
  }
  if (table) add(table);
}

void Catalog::load() {
  set_default_collation();
  load_schemas();
  load_made<UserCollation>();
  for (const CollationPtr& collation : all_made<UserCollation>()) note_user_collation(*collation);
  load_types();
  load_routines();
  load_made<UserOperator>();
  load_made<UserCast>();
  load_made<Extension>();
  load_made<Publication>();
  load_made<UserTextDictionary>();
  load_made<UserTextConfig>();
  load_made<EventTrigger>();
}

void Catalog::open_promoted(const Tree& tree) {
  tree_ = tree;
  drop_leftovers(engine_, tree_, database_);
  read_again();
}

void Catalog::read_again() {
  {
    const std::unique_lock lock{mutex_};
    tables_.clear();
    table_names_.clear();
    index_names_.clear();
    schemas_.clear();
    types_.clear();
    type_names_.clear();
    routines_.clear();
    routine_names_.clear();
    made_ = {};
    dependencies_ = {};
    is_whole_ = false;
    absent_.clear();
    absent_names_.clear();
    references_.clear();
    knows_references_of_.clear();
  }
  load();
  // release: publishes the maps with the new number.
  version_.fetch_add(1, std::memory_order_release);
}

}  // namespace swizzle::sql
