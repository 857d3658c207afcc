#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

void add_new(std::vector<Dependent>& list, Dependent dependent) {
  if (std::ranges::find(list, dependent.name, &Dependent::name) == list.end())
    list.push_back(std::move(dependent));
}

}  // namespace

std::string stored_constant(TypeId type, Oid oid) {
  return fmt::format("'{}'::{}", oid, cast_target(type));
}

bool is_named_in(const std::vector<ViewRoutine>& named, Oid oid) {
  return std::ranges::find(named, oid, &ViewRoutine::routine) != named.end();
}

ConstantDependents::ConstantDependents(StatementContext& session, TypeId type, Oid oid,
                                       std::string on)
    : session_(session), oid_(oid), stored_(stored_constant(type, oid)), on_(std::move(on)) {}

void ConstantDependents::of_relation(const TablePtr& table, std::vector<Dependent>& list) {
  if (!has_query(table->relation.kind)) return of_table(table, list);
  if (!is_named_in(table->relation.view_routines, oid_)) return;
  add_new(list, {Kind::view, table, kNoOid, 0, described(session_, *table), on_});
}

void ConstantDependents::collect(std::vector<Dependent>& list) {
  std::vector<TablePtr> views;
  for (const TablePtr& table : session_.catalog.naming<Table>({oid_})) {
    of_relation(table, list);
    if (is_named_in(table->relation.view_routines, oid_)) views.push_back(table);
  }
  of_domains(list);
  of_routines(list);
  add_policies_calling(session_, oid_, on_, list);
  for (const auto& [table, position] : columns_) {
    for (Dependent& dependent : dependents_of_column(session_, table, position))
      add_new(list, std::move(dependent));
  }
  for (const TablePtr& view : views) {
    for (Dependent& dependent : dependents_of(session_, std::span{&view, 1}))
      add_new(list, std::move(dependent));
  }
}

void ConstantDependents::of_table(const TablePtr& table, std::vector<Dependent>& list) {
  const Relation& relation = table->relation;
  const auto on_table = [&](std::string_view noun, std::string_view name) {
    return fmt::format("{} {} {} table {}", noun, name, noun == "column" ? "of" : "on",
                       session_.names.name_of(TypeId::regclass, relation.oid).value_or(""));
  };
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped || !names_it(column.default_sql)) continue;
    const std::string shown = on_table("column", column.name);
    if (column.generated) {
      add_new(list, {Kind::column, table, kNoOid, i, shown, on_});
      columns_.emplace_back(table, i);
    } else {
      add_new(list, {Kind::default_value, table, kNoOid, i, "default value for " + shown, on_});
    }
  }
  for (const Constraint& constraint : relation.constraints) {
    if (!names_it(constraint.check_sql)) continue;
    add_new(list, {Kind::constraint, table, constraint.oid, 0,
                   on_table("constraint", constraint.name), on_});
  }
  for (const Index& index : relation.indexes) {
    const bool uses = names_it(index.predicate_sql) ||
                      std::ranges::any_of(index.columns, [&](const IndexColumn& column) {
                        return names_it(column.expression_sql);
                      });
    if (uses)
      add_new(list,
              {Kind::index, table, index.oid, 0, "index " + quote_identifier(index.name), on_});
  }
  for (const Trigger& trigger : relation.triggers) {
    if (!names_it(trigger.when_sql)) continue;
    add_new(list, {Kind::trigger, table, trigger.oid, 0, on_table("trigger", trigger.name), on_});
  }
}

void ConstantDependents::of_domains(std::vector<Dependent>& list) {
  for (const TypePtr& type : session_.catalog.naming<UserType>({oid_})) {
    for (const DomainCheck& check : type->checks) {
      if (!names_it(check.sql)) continue;
      add_new(list, {Kind::constraint, nullptr, check.oid, 0, "constraint " + check.name, on_});
    }
  }
}

void ConstantDependents::of_routines(std::vector<Dependent>& list) {
  std::vector<RoutinePtr> routines;
  for (const RoutinePtr& routine : session_.catalog.naming<Routine>({oid_})) {
    const bool in_default = std::ranges::any_of(
        routine->parameters,
        [&](const RoutineParameter& parameter) { return names_it(parameter.default_sql); });
    if (!in_default && !is_named_in(routine->body_routines, oid_)) continue;
    add_new(list, {Kind::routine, nullptr, routine->oid, 0, described(session_, *routine), on_});
    routines.push_back(routine);
  }
  for (Dependent& dependent : dependents_of_routines(session_, routines))
    add_new(list, std::move(dependent));
}

}  // namespace swizzle::sql
