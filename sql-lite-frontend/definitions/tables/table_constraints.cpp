#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/execution/write/foreign_key.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Keys, checks and foreign keys of a table that is being defined.
namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidForeignKey{"42830"};

std::vector<std::string> strings_of(ast::NodeList list) {
  std::vector<std::string> names;
  for (const ast::Node* node : list) names.emplace_back(ast::string_of(node));
  return names;
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += "_";
    text += name;
  }
  return text;
}

ReferentialAction action_of(std::string_view text) {
  return text.empty() ? ReferentialAction::no_action : static_cast<ReferentialAction>(text[0]);
}

/// Refuses actions that set columns outside the key, or computed ones.
void refuse_impossible_actions(const Relation& relation, const Constraint& key) {
  for (const std::int16_t set : key.set_columns) {
    if (std::ranges::find(key.columns, set) != key.columns.end()) continue;
    throw_error(sqlstate::invalid_column_reference,
                "column \"{}\" referenced in ON DELETE SET action must be part of foreign key",
                relation.columns[static_cast<std::size_t>(set - 1)].name);
  }
  const bool is_computed = std::ranges::any_of(key.columns, [&](std::int16_t column) {
    return relation.columns[static_cast<std::size_t>(column - 1)].generated;
  });
  if (!is_computed) return;
  const auto refuse = [](std::string_view action) {
    throw_error(sqlstate::syntax_error,
                "invalid {} action for foreign key constraint containing generated column", action);
  };
  using enum ReferentialAction;
  if (key.on_update == cascade || key.on_update == set_null || key.on_update == set_default)
    refuse("ON UPDATE");
  if (key.on_delete == set_null || key.on_delete == set_default) refuse("ON DELETE");
}

void refuse_period_actions(const Constraint& key) {
  if (!key.has_period) return;
  for (const auto& [name, action] :
       {std::pair{"ON UPDATE", key.on_update}, std::pair{"ON DELETE", key.on_delete}}) {
    if (action == ReferentialAction::no_action) continue;
    throw_error(sqlstate::feature_not_supported,
                "unsupported {} action for foreign key constraint using PERIOD", name);
  }
}

/// Sets the columns that a foreign key refers to: those of REFERENCES, or of the primary key.
void find_referenced_columns(const ast::Constraint& node, const Relation& target,
                             Constraint& constraint) {
  if (node.pk_with_period && !node.fk_with_period) {
    throw SqlError{kInvalidForeignKey,
                   "foreign key uses PERIOD on the referenced table but not the referencing table"};
  }
  if (node.pk_attrs.empty()) {
    const auto primary = std::ranges::find(target.indexes, true, &Index::primary);
    if (primary == target.indexes.end()) {
      throw_error(sqlstate::undefined_object, "there is no primary key for referenced table \"{}\"",
                  target.name);
    }
    if (primary->deferrable) {
      throw_error(SqlState{"55000"},
                  "cannot use a deferrable primary key for referenced table \"{}\"", target.name);
    }
    if (primary->without_overlaps && !node.fk_with_period) {
      throw SqlError{
          kInvalidForeignKey,
          "foreign key uses PERIOD on the referenced table but not the referencing table"};
    }
    for (const IndexColumn& column : primary->columns) {
      constraint.referenced_columns.push_back(column.column);
    }
    return;
  }
  for (const std::string& name : strings_of(node.pk_attrs)) {
    std::int16_t number = 0;
    for (std::size_t i = 0; i < target.columns.size(); ++i) {
      if (!target.columns[i].dropped && target.columns[i].name == name) {
        number = static_cast<std::int16_t>(i + 1);
      }
    }
    if (number == 0) {
      throw_error(sqlstate::undefined_column,
                  "column \"{}\" referenced in foreign key constraint does not exist", name);
    }
    constraint.referenced_columns.push_back(number);
  }
  if (node.fk_with_period && !node.pk_with_period) {
    throw SqlError{kInvalidForeignKey,
                   "foreign key uses PERIOD on the referencing table but not the referenced table"};
  }
}

/// True if the index is a key of these columns, `wanted` in order of their numbers. If the foreign
/// key names them, the last one of PERIOD is the key's range.
bool is_key_of(const ast::Constraint& node, const Index& index, const Constraint& constraint,
               const std::vector<std::int16_t>& wanted) {
  if (!index.is_key() || !index.predicate_sql.empty()) return false;
  std::vector<std::int16_t> has;
  for (const IndexColumn& column : index.columns) has.push_back(column.column);
  std::ranges::sort(has);
  if (has != wanted) return false;
  return !node.pk_with_period ||
         (index.without_overlaps &&
          index.columns.back().column == constraint.referenced_columns.back());
}

/// Returns the key that a foreign key refers to.
const Index& find_referenced_key(const ast::Constraint& node, const Relation& target,
                                 const Constraint& constraint) {
  std::vector<std::int16_t> wanted = constraint.referenced_columns;
  std::ranges::sort(wanted);
  if (std::ranges::adjacent_find(wanted) != wanted.end()) {
    throw SqlError{kInvalidForeignKey,
                   "foreign key referenced-columns list must not contain duplicates"};
  }
  const Index* found = nullptr;
  bool is_deferrable = false;
  for (const Index& index : target.indexes) {
    if (!index.is_valid() || !is_key_of(node, index, constraint, wanted)) continue;
    is_deferrable |= index.deferrable;
    if (!index.deferrable && found == nullptr) found = &index;
  }
  if (found == nullptr && is_deferrable) {
    throw_error(SqlState{"55000"},
                "cannot use a deferrable unique constraint for referenced table \"{}\"",
                target.name);
  }
  if (found == nullptr) {
    throw_error(kInvalidForeignKey,
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                target.name);
  }
  if (found->without_overlaps && !constraint.has_period) {
    throw SqlError{
        kInvalidForeignKey,
        "foreign key must use PERIOD when referencing a primary key using WITHOUT OVERLAPS"};
  }
  return *found;
}

/// Refuses a foreign key with PERIOD to a primary key whose ranges may overlap.
void require_period_key(const Index& key, const Constraint& constraint) {
  if (!constraint.has_period || key.without_overlaps) return;
  throw sql_error(sqlstate::undefined_object,
                  "could not identify an overlaps operator for foreign key")
      .with_detail(
          fmt::format("Could not translate compare type 7 for operator family \"{}\" of access "
                      "method \"btree\".",
                      operator_family("btree", key.columns.back().type)));
}

/// Throws if the referenced table's rows may be removed earlier than the referencing ones
/// (persistence).
void refuse_shorter_lived(const Relation& from, const Relation& target) {
  const auto refuse = [](const char* message) {
    throw SqlError{sqlstate::invalid_table_definition, message};
  };
  switch (from.persistence) {
    case Persistence::permanent:
      if (target.persistence == Persistence::permanent) return;
      return refuse("constraints on permanent tables may reference only permanent tables");
    case Persistence::unlogged:
      if (target.persistence != Persistence::temporary) return;
      return refuse(
          "constraints on unlogged tables may reference only permanent or unlogged tables");
    case Persistence::temporary:
      if (target.persistence == Persistence::temporary) return;
      return refuse("constraints on temporary tables may reference only temporary tables");
  }
}

}  // namespace

bool TableBuilder::has_constraint(std::string_view name) const {
  return std::ranges::find(relation_.constraints, name, &Constraint::name) !=
         relation_.constraints.end();
}

void TableBuilder::require_free_constraint_name(std::string_view name) const {
  if (!has_constraint(name)) return;
  throw_error(sqlstate::duplicate_object, "constraint \"{}\" for relation \"{}\" already exists",
              name, relation_.name);
}

/// A table may define again what it has from its parents. Returns true if this is such a check.
bool TableBuilder::merge_inherited_check(const Constraint& check) {
  const auto same = std::ranges::find(relation_.constraints, check.name, &Constraint::name);
  if (same == relation_.constraints.end() || !same->is_inherited()) return false;
  if (same->kind != ConstraintKind::check || same->check_sql != check.check_sql) {
    require_free_constraint_name(check.name);
  }
  if (same->inherit_count > 0) {
    const auto refuse = [&](std::string_view what) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with {} constraint on relation "
                  "\"{}\"",
                  check.name, what, relation_.name);
    };
    if (check.no_inherit) refuse("inherited");
    if (same->enforced != check.enforced) refuse("NOT ENFORCED");
    same->also_local = true;
  }
  notice_merged_constraint(session_, check.name);
  return true;
}

/// An index has its name among the schema's relations.
void TableBuilder::require_free_index_name(const std::string& name) const {
  refuse_relation_name(session_, relation_.schema, name);
  const bool taken =
      relation_.name == name ||
      std::ranges::find(relation_.indexes, name, &Index::name) != relation_.indexes.end();
  if (taken) throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", name);
}

/// As ALTER TABLE asks for them, before it looks at anything else.
void TableBuilder::require_columns(std::span<const std::string> names) const {
  for (const std::string& name : names) {
    const bool known = std::ranges::any_of(relation_.columns, [&](const Column& column) {
      return !column.dropped && column.name == name;
    });
    if (known) continue;
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist", name,
                relation_.name);
  }
}

void TableBuilder::finish_key(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  const bool primary = node.contype == ast::ConstrType::primary;
  require_known_tablespace(node.indexspace);
  if (!node.indexname.empty()) return adopt_index(pending);
  if (pending.deferrable && primary && !node.without_overlaps) {
    throw SqlError{sqlstate::feature_not_supported,
                   "deferrable primary key constraints are not supported"};
  }
  const std::vector<std::string> names =
      pending.columns.empty() ? strings_of(node.keys) : pending.columns;
  if (primary && !is_new_table()) require_columns(names);
  if (primary && std::ranges::any_of(relation_.indexes, &Index::primary)) {
    throw sql_error(sqlstate::invalid_table_definition,
                    "multiple primary keys for table \"{}\" are not allowed", relation_.name)
        .at_position(is_new_table() ? node.location + 1 : 0);
  }
  refuse_more_index_columns(names.size() + node.including.size());
  Index index;
  index.oid = session_.catalog.allocate_oid();
  index.unique = !pending.deferrable && !node.without_overlaps;
  index.deferrable = pending.deferrable;
  index.primary = primary;
  index.without_overlaps = node.without_overlaps;
  if (index.without_overlaps) index.method = IndexMethod::excluding;
  index.nulls_not_distinct = node.nulls_not_distinct;
  const auto numbers = column_numbers(names, primary ? "primary key" : "unique", node.location);
  if (node.without_overlaps) require_period(node, numbers);
  refuse_virtual_key(relation_, numbers, primary ? "primary keys" : "unique constraints");
  for (const std::int16_t number : numbers) {
    Column& column = relation_.columns[static_cast<std::size_t>(number - 1)];
    if (primary) {
      require_key_column(static_cast<std::size_t>(number - 1));
      column.not_null = true;
    }
    if (node.without_overlaps) {
      const bool is_period = index.columns.size() + 1 == numbers.size();
      index.columns.push_back(period_key_part(number, is_period ? "&&" : "="));
      index.columns.back().written_place = static_cast<std::int16_t>(index.columns.size() - 1);
      continue;
    }
    if (!is_indexable(column.type)) {
      throw sql_error(sqlstate::undefined_object,
                      "data type {} has no default operator class for access method \"btree\"",
                      format_type(column.type))
          .with_hint(
              "You must specify an operator class for the index or define a default operator class "
              "for the data type.");
    }
    IndexColumn& part = index.columns.emplace_back();
    part.column = number;
    part.type = column.type;
    part.collation = collation_of_key(session_, {}, column.expression_type());
  }
  for (const std::int16_t number :
       column_numbers(strings_of(node.including), "unique", node.location)) {
    index.included.push_back(number);
  }
  refuse_virtual_key(relation_, index.included, primary ? "primary keys" : "unique constraints");
  require_partition_key_in(relation_, index);
  // A generated constraint name contains all columns of the index.
  std::vector<std::string> named = names;
  for (const ast::Node* included : node.including) named.emplace_back(ast::string_of(included));
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = primary ? ConstraintKind::primary_key : ConstraintKind::unique;
  constraint.columns = numbers;
  constraint.index = index.oid;
  constraint.deferrable = pending.deferrable;
  constraint.initially_deferred = pending.initially_deferred;
  if (!node.conname.empty()) {
    constraint.name = node.conname;
    require_free_index_name(constraint.name);
    require_free_constraint_name(constraint.name);
  } else {
    constraint.name =
        own_free_name(primary ? object_name(relation_.name, {}, "pkey")
                              : object_name(relation_.name, joined_once(named), "key"));
  }
  index.name = constraint.name;
  tell_debug(session_, fmt::format("{} {} will create implicit index \"{}\" for table \"{}\"",
                                   is_new_table() ? "CREATE TABLE /" : "ALTER TABLE / ADD",
                                   primary ? "PRIMARY KEY" : "UNIQUE", index.name, relation_.name));
  relation_.indexes.push_back(std::move(index));
  relation_.constraints.push_back(std::move(constraint));
}

/// The index that USING INDEX names is none of the table's.
void TableBuilder::refuse_index_elsewhere(const ast::Constraint& node) const {
  // The parser's texts outlive its nodes; this one is of here.
  const std::string schema = session_.names.schema_name(relation_.schema);
  ast::RangeVar range;
  range.relname = node.indexname;
  range.schemaname = schema;
  const auto found = find_named_relation(session_, range);
  if (!found || found->index == nullptr) {
    throw sql_error(sqlstate::undefined_object, "index \"{}\" does not exist", node.indexname)
        .at_position(node.location + 1);
  }
  const bool is_of_constraint =
      std::ranges::any_of(found->table->relation.constraints, [&](const Constraint& constraint) {
        return constraint.index == found->index->oid &&
               constraint.kind != ConstraintKind::foreign_key;
      });
  if (is_of_constraint) {
    throw sql_error(SqlState{"55000"}, "index \"{}\" is already associated with a constraint",
                    node.indexname)
        .at_position(node.location + 1);
  }
  throw sql_error(sqlstate::object_not_in_prerequisite_state,
                  "index \"{}\" does not belong to table \"{}\"", node.indexname, relation_.name)
      .at_position(node.location + 1);
}

/// UNIQUE and PRIMARY KEY USING INDEX: the index becomes the constraint's, under its name. By a
/// primary key the table is ordered, so its tree takes the index's place.
void TableBuilder::adopt_index(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  if (relation_.is_partitioned()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned "
                   "tables"};
  }
  const bool primary = node.contype == ast::ConstrType::primary;
  if (pending.deferrable) {
    throw SqlError{sqlstate::feature_not_supported,
                   primary ? "deferrable primary key constraints are not supported"
                           : "deferrable UNIQUE USING INDEX is not supported"};
  }
  if (primary && std::ranges::any_of(relation_.indexes, &Index::primary)) {
    throw_error(sqlstate::invalid_table_definition,
                "multiple primary keys for table \"{}\" are not allowed", relation_.name);
  }
  const auto index = std::ranges::find(relation_.indexes, node.indexname, &Index::name);
  if (index == relation_.indexes.end()) refuse_index_elsewhere(node);
  const auto refuse = [&](std::string_view why) {
    throw sql_error(sqlstate::wrong_object_type, fmt::runtime(why), index->name)
        .with_detail("Cannot create a primary key or unique constraint using such an index.")
        .at_position(node.location + 1);
  };
  if (std::ranges::any_of(relation_.constraints, [&](const Constraint& constraint) {
        return constraint.index == index->oid && constraint.kind != ConstraintKind::foreign_key;
      })) {
    throw sql_error(SqlState{"55000"}, "index \"{}\" is already associated with a constraint",
                    index->name)
        .at_position(node.location + 1);
  }
  if (!index->is_valid()) {
    throw sql_error(SqlState{"55000"}, "index \"{}\" is not valid", index->name)
        .at_position(node.location + 1);
  }
  if (!index->unique) refuse("\"{}\" is not a unique index");
  if (std::ranges::any_of(index->columns,
                          [](const IndexColumn& column) { return column.column == 0; })) {
    refuse("index \"{}\" contains expressions");
  }
  if (!index->predicate_sql.empty()) refuse("\"{}\" is a partial index");
  if (primary && index->nulls_not_distinct) {
    throw SqlError{sqlstate::invalid_table_definition,
                   "primary keys cannot use NULLS NOT DISTINCT indexes"};
  }
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = primary ? ConstraintKind::primary_key : ConstraintKind::unique;
  constraint.index = index->oid;
  for (const IndexColumn& part : index->columns) {
    Column& column = relation_.columns[static_cast<std::size_t>(part.column - 1)];
    const bool is_usual =
        part.direction == SortDirection::ascending && part.nulls == NullsOrder::last &&
        part.operator_class.empty() &&
        part.collation == collation_of_key(session_, {}, column.expression_type());
    constraint.columns.push_back(part.column);
    if (!is_usual) {
      throw sql_error(sqlstate::wrong_object_type,
                      "index \"{}\" column number {} does not have default sorting behavior",
                      index->name, constraint.columns.size())
          .with_detail("Cannot create a primary key or unique constraint using such an index.")
          .at_position(node.location + 1);
    }
    if (!primary) continue;
    require_key_column(static_cast<std::size_t>(part.column - 1));
    column.not_null = true;
  }
  if (primary) {
    index->primary = true;
    index->tree = TreeId::directory;
  }
  constraint.name = node.conname.empty() ? index->name : std::string{node.conname};
  if (constraint.name != index->name && session_.sink_for_notices != nullptr) {
    session_.notice(*session_.sink_for_notices, Severity::notice, SqlState{"00000"},
                    fmt::format("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{}\" "
                                "to \"{}\"",
                                index->name, constraint.name));
  }
  index->name = constraint.name;
  relation_.constraints.push_back(std::move(constraint));
}

void TableBuilder::finish_check(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = ConstraintKind::check;
  constraint.no_inherit = node.is_no_inherit;
  if (node.is_no_inherit && relation_.is_partitioned()) {
    throw_error(sqlstate::invalid_table_definition,
                "cannot add NO INHERIT constraint to partitioned table \"{}\"", relation_.name);
  }
  constraint.check_sql =
      stored_expression(session_, relation_, node.raw_expr, Clause::check, nullptr);
  // The columns it reads: one names the constraint.
  Arena arena;
  Binder binder{session_.names, arena};
  const TablePtr table = columns_alone(relation_);
  const Slot first = binder.new_slots(relation_.columns.size());
  const ExprPtr expr =
      binder.bind_table_expression(constraint.check_sql, *table, first, Clause::check);
  walk(*expr, [&](Expr& part) {
    const auto* column = dynamic_cast<const SlotExpr*>(&part);
    // Other slots are internal to the binder: the operand of CASE.
    if (column == nullptr || column->slot() < first ||
        column->slot() - first >= relation_.columns.size()) {
      return;
    }
    const auto number = static_cast<std::int16_t>(column->slot() - first + 1);
    if (std::ranges::find(constraint.columns, number) == constraint.columns.end()) {
      constraint.columns.push_back(number);
    }
  });
  std::ranges::sort(constraint.columns);
  constraint.enforced = node.is_enforced && pending.enforced;
  constraint.validated = !node.skip_validation && constraint.enforced;
  if (!node.conname.empty()) {
    constraint.name = node.conname;
    if (merge_inherited_check(constraint)) return;
    if (is_new_table() && has_constraint(constraint.name)) {
      throw_error(sqlstate::duplicate_object, "check constraint \"{}\" already exists",
                  constraint.name);
    }
    require_free_constraint_name(constraint.name);
  } else {
    std::string column;
    if (constraint.columns.size() == 1) {
      column = relation_.columns[static_cast<std::size_t>(constraint.columns[0] - 1)].name;
    }
    constraint.name = own_free_name(object_name(relation_.name, column, "check"));
  }
  relation_.constraints.push_back(std::move(constraint));
}

void TableBuilder::finish_foreign_key(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  const std::vector<std::string> names =
      pending.columns.empty() ? strings_of(node.fk_attrs) : pending.columns;
  if (names.size() > kMostIndexColumns) {
    throw_error(sqlstate::too_many_columns, "cannot have more than {} keys in a foreign key",
                kMostIndexColumns);
  }
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = ConstraintKind::foreign_key;
  constraint.columns = column_numbers(names, "foreign key", -1);
  refuse_virtual_key(relation_, constraint.columns, "foreign key constraints");
  constraint.has_period = node.fk_with_period;
  constraint.on_update = action_of(node.fk_upd_action);
  constraint.on_delete = action_of(node.fk_del_action);
  constraint.match = node.fk_matchtype.empty() ? 's' : node.fk_matchtype[0];
  constraint.deferrable = pending.deferrable;
  constraint.initially_deferred = pending.initially_deferred;
  constraint.enforced = node.is_enforced && pending.enforced;
  constraint.validated = !node.skip_validation && constraint.enforced;
  for (const std::int16_t set :
       column_numbers(strings_of(node.fk_del_set_cols), "foreign key", -1)) {
    if (std::ranges::find(constraint.set_columns, set) == constraint.set_columns.end())
      constraint.set_columns.push_back(set);
  }

  Arena arena;
  Binder binder{session_.names, arena};
  const bool to_itself =
      node.pktable->relname == relation_.name &&
      (node.pktable->schemaname.empty() ||
       node.pktable->schemaname == session_.names.schema_name(relation_.schema)) &&
      session_.catalog.table(relation_.oid) == nullptr;
  TablePtr referenced =
      to_itself ? provisional_table(relation_) : binder.require_relation(*node.pktable);
  if (!to_itself && referenced->relation.oid != relation_.oid && referenced->computed == nullptr) {
    session_.rights.require(referenced, privilege::kReferences);
    // Locks the referenced table: its key must stay, and its writers' plans must be made again.
    referenced = session_.catalog.lock_for_change(*session_.transaction, referenced,
                                                  lock::RelationMode::share_row_exclusive);
  }
  if (referenced->relation.is_partitioned() || (to_itself && relation_.is_partitioned())) {
    throw SqlError{sqlstate::feature_not_supported,
                   "foreign keys that refer to partitioned tables are not supported"};
  }
  if (referenced->relation.kind != RelationKind::table) {
    throw_error(sqlstate::wrong_object_type, "referenced relation \"{}\" is not a table",
                referenced->relation.name);
  }
  const Relation& target =
      to_itself || referenced->relation.oid == relation_.oid ? relation_ : referenced->relation;
  refuse_shorter_lived(relation_, target);
  constraint.referenced_table = target.oid;
  refuse_impossible_actions(relation_, constraint);
  find_referenced_columns(node, target, constraint);
  const Index& key = find_referenced_key(node, target, constraint);
  constraint.index = key.oid;
  if (constraint.columns.size() != constraint.referenced_columns.size()) {
    throw SqlError{kInvalidForeignKey,
                   "number of referencing and referenced columns for foreign key disagree"};
  }
  for (std::size_t i = 0; i < constraint.columns.size(); ++i) {
    require_may_refer(
        session_.names,
        node.conname.empty() ? object_name(relation_.name, joined(names), "fkey").numbered(0)
                             : std::string{node.conname},
        relation_.columns[static_cast<std::size_t>(constraint.columns[i] - 1)],
        target.columns[static_cast<std::size_t>(constraint.referenced_columns[i] - 1)]);
  }
  require_period_key(key, constraint);
  refuse_period_actions(constraint);
  if (node.conname.empty()) {
    constraint.name = own_free_name(object_name(relation_.name, joined(names), "fkey"));
  } else {
    constraint.name = node.conname;
    require_free_constraint_name(constraint.name);
  }
  relation_.constraints.push_back(std::move(constraint));
}

}  // namespace swizzle::sql
