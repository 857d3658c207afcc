#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/ddl/table_builder.h"
#include "sql-lite-frontend/ddl/table_rewrite.h"
#include "sql-lite-frontend/execute/identifiers.h"

/// ALTER TABLE.
namespace swizzle::sql {
namespace {

constexpr SqlState kDuplicateColumn{"42701"};
constexpr SqlState kInvalidTableDefinition{"42P16"};
constexpr SqlState kDependentObjects{"2BP01"};

/// Applies the commands of one ALTER TABLE in turn; each sees what the ones before have done.
class TableChange {
 public:
  TableChange(Session::State& session, TablePtr table, ResultSink& sink)
      : session_(session), table_(std::move(table)), sink_(sink) {}

  void apply(const ast::AlterTableCmd& command);

 private:
  std::size_t require_column(std::string_view name) const {
    const auto position = table_->column_position(name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, table_->relation.name);
    }
    return *position;
  }
  void replace(Relation relation) {
    table_ = session_.catalog.replace(*session_.transaction, *table_, std::move(relation));
  }
  void rewrite(Relation relation, const RowChange& change) {
    table_ = rewrite_table(session_, table_, std::move(relation), change);
  }
  void add_column(const ast::AlterTableCmd& command);
  void drop_column(const ast::AlterTableCmd& command);
  void add_constraint(const ast::Constraint& constraint);
  void drop_constraint(const ast::AlterTableCmd& command);
  void alter_type(const ast::AlterTableCmd& command);
  void set_default(const ast::AlterTableCmd& command);
  void set_not_null(const ast::AlterTableCmd& command);
  void add_identity(const ast::AlterTableCmd& command);
  void finish_builder(TableBuilder& builder, Relation relation, std::size_t old_indexes,
                      std::size_t old_constraints);

  Session::State& session_;
  TablePtr table_;
  ResultSink& sink_;
};

/// New keys need trees and entries, a new primary key the whole table in another order.
void TableChange::finish_builder(TableBuilder& builder, Relation relation, std::size_t old_indexes,
                                 std::size_t old_constraints) {
  for (Relation& sequence : builder.sequences) create_relation(session_, std::move(sequence));
  const bool new_primary =
      std::any_of(relation.indexes.begin() + static_cast<std::ptrdiff_t>(old_indexes),
                  relation.indexes.end(), [](const Index& index) { return index.primary; });
  if (new_primary) {
    rewrite(std::move(relation), {});
  } else {
    for (std::size_t i = old_indexes; i < relation.indexes.size(); ++i) {
      relation.indexes[i].tree =
          value_of(session_.shared.engine.create_tree(*session_.transaction));
    }
    const std::size_t indexes = relation.indexes.size();
    replace(std::move(relation));
    for (std::size_t i = old_indexes; i < indexes; ++i) fill_index(session_, table_, i);
  }
  validate_constraints(session_, table_, old_constraints);
}

void TableChange::add_constraint(const ast::Constraint& constraint) {
  Relation relation = table_->relation;
  const std::size_t indexes = relation.indexes.size();
  const std::size_t constraints = relation.constraints.size();
  TableBuilder builder{session_, relation};
  builder.add_constraint(constraint);
  builder.finish();
  finish_builder(builder, std::move(relation), indexes, constraints);
}

void TableChange::add_column(const ast::AlterTableCmd& command) {
  const auto& definition = ast::as<ast::ColumnDef>(command.def);
  if (table_->column_position(definition.colname)) {
    if (!command.missing_ok) {
      throw_error(kDuplicateColumn, "column \"{}\" of relation \"{}\" already exists",
                  definition.colname, table_->relation.name);
    }
    session_.notice(sink_, Severity::notice, kDuplicateColumn,
                    fmt::format("column \"{}\" of relation \"{}\" already exists, skipping",
                                definition.colname, table_->relation.name));
    return;
  }
  Relation relation = table_->relation;
  const std::size_t indexes = relation.indexes.size();
  const std::size_t constraints = relation.constraints.size();
  TableBuilder builder{session_, relation};
  builder.add_column(definition);
  builder.finish();
  const std::size_t position = relation.columns.size() - 1;
  Column& column = relation.columns[position];

  const std::shared_ptr<Plan> scratch = session_.new_plan();
  Binder binder{session_, scratch->arena};
  const TablePtr shape = provisional_table(relation);
  ExprPtr fill;
  const Slot first = binder.new_slots(relation.columns.size());
  if (!column.default_sql.empty()) {
    for (Relation& sequence : builder.sequences) create_relation(session_, std::move(sequence));
    builder.sequences.clear();
    fill = binder.coerce_to_column(
        binder.bind_table_expression(column.default_sql, *shape, first,
                                     column.generated ? Clause::generated : Clause::column_default),
        column);
  }
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = session_.transaction.get();
  const bool per_row = fill && (column.generated || is_volatile(*fill));
  if (!per_row) {
    // Old rows say what the default is now, without being touched.
    if (fill) {
      const Value value = fill->eval(scratch->execution);
      if (!value.is_null()) {
        std::string flat;
        append_flat(flat, shape_of(column.type), value);
        column.missing = std::move(flat);
      }
    }
    finish_builder(builder, std::move(relation), indexes, constraints);
    return;
  }
  // First the column, filled row by row; then its keys and checks over the filled table.
  Relation with_column = relation;
  with_column.indexes.resize(indexes);
  with_column.constraints.resize(constraints);
  rewrite(std::move(with_column),
          [&](Execution& execution, std::span<const Value> old_row, std::span<Value> new_row) {
            std::ranges::copy(old_row, new_row.begin());
            for (std::size_t i = 0; i < old_row.size(); ++i) {
              scratch->execution.slots[first + i] = old_row[i];
            }
            new_row[position] = fill->eval(scratch->execution).copy_to(execution.row_arena);
          });
  Relation finished = table_->relation;
  finished.indexes.insert(finished.indexes.end(),
                          relation.indexes.begin() + static_cast<std::ptrdiff_t>(indexes),
                          relation.indexes.end());
  finished.constraints.insert(
      finished.constraints.end(),
      relation.constraints.begin() + static_cast<std::ptrdiff_t>(constraints),
      relation.constraints.end());
  finish_builder(builder, std::move(finished), indexes, constraints);
}

void TableChange::drop_column(const ast::AlterTableCmd& command) {
  const auto position = table_->column_position(command.name);
  if (!position) {
    if (!command.missing_ok) require_column(command.name);
    session_.notice(sink_, Severity::notice, sqlstate::undefined_column,
                    fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping",
                                command.name, table_->relation.name));
    return;
  }
  const auto number = static_cast<std::int16_t>(*position + 1);
  Relation relation = table_->relation;
  const auto uses = [number](const std::vector<std::int16_t>& columns) {
    return std::ranges::find(columns, number) != columns.end();
  };
  bool was_primary = false;
  for (const Index& index : relation.indexes) {
    const bool used = std::ranges::any_of(
        index.columns, [number](const IndexColumn& column) { return column.column == number; });
    if (!used) continue;
    was_primary |= index.primary;
    if (!index.primary) {
      value_of(session_.shared.engine.drop_tree(*session_.transaction, index.tree));
    }
  }
  for (const Constraint& constraint : relation.constraints) {
    const bool is_key =
        constraint.kind == ConstraintKind::primary_key || constraint.kind == ConstraintKind::unique;
    if (!is_key || !uses(constraint.columns)) continue;
    for (const TablePtr& other : session_.referencing_tables(relation.oid)) {
      for (const Constraint& foreign : other->relation.constraints) {
        if (foreign.index != constraint.index || other->relation.oid == relation.oid) continue;
        throw sql_error(kDependentObjects,
                        "cannot drop column {} of table {} because other objects depend on it",
                        command.name, relation.name)
            .with_detail(fmt::format("constraint {} on table {} depends on column {} of table {}",
                                     foreign.name, other->relation.name, command.name,
                                     relation.name))
            .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
      }
    }
  }
  std::erase_if(relation.indexes, [number](const Index& index) {
    return std::ranges::any_of(
        index.columns, [number](const IndexColumn& column) { return column.column == number; });
  });
  std::erase_if(relation.constraints,
                [&](const Constraint& constraint) { return uses(constraint.columns); });
  Column& column = relation.columns[*position];
  column.dropped = true;
  column.not_null = false;
  column.name = fmt::format("........pg.dropped.{}........", number);
  column.default_sql.clear();
  column.identity = 0;
  column.generated = false;
  for (const TablePtr& other : session_.catalog.tables()) {
    const auto& sequence = other->relation.sequence;
    if (sequence && sequence->owner_table == relation.oid && sequence->owner_column == number) {
      session_.drop_relation(other);
    }
  }
  if (was_primary) {
    rewrite(std::move(relation), {});
  } else {
    replace(std::move(relation));
  }
}

void TableChange::drop_constraint(const ast::AlterTableCmd& command) {
  Relation relation = table_->relation;
  const auto found = std::ranges::find(relation.constraints, command.name, &Constraint::name);
  if (found == relation.constraints.end()) {
    if (!command.missing_ok) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" of relation \"{}\" does not exist",
                  command.name, relation.name);
    }
    session_.notice(sink_, Severity::notice, sqlstate::undefined_object,
                    fmt::format("constraint \"{}\" of relation \"{}\" does not exist, skipping",
                                command.name, relation.name));
    return;
  }
  const Constraint constraint = *found;
  relation.constraints.erase(found);
  const bool is_key =
      constraint.kind == ConstraintKind::primary_key || constraint.kind == ConstraintKind::unique;
  if (!is_key) {
    replace(std::move(relation));
    return;
  }
  for (const TablePtr& other : session_.referencing_tables(relation.oid)) {
    for (const Constraint& foreign : other->relation.constraints) {
      if (foreign.index != constraint.index) continue;
      if (command.behavior != ast::DropBehavior::cascade) {
        throw sql_error(kDependentObjects,
                        "cannot drop constraint {} on table {} because other objects depend on it",
                        constraint.name, relation.name)
            .with_detail(fmt::format("constraint {} on table {} depends on index {}", foreign.name,
                                     other->relation.name, constraint.name))
            .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
      }
      const TablePtr locked = session_.catalog.lock_for_change(*session_.transaction, other);
      Relation changed = locked->relation;
      std::erase_if(changed.constraints, [&](const Constraint& c) { return c.oid == foreign.oid; });
      session_.catalog.replace(*session_.transaction, *locked, std::move(changed));
    }
  }
  const auto index = std::ranges::find(relation.indexes, constraint.index, &Index::oid);
  const bool primary = index->primary;
  if (!primary) {
    value_of(session_.shared.engine.drop_tree(*session_.transaction, index->tree));
  }
  relation.indexes.erase(index);
  if (primary) {
    rewrite(std::move(relation), {});
  } else {
    replace(std::move(relation));
  }
}

void TableChange::alter_type(const ast::AlterTableCmd& command) {
  const auto& definition = ast::as<ast::ColumnDef>(command.def);
  const std::size_t position = require_column(command.name);
  const std::shared_ptr<Plan> scratch = session_.new_plan();
  Binder binder{session_, scratch->arena};
  const TypeReference type = binder.bind_type(*definition.type_name);
  const Slot first = binder.new_slots(table_->relation.columns.size());
  Scope scope = binder.table_scope(table_, table_->relation.name, first);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  ExprPtr convert;
  if (definition.raw_default != nullptr) {
    convert = binder.bind_expression(definition.raw_default, scope);
  } else {
    ScopeColumn old;
    for (const ScopeColumn& candidate : scope.items[0].columns) {
      if (candidate.name == column.name) old = candidate;
    }
    convert = binder.slot_expr(old);
  }
  ExprPtr coerced =
      binder.try_coerce(convert, type.type, type.typmod, Binder::Implicitness::assignment);
  if (coerced == nullptr) {
    throw sql_error(sqlstate::datatype_mismatch,
                    "column \"{}\" cannot be cast automatically to type {}", column.name,
                    format_type(type.type))
        .with_hint(fmt::format("You might need to specify \"USING {}::{}\".", column.name,
                               format_type(type.type, type.typmod)));
  }
  convert = std::move(coerced);
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = session_.transaction.get();
  column.type = type.type;
  column.typmod = type.typmod;
  for (Index& index : relation.indexes) {
    for (IndexColumn& part : index.columns) {
      if (part.column == static_cast<std::int16_t>(position + 1)) part.type = type.type;
    }
  }
  rewrite(std::move(relation),
          [&](Execution& execution, std::span<const Value> old_row, std::span<Value> new_row) {
            std::ranges::copy(old_row, new_row.begin());
            for (std::size_t i = 0; i < old_row.size(); ++i) {
              scratch->execution.slots[first + i] = old_row[i];
            }
            new_row[position] = convert->eval(scratch->execution).copy_to(execution.row_arena);
            scratch->execution.row_arena.reset();
          });
}

void TableChange::set_default(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  if (column.identity != 0) {
    throw_error(sqlstate::syntax_error, "column \"{}\" of relation \"{}\" is an identity column",
                column.name, relation.name);
  }
  column.default_sql = command.def == nullptr
                           ? std::string{}
                           : stored_expression(session_, relation, command.def,
                                               Clause::column_default, column.type, column.typmod);
  replace(std::move(relation));
}

void TableChange::set_not_null(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  relation.columns[position].not_null = true;
  const std::size_t constraints = relation.constraints.size();
  replace(std::move(relation));
  validate_constraints(session_, table_, constraints);
}

void TableChange::add_identity(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  const auto& constraint = ast::as<ast::Constraint>(command.def);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  if (column.identity != 0) {
    throw_error(SqlState{"55000"}, "column \"{}\" of relation \"{}\" is already an identity column",
                column.name, relation.name);
  }
  Relation sequence;
  sequence.oid = session_.catalog.allocate_oid();
  sequence.schema = relation.schema;
  sequence.kind = RelationKind::sequence;
  sequence.persistence = relation.persistence;
  sequence.name = free_name(session_, relation, object_name(relation.name, column.name, "seq"));
  SequenceDefinition usual;
  usual.type = column.type;
  if (column.type == TypeId::int4) usual.maximum = INT32_MAX;
  if (column.type == TypeId::int2) usual.maximum = INT16_MAX;
  sequence.sequence = read_sequence_options(constraint.options, usual, session_, true);
  sequence.sequence->owner_table = relation.oid;
  sequence.sequence->owner_column = static_cast<std::int16_t>(position + 1);
  sequence.sequence->identity = true;
  column.identity = constraint.generated_when == "a" ? 'a' : 'd';
  column.default_sql = fmt::format("nextval('{}'::regclass)", sequence.oid);
  create_relation(session_, std::move(sequence));
  replace(std::move(relation));
}

void TableChange::apply(const ast::AlterTableCmd& command) {
  using Type = ast::AlterTableType;
  switch (command.subtype) {
    case Type::addcolumn:
      return add_column(command);
    case Type::dropcolumn:
      return drop_column(command);
    case Type::addconstraint:
      return add_constraint(ast::as<ast::Constraint>(command.def));
    case Type::dropconstraint:
      return drop_constraint(command);
    case Type::altercolumntype:
      return alter_type(command);
    case Type::columndefault:
      return set_default(command);
    case Type::setnotnull:
      return set_not_null(command);
    case Type::dropnotnull: {
      const std::size_t position = require_column(command.name);
      Relation relation = table_->relation;
      const Index* primary = table_->primary_key();
      if (primary != nullptr &&
          std::ranges::any_of(primary->columns, [&](const IndexColumn& column) {
            return column.column == static_cast<std::int16_t>(position + 1);
          })) {
        throw_error(kInvalidTableDefinition, "column \"{}\" is in a primary key", command.name);
      }
      relation.columns[position].not_null = false;
      return replace(std::move(relation));
    }
    case Type::addidentity:
      return add_identity(command);
    case Type::dropidentity: {
      const std::size_t position = require_column(command.name);
      Relation relation = table_->relation;
      relation.columns[position].identity = 0;
      relation.columns[position].default_sql.clear();
      for (const TablePtr& other : session_.catalog.tables()) {
        const auto& sequence = other->relation.sequence;
        if (sequence && sequence->owner_table == relation.oid &&
            sequence->owner_column == static_cast<std::int16_t>(position + 1)) {
          session_.drop_relation(other);
        }
      }
      return replace(std::move(relation));
    }
    case Type::validateconstraint: {
      Relation relation = table_->relation;
      const auto found = std::ranges::find(relation.constraints, command.name, &Constraint::name);
      if (found == relation.constraints.end()) {
        throw_error(sqlstate::undefined_object,
                    "constraint \"{}\" of relation \"{}\" does not exist", command.name,
                    relation.name);
      }
      const auto position = static_cast<std::size_t>(found - relation.constraints.begin());
      found->validated = true;
      replace(std::move(relation));
      return validate_constraints(session_, table_, position);
    }
    case Type::changeowner: {
      Relation relation = table_->relation;
      const RolePtr role = session_.catalog.role(command.newowner->rolename);
      if (role) relation.owner = role->oid;
      if (!role && command.newowner->roletype == ast::RoleSpecType::cstring) {
        throw_error(sqlstate::undefined_object, "role \"{}\" does not exist",
                    command.newowner->rolename);
      }
      return replace(std::move(relation));
    }
    case Type::setstatistics:
    case Type::setstorage:
    case Type::setreloptions:
    case Type::resetreloptions:
    case Type::clusteron:
    case Type::dropcluster:
    case Type::setoptions:
    case Type::resetoptions:
      // Hints for a storage that is not ours.
      return;
    default:
      throw_error(sqlstate::feature_not_supported, "this form of ALTER TABLE is not supported");
  }
}

}  // namespace

void Session::State::alter_table(const ast::AlterTableStmt& statement, ResultSink& sink) {
  std::string_view tag = "ALTER TABLE";
  if (statement.objtype == ast::ObjectType::view) tag = "ALTER VIEW";
  if (statement.objtype == ast::ObjectType::sequence) tag = "ALTER SEQUENCE";
  if (statement.objtype == ast::ObjectType::index) tag = "ALTER INDEX";
  Arena arena;
  Binder binder{*this, arena};
  TablePtr table = binder.find_table(*statement.relation);
  if (!table) {
    if (!statement.missing_ok) binder.require_table(*statement.relation);
    notice(sink, Severity::notice, sqlstate::undefined_table,
           fmt::format("relation \"{}\" does not exist, skipping", statement.relation->relname));
    sink.command_complete(tag);
    return;
  }
  if (table->computed != nullptr) {
    throw_error(SqlState{"42501"}, "permission denied: \"{}\" is a system catalog",
                table->relation.name);
  }
  table = catalog.lock_for_change(*transaction, table);
  TableChange change{*this, table, sink};
  for (const ast::Node* node : statement.cmds) change.apply(ast::as<ast::AlterTableCmd>(node));
  sink.command_complete(tag);
}

}  // namespace swizzle::sql
