// View of a transaction on the catalog: its own changes on top of the committed state.
#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/named_objects.h"

namespace swizzle::sql {

template <class Ptr>
const Ptr* CatalogView::own(Oid oid) const {
  if (const Ptr* object = changes_.last<Ptr>(oid)) return object;
  if (const auto found = temporary_.find(oid); found != temporary_.end()) {
    return std::get_if<Ptr>(&found->second.object);
  }
  return nullptr;
}

template <class Ptr>
std::vector<Ptr> CatalogView::merged(std::vector<Ptr> shared) const {
  const bool is_table = std::is_same_v<Ptr, TablePtr>;
  const bool has_own = changes_.has_any<std::remove_const_t<typename Ptr::element_type>>();
  if (!has_own && !(is_table && !temporary_.empty())) return shared;
  std::map<Oid, Ptr> all;
  for (Ptr& object : shared) {
    Oid oid = kNoOid;
    if constexpr (std::is_same_v<Ptr, TablePtr>) {
      oid = object->relation.oid;
    } else {
      oid = object->oid;
    }
    all[oid] = std::move(object);
  }
  const auto overlay = [&](const CatalogChange& change) {
    if (const auto* object = std::get_if<Ptr>(&change.object)) all[change.oid] = *object;
  };
  for (const auto& [oid, change] : temporary_) overlay(change);
  for (const CatalogChange& change : changes_) overlay(change);
  std::vector<Ptr> list;
  for (auto& [oid, object] : all) {
    if (object) list.push_back(std::move(object));
  }
  return list;
}

TablePtr CatalogView::table(Oid oid) const {
  if (const TablePtr* mine = own<TablePtr>(oid)) return *mine;
  return catalog_.table(oid);
}

TablePtr CatalogView::table(Oid schema, std::string_view name) const {
  const auto matches = [&](const CatalogChange& change) {
    const auto* table = std::get_if<TablePtr>(&change.object);
    return table != nullptr && *table && (*table)->relation.schema == schema &&
           (*table)->relation.name == name && *own<TablePtr>(change.oid) == *table;
  };
  for (const ChangeList::Place place : changes_.named(name) | std::views::reverse) {
    if (matches(changes_[place])) return std::get<TablePtr>(changes_[place].object);
  }
  for (const auto& [oid, change] : temporary_) {
    if (matches(change)) return std::get<TablePtr>(change.object);
  }
  TablePtr shared = catalog_.table(schema, name);
  if (shared && own<TablePtr>(shared->relation.oid) != nullptr) return nullptr;
  return shared;
}

TablePtr CatalogView::table_of_index(Oid schema, std::string_view index) const {
  const auto matches = [&](const CatalogChange& change) {
    const auto* table = std::get_if<TablePtr>(&change.object);
    return table != nullptr && *table && (*table)->relation.schema == schema &&
           std::ranges::count((*table)->relation.indexes, index, &Index::name) != 0 &&
           *own<TablePtr>(change.oid) == *table;
  };
  for (const ChangeList::Place place : changes_.named(index) | std::views::reverse) {
    if (matches(changes_[place])) return std::get<TablePtr>(changes_[place].object);
  }
  for (const auto& [oid, change] : temporary_) {
    if (matches(change)) return std::get<TablePtr>(change.object);
  }
  TablePtr shared = catalog_.table_of_index(schema, index);
  if (shared && own<TablePtr>(shared->relation.oid) != nullptr) return nullptr;
  return shared;
}

std::vector<TablePtr> CatalogView::referencing_tables(Oid referenced) const {
  std::set<Oid> candidates;
  for (const Oid oid : catalog_.referencing(referenced)) candidates.insert(oid);
  for (const ChangeList::Place place : changes_.naming(referenced)) {
    candidates.insert(changes_[place].oid);
  }
  for (const Oid oid : temporary_names_.naming(kKindOf<Table>, referenced)) candidates.insert(oid);
  candidates.insert(referenced);
  std::vector<TablePtr> tables;
  for (const Oid oid : candidates) {
    const TablePtr table = this->table(oid);
    if (!table) continue;
    const bool refers =
        std::ranges::any_of(table->relation.constraints, [&](const Constraint& constraint) {
          return constraint.kind == ConstraintKind::foreign_key &&
                 constraint.referenced_table == referenced;
        });
    if (refers) tables.push_back(table);
  }
  return tables;
}

namespace {

Oid number_of(const Table& table) {
  return table.relation.oid;
}
template <class Object>
Oid number_of(const Object& object) {
  return object.oid;
}

template <class Object>
bool names_any(const Object& object, const NamedObjects& named) {
  const NamedObjects keys = dependency_keys(object);
  return std::ranges::any_of(named, [&](Oid oid) { return std::ranges::binary_search(keys, oid); });
}

}  // namespace

template <class Object>
std::vector<CheckedShared<const Object>> CatalogView::naming(const NamedObjects& named) const {
  using Ptr = CheckedShared<const Object>;
  std::vector<Ptr> found;
  const auto add_own = [&](Oid oid) {
    const Ptr* const object = own<Ptr>(oid);
    if (object != nullptr && *object && names_any(**object, named)) found.push_back(*object);
  };
  for (const Oid oid : named) {
    for (Ptr& object : catalog_.naming<Object>(oid)) {
      if (own<Ptr>(number_of(*object)) == nullptr) found.push_back(std::move(object));
    }
    for (const ChangeList::Place place : changes_.naming(oid)) add_own(changes_[place].oid);
    for (const Oid by : temporary_names_.naming(kKindOf<Object>, oid)) add_own(by);
  }
  const auto number = [](const Ptr& object) { return number_of(*object); };
  std::ranges::sort(found, {}, number);
  const auto repeated = std::ranges::unique(found, {}, number);
  found.erase(repeated.begin(), repeated.end());
  return found;
}
template std::vector<TablePtr> CatalogView::naming<Table>(const NamedObjects& named) const;
template std::vector<SchemaPtr> CatalogView::naming<Schema>(const NamedObjects& named) const;
template std::vector<TypePtr> CatalogView::naming<UserType>(const NamedObjects& named) const;
template std::vector<RoutinePtr> CatalogView::naming<Routine>(const NamedObjects& named) const;
template std::vector<OperatorPtr> CatalogView::naming<UserOperator>(
    const NamedObjects& named) const;
template std::vector<CastPtr> CatalogView::naming<UserCast>(const NamedObjects& named) const;
template std::vector<ExtensionPtr> CatalogView::naming<Extension>(const NamedObjects& named) const;
template std::vector<CollationPtr> CatalogView::naming<UserCollation>(
    const NamedObjects& named) const;
template std::vector<PublicationPtr> CatalogView::naming<Publication>(
    const NamedObjects& named) const;
template std::vector<UserTextDictionaryPtr> CatalogView::naming<UserTextDictionary>(
    const NamedObjects& named) const;
template std::vector<UserTextConfigPtr> CatalogView::naming<UserTextConfig>(
    const NamedObjects& named) const;
template std::vector<EventTriggerPtr> CatalogView::naming<EventTrigger>(
    const NamedObjects& named) const;

std::vector<TablePtr> CatalogView::sequences_of(Oid table) const {
  std::vector<TablePtr> found = naming<Table>({table});
  std::erase_if(found, [table](const TablePtr& one) {
    return !one->relation.sequence || one->relation.sequence->owner_table != table;
  });
  return found;
}

TablePtr CatalogView::table_with_index(Oid index) const {
  for (TablePtr& table : naming<Table>({index})) {
    if (table->index_by_oid(index) != nullptr) return std::move(table);
  }
  return nullptr;
}

bool CatalogView::has_new_rows(const Table& table) const {
  const Oid oid = table.relation.oid;
  const auto temporary = temporary_.find(oid);
  const TablePtr before = temporary != temporary_.end()
                              ? std::get<TablePtr>(temporary->second.object)
                              : catalog_.table(oid);
  return !before || before->relation.tree != table.relation.tree;
}

SchemaPtr CatalogView::schema(Oid oid) const {
  if (const SchemaPtr* mine = own<SchemaPtr>(oid)) return *mine;
  return catalog_.schema(oid);
}
TypePtr CatalogView::type(Oid oid) const {
  if (const TypePtr* mine = own<TypePtr>(oid)) return *mine;
  return catalog_.type(oid);
}
RoutinePtr CatalogView::routine(Oid oid) const {
  if (const RoutinePtr* mine = own<RoutinePtr>(oid)) return *mine;
  return catalog_.routine(oid);
}
template <class Object>
CheckedShared<const Object> CatalogView::made(Oid oid) const {
  using Ptr = CheckedShared<const Object>;
  if (const Ptr* mine = own<Ptr>(oid)) return *mine;
  return catalog_.made<Object>(oid);
}
template <class Object>
std::vector<CheckedShared<const Object>> CatalogView::all_made() const {
  return merged(catalog_.all_made<Object>());
}
template OperatorPtr CatalogView::made<UserOperator>(Oid oid) const;
template CastPtr CatalogView::made<UserCast>(Oid oid) const;
template ExtensionPtr CatalogView::made<Extension>(Oid oid) const;
template CollationPtr CatalogView::made<UserCollation>(Oid oid) const;
template std::vector<OperatorPtr> CatalogView::all_made<UserOperator>() const;
template std::vector<CastPtr> CatalogView::all_made<UserCast>() const;
template std::vector<ExtensionPtr> CatalogView::all_made<Extension>() const;
template std::vector<CollationPtr> CatalogView::all_made<UserCollation>() const;
template PublicationPtr CatalogView::made<Publication>(Oid oid) const;
template std::vector<PublicationPtr> CatalogView::all_made<Publication>() const;
template UserTextDictionaryPtr CatalogView::made<UserTextDictionary>(Oid oid) const;
template std::vector<UserTextDictionaryPtr> CatalogView::all_made<UserTextDictionary>() const;
template UserTextConfigPtr CatalogView::made<UserTextConfig>(Oid oid) const;
template std::vector<UserTextConfigPtr> CatalogView::all_made<UserTextConfig>() const;
template EventTriggerPtr CatalogView::made<EventTrigger>(Oid oid) const;
template std::vector<EventTriggerPtr> CatalogView::all_made<EventTrigger>() const;

CatalogObject CatalogView::before(std::size_t mark, const CatalogChange& change) const {
  const auto is_same = [&](const CatalogChange& other) {
    return other.oid == change.oid && other.object.index() == change.object.index();
  };
  for (std::size_t i = std::min(mark, changes_.size()); i-- > 0;) {
    if (is_same(changes_[i])) return changes_[i].object;
  }
  const auto temporary = temporary_.find(change.oid);
  if (temporary != temporary_.end() && is_same(temporary->second)) return temporary->second.object;
  return std::visit(
      [&]<class Object>(const CheckedShared<const Object>&) -> CatalogObject {
        if constexpr (std::is_same_v<Object, Table>) {
          return catalog_.table(change.oid);
        } else if constexpr (std::is_same_v<Object, Schema>) {
          return catalog_.schema(change.oid);
        } else if constexpr (std::is_same_v<Object, UserType>) {
          return catalog_.type(change.oid);
        } else if constexpr (std::is_same_v<Object, Routine>) {
          return catalog_.routine(change.oid);
        } else if constexpr (std::is_same_v<Object, Role>) {
          return catalog_.shared_objects().role(change.oid);
        } else if constexpr (std::is_same_v<Object, DatabaseEntry>) {
          return catalog_.shared_objects().database(change.oid);
        } else {
          return catalog_.made<Object>(change.oid);
        }
      },
      change.object);
}

std::vector<CatalogChange> CatalogView::changes_since(std::size_t mark) const {
  std::vector<CatalogChange> list;
  for (std::size_t i = mark; i < changes_.size(); ++i) list.push_back(changes_[i]);
  return list;
}

std::vector<Extension::Member> CatalogView::made_since(std::size_t mark) const {
  std::vector<Extension::Member> members;
  for (std::size_t i = mark; i < changes_.size(); ++i) {
    const CatalogChange& change = changes_[i];
    if (!change.created) continue;
    Oid catalog = kNoOid;
    bool is_there = false;
    std::visit(
        [&]<class Ptr>(const Ptr&) {
          const Ptr* now = own<Ptr>(change.oid);
          is_there = now != nullptr && *now;
          if constexpr (std::is_same_v<Ptr, TablePtr>) catalog = class_id::pg_class;
          if constexpr (std::is_same_v<Ptr, TypePtr>) catalog = class_id::pg_type;
          if constexpr (std::is_same_v<Ptr, RoutinePtr>) catalog = class_id::pg_proc;
          if constexpr (std::is_same_v<Ptr, OperatorPtr>) catalog = class_id::pg_operator;
          if constexpr (std::is_same_v<Ptr, CastPtr>) catalog = class_id::pg_cast;
          if constexpr (std::is_same_v<Ptr, CollationPtr>) catalog = class_id::pg_collation;
          if constexpr (std::is_same_v<Ptr, UserTextDictionaryPtr>) catalog = class_id::pg_ts_dict;
          if constexpr (std::is_same_v<Ptr, UserTextConfigPtr>) catalog = class_id::pg_ts_config;
        },
        change.object);
    if (is_there && catalog != kNoOid) members.push_back({catalog, change.oid});
  }
  return members;
}

RolePtr CatalogView::role(Oid oid) const {
  if (const RolePtr* mine = own<RolePtr>(oid)) return *mine;
  return catalog_.shared_objects().role(oid);
}
DatabasePtr CatalogView::database(Oid oid) const {
  if (const DatabasePtr* mine = own<DatabasePtr>(oid)) return *mine;
  return catalog_.shared_objects().database(oid);
}

namespace {

template <class Ptr>
Ptr named(const std::vector<Ptr>& list, std::string_view name) {
  for (const Ptr& object : list) {
    if (object->name == name) return object;
  }
  return nullptr;
}

}  // namespace

SchemaPtr CatalogView::schema(std::string_view name) const {
  for (const ChangeList::Place place : changes_.named(name)) {
    const SchemaPtr* const schema = own<SchemaPtr>(changes_[place].oid);
    if (schema != nullptr && *schema && (*schema)->name == name) return *schema;
  }
  SchemaPtr shared = catalog_.schema(name);
  return shared && own<SchemaPtr>(shared->oid) != nullptr ? nullptr : shared;
}
TypePtr CatalogView::type(Oid schema, std::string_view name) const {
  for (const ChangeList::Place place : changes_.named(name)) {
    const TypePtr* const type = own<TypePtr>(changes_[place].oid);
    if (type != nullptr && *type && (*type)->schema == schema && (*type)->name == name)
      return *type;
  }
  TypePtr shared = catalog_.type(schema, name);
  return shared && own<TypePtr>(shared->oid) != nullptr ? nullptr : shared;
}
std::vector<RoutinePtr> CatalogView::routines_named(std::string_view name) const {
  std::vector<RoutinePtr> found = catalog_.routines_named(name);
  if (changes_.empty()) return found;
  std::erase_if(found, [&](const RoutinePtr& one) { return own<RoutinePtr>(one->oid) != nullptr; });
  for (const ChangeList::Place place : changes_.named(name)) {
    const RoutinePtr* const routine = own<RoutinePtr>(changes_[place].oid);
    if (routine != nullptr && *routine && (*routine)->name == name) found.push_back(*routine);
  }
  std::ranges::sort(found, {}, [](const RoutinePtr& one) { return one->oid; });
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}
ExtensionPtr CatalogView::extension(std::string_view name) const {
  return named(all_made<Extension>(), name);
}
CollationPtr CatalogView::collation(Oid schema, std::string_view name) const {
  return made_named<UserCollation>(schema, name);
}
template <class Object>
CheckedShared<const Object> CatalogView::made_named(Oid schema, std::string_view name) const {
  for (const CheckedShared<const Object>& object : all_made<Object>()) {
    if (object->schema == schema && object->name == name) return object;
  }
  return nullptr;
}
template UserTextDictionaryPtr CatalogView::made_named<UserTextDictionary>(
    Oid schema, std::string_view name) const;
template UserTextConfigPtr CatalogView::made_named<UserTextConfig>(Oid schema,
                                                                   std::string_view name) const;
EventTriggerPtr CatalogView::event_trigger(std::string_view name) const {
  return named(all_made<EventTrigger>(), name);
}
PublicationPtr CatalogView::publication(std::string_view name) const {
  return named(all_made<Publication>(), name);
}
RolePtr CatalogView::role(std::string_view name) const {
  return changes_.empty() ? catalog_.shared_objects().role(name) : named(roles(), name);
}
DatabasePtr CatalogView::database(std::string_view name) const {
  return changes_.empty() ? catalog_.shared_objects().database(name) : named(databases(), name);
}
std::vector<TablePtr> CatalogView::tables() const {
  return merged(catalog_.tables());
}
std::vector<SchemaPtr> CatalogView::schemas() const {
  return merged(catalog_.schemas());
}
std::vector<TypePtr> CatalogView::types() const {
  return merged(catalog_.types());
}
std::vector<RoutinePtr> CatalogView::routines() const {
  return merged(catalog_.routines());
}
std::vector<RolePtr> CatalogView::roles() const {
  return merged(catalog_.shared_objects().roles());
}
std::vector<DatabasePtr> CatalogView::databases() const {
  return merged(catalog_.shared_objects().databases());
}

}  // namespace swizzle::sql
