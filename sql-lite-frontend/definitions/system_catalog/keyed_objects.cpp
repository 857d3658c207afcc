#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"

#include <algorithm>

#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

Oid number_of_keyed(const Table& table) {
  return table.relation.oid;
}
template <class Object>
Oid number_of_keyed(const Object& object) {
  return object.oid;
}

template <class Ptr>
std::vector<Ptr> each_once(std::vector<Ptr> objects) {
  std::erase(objects, nullptr);
  const auto number = [](const Ptr& object) { return number_of_keyed(*object); };
  std::ranges::sort(objects, {}, number);
  const auto repeated = std::ranges::unique(objects, {}, number);
  objects.erase(repeated.begin(), repeated.end());
  return objects;
}

/// Returns the number, and for an array type that of its element type.
NamedObjects with_element(Oid number) {
  return {number, raw(without_array(TypeId{number}))};
}

/// Calls `visit` with each schema in which a relation or type may have that name, and the name. The
/// name of an array type is "_" and its element type's name.
template <class Visit>
void for_each_place(StatementContext& session, std::string_view name, const Visit& visit) {
  std::vector<std::string_view> names{name};
  if (name.starts_with('_')) names.push_back(name.substr(1));
  for (const std::string_view one : names) {
    for (const SchemaPtr& schema : session.catalog.schemas()) visit(schema->oid, one);
    if (session.names.temp_schema != kNoOid) visit(session.names.temp_schema, one);
  }
}

}  // namespace

std::vector<TablePtr> tables_for(StatementContext& session, const RowKey& key) {
  if (!key.name.empty()) {
    std::vector<TablePtr> found;
    for_each_place(session, key.name, [&](Oid schema, std::string_view name) {
      found.push_back(session.catalog.table(schema, name));
      found.push_back(session.catalog.table_of_index(schema, name));
    });
    return each_once(std::move(found));
  }
  if (key.number == kNoOid) return session.catalog.tables();
  std::vector<TablePtr> found = session.catalog.naming<Table>(with_element(key.number));
  found.push_back(session.catalog.table(key.number));
  const TypeId rows = without_array(TypeId{key.number});
  if (is_composite(rows)) found.push_back(session.catalog.table(raw(rows) - kFirstComposite));
  return each_once(std::move(found));
}

std::vector<TypePtr> types_for(StatementContext& session, const RowKey& key) {
  if (!key.name.empty()) {
    std::vector<TypePtr> found;
    for_each_place(session, key.name, [&](Oid schema, std::string_view name) {
      found.push_back(session.catalog.type(schema, name));
    });
    return each_once(std::move(found));
  }
  if (key.number == kNoOid) return session.catalog.types();
  std::vector<TypePtr> found = session.catalog.naming<UserType>(with_element(key.number));
  found.push_back(session.catalog.type(key.number));
  found.push_back(session.catalog.type(raw(without_array(TypeId{key.number}))));
  return each_once(std::move(found));
}

std::vector<RoutinePtr> routines_for(StatementContext& session, const RowKey& key) {
  if (key.number == kNoOid) return session.catalog.routines();
  std::vector<RoutinePtr> found = session.catalog.naming<Routine>(with_element(key.number));
  found.push_back(session.catalog.routine(key.number));
  return each_once(std::move(found));
}

std::vector<TablePtr> tables_for_dependency(StatementContext& session, const RowKey& key) {
  if (key.number == kNoOid) return session.catalog.tables();
  std::vector<TablePtr> found = tables_for(session, key);
  // Foreign keys depend on another table's index, and views on its key.
  NamedObjects owners;
  for (const TablePtr& table : session.catalog.naming<Table>({key.number}))
    owners.push_back(table->relation.oid);
  std::ranges::move(session.catalog.naming<Table>(owners), std::back_inserter(found));
  std::ranges::move(tables_with_part(session, key.number), std::back_inserter(found));
  return each_once(std::move(found));
}

std::vector<TablePtr> tables_with_part(StatementContext& session, Oid number) {
  std::vector<TablePtr> found = session.catalog.naming<Table>({number});
  // A column default's number is its table's plus the column's.
  for (Oid behind = 0; behind <= kMostTableColumns && behind < number; ++behind)
    found.push_back(session.catalog.table(number - behind));
  return each_once(std::move(found));
}

}  // namespace swizzle::sql
