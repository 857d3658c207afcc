// Dependents of user-defined collations.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

/// Collects the dependents without repetition.
class CollationDependents {
 public:
  CollationDependents(StatementContext& session, const UserCollation& collation)
      : session_(session),
        collation_(collation),
        on_(described(session, collation)),
        stored_name_(stored_collation_name(collation.oid)),
        stored_constant_(stored_constant(TypeId::regcollation, collation.oid)) {}

  std::vector<Dependent> collect() {
    const auto is_it = [&](const TypePtr& type) {
      return type->collation == collation_.oid && !is_user_multirange(type->id());
    };
    const NamedObjects numbers = numbers_of_types();
    const std::vector<TypePtr> types = session_.catalog.naming<UserType>(numbers);
    for (const TypePtr& type : types) {
      const std::string name = session_.names.user_type_name(type->id()).value_or(type->name);
      if (is_it(type)) add({Kind::type, nullptr, type->oid, 0, "type " + name, on_});
      if (!type->is_of_relation()) of_attributes(*type, name);
    }
    std::vector<TablePtr> views;
    for (const TablePtr& table : session_.catalog.naming<Table>(numbers)) {
      if (has_query(table->relation.kind)) {
        if (is_used_by(table)) views.push_back(table);
      } else {
        of_table(table);
      }
    }
    for (const TablePtr& view : views)
      add({Kind::view, view, kNoOid, 0, described(session_, *view), on_});
    for (const TypePtr& type : types) {
      if (is_it(type)) {
        add_all(dependents_of_types(session_, std::span{&type, 1}));
        continue;
      }
      for (const DomainCheck& check : type->checks) {
        if (names_it(check.sql))
          add({Kind::constraint, nullptr, check.oid, 0, "constraint " + check.name, on_});
      }
    }
    for (const RoutinePtr& routine : session_.catalog.naming<Routine>({collation_.oid})) {
      const bool names = std::ranges::any_of(routine->parameters, [&](const auto& parameter) {
        return names_it(parameter.default_sql);
      });
      if (!names && !is_named_in(routine->body_routines, collation_.oid)) continue;
      add({Kind::routine, nullptr, routine->oid, 0, described(session_, *routine), on_});
      add_all(dependents_of_routines(session_, std::span{&routine, 1}));
    }
    for (const auto& [table, position] : columns_)
      add_all(dependents_of_column(session_, table, position));
    for (const TablePtr& view : views) add_all(dependents_of(session_, std::span{&view, 1}));
    add_policies_with_type(session_, collation_.oid, on_, list_);
    return std::move(list_);
  }

 private:
  /// Returns the collation, and the types that have it from their base.
  [[nodiscard]] NamedObjects numbers_of_types() const {
    NamedObjects numbers{collation_.oid};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const TypePtr& type : session_.catalog.naming<UserType>({numbers[i]})) {
        const bool has_it = default_collation(type->id()) == collation_.oid;
        if (has_it && std::ranges::find(numbers, type->oid) == numbers.end())
          numbers.push_back(type->oid);
      }
    }
    return numbers;
  }

  [[nodiscard]] bool names_it(std::string_view sql) const {
    return sql.contains(stored_name_) || sql.contains(stored_constant_);
  }

  /// True if the column has the collation, itself or by its domain.
  [[nodiscard]] bool has_it(const Column& column) const {
    return !column.dropped && default_collation(column.expression_type()) == collation_.oid;
  }

  void of_attributes(const UserType& type, const std::string& name) {
    for (std::size_t i = 0; i < type.attributes.size(); ++i) {
      const Column& attribute = type.attributes[i];
      if (!has_it(attribute)) continue;
      add({Kind::attribute, nullptr, type.oid, i,
           fmt::format("column {} of composite type {}", attribute.name, name), on_});
    }
  }

  void of_table(const TablePtr& table) {
    const Relation& relation = table->relation;
    const std::string name = session_.names.name_of(TypeId::regclass, relation.oid).value_or("");
    // In descending order, as in PostgreSQL.
    for (std::size_t i = relation.columns.size(); i-- > 0;) {
      const Column& column = relation.columns[i];
      if (column.dropped) continue;
      const std::string shown = fmt::format("column {} of table {}", column.name, name);
      if (has_it(column)) {
        add({Kind::column, table, kNoOid, i, shown, on_});
        columns_.emplace_back(table, i);
      } else if (names_it(column.default_sql)) {
        const Kind kind = column.generated ? Kind::generated_column : Kind::default_value;
        add({kind, table, kNoOid, i, column.generated ? shown : "default value for " + shown, on_});
      }
    }
    for (const Constraint& constraint : relation.constraints) {
      const bool goes = std::ranges::any_of(constraint.columns, [&](std::int16_t number) {
        return has_it(relation.columns[static_cast<std::size_t>(number - 1)]);
      });
      if (goes || !names_it(constraint.check_sql)) continue;
      add({Kind::constraint, table, constraint.oid, 0,
           fmt::format("constraint {} on table {}", constraint.name, name), on_});
    }
    for (const Index& index : relation.indexes) of_index(table, index);
  }

  void of_index(const TablePtr& table, const Index& index) {
    const auto& columns = table->relation.columns;
    const auto goes = [&](const IndexColumn& part) {
      return part.column != 0 && has_it(columns[static_cast<std::size_t>(part.column - 1)]);
    };
    // An index over a dropped column is dropped with the column.
    if (std::ranges::any_of(index.columns, goes)) return;
    const auto uses = [&](const IndexColumn& part) {
      return part.collation == collation_.oid || names_it(part.expression_sql);
    };
    if (!std::ranges::any_of(index.columns, uses) && !names_it(index.predicate_sql)) return;
    add({Kind::index, table, index.oid, 0, "index " + quote_identifier(index.name), on_});
  }

  [[nodiscard]] bool is_used_by(const TablePtr& view) const {
    const auto& named = view->relation.view_types;
    const bool names = std::ranges::find(named, collation_.oid, &ViewType::type) != named.end();
    return names || is_named_in(view->relation.view_routines, collation_.oid) ||
           std::ranges::any_of(view->relation.columns,
                               [&](const Column& column) { return has_it(column); });
  }

  void add_all(std::vector<Dependent> list) {
    for (Dependent& dependent : list) add(std::move(dependent));
  }

  void add(Dependent dependent) {
    if (std::ranges::find(list_, dependent.name, &Dependent::name) != list_.end()) return;
    list_.push_back(std::move(dependent));
  }

  StatementContext& session_;
  const UserCollation& collation_;
  std::string on_;
  std::string stored_name_;
  std::string stored_constant_;
  std::vector<Dependent> list_;
  std::vector<std::pair<TablePtr, std::size_t>> columns_;  ///< to be dropped
};

}  // namespace

std::vector<Dependent> dependents_of_collation(StatementContext& session,
                                               const UserCollation& collation) {
  return CollationDependents{session, collation}.collect();
}

void add_collations_of_schema(StatementContext& session, const Schema& schema,
                              std::vector<Dependent>& dependents) {
  for (const CollationPtr& collation : session.catalog.naming<UserCollation>({schema.oid})) {
    if (collation->schema != schema.oid) continue;
    dependents.push_back({Kind::collation, nullptr, collation->oid, 0,
                          described(session, *collation), "schema " + schema.name});
    for (Dependent& dependent : dependents_of_collation(session, *collation)) {
      if (dependent.table && dependent.table->relation.schema == schema.oid) continue;
      add_once(dependents, std::move(dependent));
    }
  }
}

}  // namespace swizzle::sql
