// Dependents of user-defined types: columns, and objects that name the types.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

/// Collects the dependents without repetition.
class TypeDependents {
 public:
  TypeDependents(StatementContext& session, const UserType& type, std::vector<Dependent>& list)
      : session_(session),
        type_(type),
        on_("type " + session.names.user_type_name(type.id()).value_or(type.name)),
        stored_name_(stored_cast_target(type.id())),
        stored_constant_(stored_constant(TypeId::regtype, type.oid)),
        stored_array_(stored_constant(TypeId::regtype, raw(array_type(type.id())))),
        list_(list) {}

  void of_table(const TablePtr& table) {
    yield_point(kWorkOfDefinition);
    if (is_partitioned_by(table->relation)) {
      add({Kind::table, table, kNoOid, 0, described(session_, *table), on_});
      for (Dependent& next : dependents_of(session_, std::span{&table, 1})) add(std::move(next));
      return;
    }
    const auto name = [&] {
      return session_.names.name_of(TypeId::regclass, table->relation.oid).value_or("");
    };
    for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
      const Column& column = table->relation.columns[i];
      if (column.dropped) continue;
      const std::string named = named_in(column.default_sql);
      if (!is_of_type(column.type) && named.empty()) continue;
      const std::string described = fmt::format("column {} of table {}", column.name, name());
      if (is_of_type(column.type)) {
        const std::string_view brackets = is_user_array(column.type) ? "[]" : "";
        add({Kind::column, table, kNoOid, i, described, on_ + std::string{brackets}});
        for (Dependent& next : dependents_of_column(session_, table, i)) add(std::move(next));
      } else {
        const Kind kind = column.generated ? Kind::generated_column : Kind::default_value;
        add({kind, table, kNoOid, i,
             column.generated ? described : "default value for " + described, named});
      }
    }
    for (const Constraint& constraint : table->relation.constraints) {
      const std::string named = named_in(constraint.check_sql);
      if (constraint.kind != ConstraintKind::check || named.empty()) continue;
      // A constraint over a dropped column is dropped with the column.
      const bool goes = std::ranges::any_of(constraint.columns, [&](std::int16_t number) {
        return is_of_type(table->relation.columns[static_cast<std::size_t>(number) - 1].type);
      });
      if (goes) continue;
      add({Kind::constraint, table, constraint.oid, 0,
           fmt::format("constraint {} on table {}", constraint.name, name()), named});
    }
    for (const Index& index : table->relation.indexes) {
      std::string named = named_in(index.predicate_sql);
      for (const IndexColumn& column : index.columns) {
        if (named.empty()) named = named_in(column.expression_sql);
      }
      if (named.empty()) continue;
      add({Kind::index, table, index.oid, 0, "index " + index.name, named});
    }
    for (const Trigger& trigger : table->relation.triggers) {
      const std::string named = named_in(trigger.when_sql);
      if (named.empty()) continue;
      add({Kind::trigger, table, trigger.oid, 0,
           fmt::format("trigger {} on table {}", trigger.name, name()), named});
    }
  }

  void of_domain(const UserType& domain) {
    // The constraints of a domain that is itself dropped need no entry.
    if (domain.oid == type_.oid || without_array(domain.base) == type_.id()) return;
    for (const DomainCheck& check : domain.checks) {
      const std::string named = named_in(check.sql);
      if (named.empty()) continue;
      add({Kind::constraint, nullptr, check.oid, 0, "constraint " + check.name, named});
    }
  }

  void of_attributes(const UserType& other) {
    for (std::size_t i = 0; i < other.attributes.size(); ++i) {
      const Column& attribute = other.attributes[i];
      if (!is_of_type(attribute.type)) continue;
      add({Kind::attribute, nullptr, other.oid, i,
           fmt::format("column {} of composite type {}", attribute.name,
                       session_.names.user_type_name(other.id()).value_or(other.name)),
           on_ + (is_user_array(attribute.type) ? "[]" : "")});
    }
  }

  void of_view(const TablePtr& view) {
    const auto& named = view->relation.view_types;
    const auto& constants = view->relation.view_routines;
    const bool names_array = is_named_in(constants, raw(array_type(type_.id())));
    const bool names = std::ranges::find(named, type_.oid, &ViewType::type) != named.end() ||
                       is_named_in(constants, type_.oid);
    if (!names && !names_array) return;
    add({Kind::view, view, kNoOid, 0, described(session_, *view), names ? on_ : on_ + "[]"});
    for (Dependent& next : dependents_of(session_, std::span{&view, 1})) add(std::move(next));
  }

 private:
  /// True if the relation's partition key, or that of an ancestor, uses the type: the table is
  /// dropped too.
  [[nodiscard]] bool is_partitioned_by(const Relation& relation) {
    check_stack();
    const auto& key = relation.partition_key;
    const bool by_type =
        key && std::ranges::any_of(key->columns, [&](const PartitionColumn& column) {
          if (column.column == 0) return !named_in(column.expression_sql).empty();
          return is_of_type(relation.columns[static_cast<std::size_t>(column.column) - 1].type);
        });
    if (by_type || relation.partition_of == kNoOid) return by_type;
    const TablePtr whole = session_.catalog.table(relation.partition_of);
    return whole && is_partitioned_by(whole->relation);
  }

  [[nodiscard]] bool is_of_type(TypeId type) const {
    return type == type_.id() || type == array_type(type_.id());
  }
  /// Returns the description of the type, or of its array type, if the stored expression names it;
  /// empty if it does not.
  [[nodiscard]] std::string named_in(std::string_view sql) const {
    if (sql.contains(stored_name_) || sql.contains(stored_constant_)) return on_;
    return sql.contains(stored_array_) ? on_ + "[]" : std::string{};
  }

  void add(Dependent dependent) {
    if (std::ranges::find(list_, dependent.name, &Dependent::name) != list_.end()) return;
    list_.push_back(std::move(dependent));
  }

  StatementContext& session_;
  const UserType& type_;
  std::string on_;
  std::string stored_name_;
  std::string stored_constant_;
  std::string stored_array_;
  std::vector<Dependent>& list_;
};

}  // namespace

namespace {

/// Adds the dependents of the domains over the type, and then those of the type itself.
void add_dependents(StatementContext& session, const TypePtr& type, std::vector<Oid>& known,
                    std::vector<Dependent>& list) {
  check_stack();
  // No object can use a shell type.
  if (type->is_shell()) return;
  const std::string on = "type " + session.names.user_type_name(type->id()).value_or(type->name);
  for (const TypePtr& other : session.catalog.naming<UserType>({type->oid})) {
    if (without_array(other->base) != type->id()) continue;
    if (std::ranges::find(known, other->oid) != known.end()) continue;
    known.push_back(other->oid);
    if (is_user_multirange(other->id())) {
      // A multirange type is dropped with its range type, without a message.
      add_dependents(session, other, known, list);
      continue;
    }
    list.push_back({Kind::type, nullptr, other->oid, 0,
                    "type " + session.names.user_type_name(other->id()).value_or(other->name),
                    on + (is_user_array(other->base) ? "[]" : "")});
    add_dependents(session, other, known, list);
  }
  TypeDependents dependents{session, *type, list};
  const NamedObjects numbers = numbers_of(type->id());
  for (const TablePtr& table : tables_naming(session, numbers)) {
    if (has_query(table->relation.kind)) {
      dependents.of_view(table);
    } else {
      dependents.of_table(table);
    }
  }
  for (const TypePtr& other : session.catalog.naming<UserType>(numbers)) {
    dependents.of_domain(*other);
    if (std::ranges::find(known, other->oid) == known.end()) dependents.of_attributes(*other);
  }
  add_policies_with_type(session, raw(array_type(type->id())), on + "[]", list);
  add_policies_with_type(session, type->oid, on, list);
  add_routines_of_types(session, std::span{&type, 1}, list);
}

}  // namespace

std::vector<TypeId> types_with(StatementContext& session, TypeId type) {
  std::vector<TypeId> all{type};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto has_it = [&](TypeId part) { return without_array(part) == all[i]; };
    const auto add = [&](TypeId container) {
      if (std::ranges::find(all, container) == all.end()) all.push_back(container);
    };
    for (const TypePtr& other : session.catalog.naming<UserType>({raw(all[i])})) {
      if (has_it(other->base) || std::ranges::any_of(other->attributes, has_it, &Column::type)) {
        add(other->id());
      }
    }
    for (const TablePtr& table : session.catalog.naming<Table>({raw(all[i])})) {
      const auto& columns = table->relation.columns;
      const bool has = std::ranges::any_of(
          columns, [&](const Column& column) { return !column.dropped && has_it(column.type); });
      const TypeId rows{table->relation.row_type};
      if (has && is_composite(rows)) add(rows);
    }
  }
  return all;
}

namespace {

NamedObjects numbers_of_all(std::span<const TypeId> types) {
  NamedObjects numbers;
  for (const TypeId type : types) numbers.push_back(raw(type));
  return numbers;
}

}  // namespace

NamedObjects carriers_of(StatementContext& session, std::span<const TypeId> types) {
  const NamedObjects numbers = numbers_of_all(types);
  NamedObjects all = numbers;
  for (const TablePtr& table : session.catalog.naming<Table>(numbers))
    all.push_back(table->relation.oid);
  for (const RoutinePtr& routine : session.catalog.naming<Routine>(numbers))
    all.push_back(routine->oid);
  for (const OperatorPtr& op : session.catalog.naming<UserOperator>(numbers))
    all.push_back(op->oid);
  for (const CastPtr& cast : session.catalog.naming<UserCast>(numbers)) {
    all.push_back(cast->oid);
    if (cast->function != kNoOid) all.push_back(cast->function);
  }
  return all;
}

namespace {

/// `containers`: all types for which `uses` returns true, except arrays.
template <class Uses>
void refuse_where(StatementContext& session, const UserType& type,
                  const std::vector<TypeId>& containers, const Uses& uses) {
  for (const TablePtr& table : session.catalog.naming<Table>(numbers_of_all(containers))) {
    if (!keeps_rows(table->relation.kind)) continue;
    for (const Column& column : table->relation.columns) {
      if (column.dropped || !uses(column.type)) continue;
      throw_error(sqlstate::feature_not_supported,
                  "cannot alter {} \"{}\" because column \"{}.{}\" uses {}",
                  type.is_of_relation() ? "table" : "type", type.name, table->relation.name,
                  column.name, type.is_of_relation() ? "its row type" : "it");
    }
    // Entries of an index over an expression are such values, too.
    for (const Index& index : table->relation.indexes) {
      for (const IndexColumn& column : index.columns) {
        if (column.column != 0 || !uses(column.type)) continue;
        throw_error(sqlstate::feature_not_supported,
                    "cannot alter {} \"{}\" because column \"{}.{}\" uses {}",
                    type.is_of_relation() ? "table" : "type", type.name, index.name,
                    name_of_expression(session, *table, column.expression_sql),
                    type.is_of_relation() ? "its row type" : "it");
      }
    }
  }
}

}  // namespace

void refuse_columns_of(StatementContext& session, const UserType& type) {
  const std::vector<TypeId> containers = types_with(session, type.id());
  // Arrays are named first in the error.
  if (type.is_of_relation()) {
    refuse_where(session, type, {type.id()},
                 [&](TypeId of) { return of == array_type(type.id()); });
  }
  refuse_where(session, type, containers, [&](TypeId of) {
    return std::ranges::find(containers, without_array(of)) != containers.end();
  });
}

void refuse_ranges_of(StatementContext& session, const UserType& type) {
  const auto is_range = [](TypeId other) {
    return is_user_range(other) || is_user_multirange(other);
  };
  for (const TypeId range : types_with(session, type.id())) {
    if (!is_range(range)) continue;
    const std::vector<TypeId> containers = types_with(session, range);
    refuse_where(session, type, containers, [&](TypeId of) {
      return std::ranges::find(containers, without_array(of)) != containers.end();
    });
  }
}

void refuse_columns_of_rows(StatementContext& session, const Table& table) {
  const TypePtr rows = session.names.user_type(TypeId{table.relation.row_type});
  if (rows) refuse_columns_of(session, *rows);
}

void refuse_in_itself(StatementContext& session, const UserType& type, TypeId added) {
  const TypeId part = without_array(added);
  if (!is_user_type(part)) return;
  const auto within = types_with(session, type.id());
  if (std::ranges::find(within, part) == within.end()) return;
  throw_error(sqlstate::invalid_table_definition,
              "composite type {} cannot be made a member of itself",
              session.names.user_type_name(type.id()).value_or(type.name));
}

std::vector<Dependent> dependents_of_types(StatementContext& session,
                                           std::span<const TypePtr> types) {
  std::vector<Dependent> list;
  std::vector<Oid> known;
  for (const TypePtr& type : types) known.push_back(type->oid);
  for (const TypePtr& type : types) add_dependents(session, type, known, list);
  return list;
}

void add_types_of_schema(StatementContext& session, const Schema& schema,
                         std::vector<Dependent>& dependents) {
  std::vector<TypePtr> inside;
  for (const TypePtr& type : session.catalog.naming<UserType>({schema.oid})) {
    if (type->schema == schema.oid) inside.push_back(type);
  }
  for (const TypePtr& type : inside) {
    const bool goes_with_range =
        is_user_multirange(type->id()) && std::ranges::any_of(inside, [&](const TypePtr& other) {
          return other->id() == type->base;
        });
    if (goes_with_range) continue;
    const std::string name =
        "type " + session.names.user_type_name(type->id()).value_or(type->name);
    dependents.push_back({Kind::type, nullptr, type->oid, 0, name, "schema " + schema.name});
  }
  for (Dependent& dependent : dependents_of_types(session, inside)) {
    if (dependent.table && dependent.table->relation.schema == schema.oid) continue;
    add_once(dependents, std::move(dependent));
  }
}

}  // namespace swizzle::sql
