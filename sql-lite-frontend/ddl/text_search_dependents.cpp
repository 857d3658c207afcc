// What depends on text search dictionaries and configurations.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/ddl/text_search.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

void add_once(std::vector<Dependent>& list, Dependent dependent) {
  if (std::ranges::find(list, dependent.name, &Dependent::name) == list.end())
    list.push_back(std::move(dependent));
}

/// Those whose definitions have an object's number as a constant; each once.
class NamingDefinitions {
 public:
  NamingDefinitions(Session::State& session, TypeId type, Oid oid, std::string on)
      : session_(session),
        oid_(oid),
        stored_(fmt::format("'{}'::{}", oid, cast_target(type))),
        on_(std::move(on)) {}

  void collect(std::vector<Dependent>& list) {
    std::vector<std::pair<TablePtr, std::size_t>> columns;
    std::vector<TablePtr> views;
    for (const TablePtr& table : session_.catalog.tables()) {
      if (!has_query(table->relation.kind)) {
        of_table(table, list, columns);
      } else if (is_named_in(table->relation.view_routines)) {
        add_once(list, {Kind::view, table, kNoOid, 0, described(session_, *table), on_});
        views.push_back(table);
      }
    }
    for (const TypePtr& type : session_.catalog.types()) {
      for (const DomainCheck& check : type->checks) {
        if (names_it(check.sql))
          add_once(list,
                   {Kind::constraint, nullptr, check.oid, 0, "constraint " + check.name, on_});
      }
    }
    std::vector<RoutinePtr> routines;
    for (const RoutinePtr& routine : session_.catalog.routines()) {
      const bool in_default = std::ranges::any_of(
          routine->parameters,
          [&](const RoutineParameter& parameter) { return names_it(parameter.default_sql); });
      if (!in_default && !is_named_in(routine->body_routines)) continue;
      add_once(list, {Kind::routine, nullptr, routine->oid, 0, described(session_, *routine), on_});
      routines.push_back(routine);
    }
    for (const auto& [table, position] : columns) {
      for (Dependent& dependent : dependents_of_column(session_, table, position))
        add_once(list, std::move(dependent));
    }
    for (Dependent& dependent : dependents_of_routines(session_, routines))
      add_once(list, std::move(dependent));
    for (const TablePtr& view : views) {
      for (Dependent& dependent : dependents_of(session_, std::span{&view, 1}))
        add_once(list, std::move(dependent));
    }
  }

 private:
  [[nodiscard]] bool names_it(std::string_view sql) const { return sql.contains(stored_); }
  [[nodiscard]] bool is_named_in(const std::vector<ViewRoutine>& named) const {
    return std::ranges::find(named, oid_, &ViewRoutine::routine) != named.end();
  }

  void of_table(const TablePtr& table, std::vector<Dependent>& list,
                std::vector<std::pair<TablePtr, std::size_t>>& columns) {
    const Relation& relation = table->relation;
    const std::string name = session_.names.name_of(TypeId::regclass, relation.oid).value_or("");
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      if (column.dropped || !names_it(column.default_sql)) continue;
      const std::string shown = fmt::format("column {} of table {}", column.name, name);
      if (column.generated) {
        add_once(list, {Kind::column, table, kNoOid, i, shown, on_});
        columns.emplace_back(table, i);
      } else {
        add_once(list, {Kind::default_value, table, kNoOid, i, "default value for " + shown, on_});
      }
    }
    for (const Constraint& constraint : relation.constraints) {
      if (!names_it(constraint.check_sql)) continue;
      add_once(list, {Kind::constraint, table, constraint.oid, 0,
                      fmt::format("constraint {} on table {}", constraint.name, name), on_});
    }
    for (const Index& index : relation.indexes) {
      const bool uses = names_it(index.predicate_sql) ||
                        std::ranges::any_of(index.columns, [&](const IndexColumn& column) {
                          return names_it(column.expression_sql);
                        });
      if (uses)
        add_once(list,
                 {Kind::index, table, index.oid, 0, "index " + quote_identifier(index.name), on_});
    }
    for (const Trigger& trigger : relation.triggers) {
      if (!names_it(trigger.when_sql)) continue;
      add_once(list, {Kind::trigger, table, trigger.oid, 0,
                      fmt::format("trigger {} on table {}", trigger.name, name), on_});
    }
  }

  Session::State& session_;
  Oid oid_;
  std::string stored_;  ///< as stored expressions have it
  std::string on_;
};

template <class Object, class Wanted>
void add_users_of(Session::State& session, const Wanted& is_wanted,
                  std::vector<Dependent>& dependents) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (!is_wanted(*made)) continue;
    for (Dependent& dependent : dependents_of_text_search(session, *made))
      add_once(dependents, std::move(dependent));
  }
}

template <class Object>
void add_of_schema(Session::State& session, const Schema& schema, Kind kind,
                   std::vector<Dependent>& found) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (made->schema != schema.oid) continue;
    add_once(found,
             {kind, nullptr, made->oid, 0, described(session, *made), "schema " + schema.name});
    for (Dependent& dependent : dependents_of_text_search(session, *made)) {
      // What lies in the schema, too, comes in its turn.
      const auto config = dependent.kind == Kind::text_config
                              ? session.catalog.made<UserTextConfig>(dependent.oid)
                              : nullptr;
      if (!config || config->schema != schema.oid) add_once(found, std::move(dependent));
    }
  }
}

template <class Object>
void remove_owned(Session::State& session, Oid owner) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (made->owner == owner) session.catalog.remove(*session.transaction, *made);
  }
}

}  // namespace

std::vector<Dependent> dependents_of_text_search(Session::State& session,
                                                 const UserTextConfig& config) {
  std::vector<Dependent> list;
  NamingDefinitions{session, builtin_id::regconfig, config.oid, described(session, config)}.collect(
      list);
  return list;
}

std::vector<Dependent> dependents_of_text_search(Session::State& session,
                                                 const UserTextDictionary& dictionary) {
  std::vector<Dependent> list;
  const std::string on = described(session, dictionary);
  for (const UserTextConfigPtr& config : session.catalog.all_made<UserTextConfig>()) {
    if (std::ranges::find(config->mappings, dictionary.oid, &UserTextConfig::Mapping::dictionary) ==
        config->mappings.end())
      continue;
    add_once(list, {Kind::text_config, nullptr, config->oid, 0, described(session, *config), on});
    for (Dependent& dependent : dependents_of_text_search(session, *config))
      add_once(list, std::move(dependent));
  }
  NamingDefinitions{session, builtin_id::regdictionary, dictionary.oid, on}.collect(list);
  return list;
}

void add_text_search_of_schema(Session::State& session, const Schema& schema,
                               std::vector<Dependent>& dependents) {
  std::vector<Dependent> found;
  add_of_schema<UserTextDictionary>(session, schema, Kind::text_dictionary, found);
  add_of_schema<UserTextConfig>(session, schema, Kind::text_config, found);
  for (Dependent& dependent : found) {
    // Its tables are there already.
    if (dependent.table && dependent.table->relation.schema == schema.oid) continue;
    add_once(dependents, std::move(dependent));
  }
}

void add_users_of_owned_text_search(Session::State& session, Oid owner,
                                    std::vector<Dependent>& dependents) {
  const auto is_owned = [&](const auto& made) { return made.owner == owner; };
  std::vector<Dependent> found;
  add_users_of<UserTextDictionary>(session, is_owned, found);
  add_users_of<UserTextConfig>(session, is_owned, found);
  for (Dependent& dependent : found) {
    const auto config = dependent.kind == Kind::text_config
                            ? session.catalog.made<UserTextConfig>(dependent.oid)
                            : nullptr;
    if (!config || config->owner != owner) add_once(dependents, std::move(dependent));
  }
}

void remove_owned_text_search(Session::State& session, Oid owner) {
  remove_owned<UserTextConfig>(session, owner);
  remove_owned<UserTextDictionary>(session, owner);
}

}  // namespace swizzle::sql
