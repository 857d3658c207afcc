#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/indexes/inverted_index.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/execution/write/foreign_key.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// ALTER TABLE … ALTER COLUMN: type, default, NOT NULL, identity, generation.
namespace swizzle::sql {
namespace {

/// Errors about the parts of an ALTER TABLE have no position.
template <class Body>
auto without_position(const Body& body) {
  try {
    return body();
  } catch (SqlError& error) {
    error.fields().position = 0;
    throw;
  }
}

}  // namespace

void TableChange::check_type_may_change(std::size_t position) const {
  const std::string& name = table_->relation.columns[position].name;
  for (const Dependent& dependent : dependents_of_column(session_, table_, position)) {
    if (dependent.kind == Dependent::Kind::generated_column) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot alter type of a column used by a generated column"}
          .with_detail(fmt::format("Column \"{}\" is used by generated column \"{}\".", name,
                                   table_->relation.columns[dependent.position].name));
    }
    if (dependent.kind == Dependent::Kind::trigger) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot alter type of a column used in a trigger definition"}
          .with_detail(fmt::format("{} depends on column \"{}\"", dependent.name, name));
    }
    if (dependent.kind == Dependent::Kind::policy) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot alter type of a column used in a policy definition"}
          .with_detail(fmt::format("{} depends on column \"{}\"", dependent.name, name));
    }
    if (dependent.kind == Dependent::Kind::routine) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot alter type of a column used by a function or procedure"}
          .with_detail(fmt::format("{} depends on column \"{}\"", dependent.name, name));
    }
    if (dependent.kind == Dependent::Kind::view) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot alter type of a column used by a view or rule"}
          .with_detail(fmt::format("rule _RETURN on {} depends on column \"{}\"",
                                   described(session_, *dependent.table), name));
    }
  }
  refuse_published_column(session_, *table_, position);
}

/// Checks foreign keys again, since values of the new type may refer to other rows, or to none.
void TableChange::recheck_foreign_keys(std::size_t position) {
  const auto number = static_cast<std::int16_t>(position + 1);
  const auto recheck = [&](const TablePtr& referencing, const Constraint& key) {
    const TablePtr referenced = session_.names.table(key.referenced_table);
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      const auto& from = referencing->relation.columns;
      const auto& to = referenced->relation.columns;
      require_may_refer(session_.names, key.name,
                        from[static_cast<std::size_t>(key.columns[i] - 1)],
                        to[static_cast<std::size_t>(key.referenced_columns[i] - 1)]);
    }
    if (key.validated) validate_foreign_key(session_, referencing, key);
  };
  const auto has_column = [&](const std::vector<std::int16_t>& columns) {
    return std::ranges::find(columns, number) != columns.end();
  };
  for (const Constraint& key : table_->relation.constraints) {
    if (key.kind == ConstraintKind::foreign_key && has_column(key.columns)) recheck(table_, key);
  }
  for (const TablePtr& referencing : session_.names.referencing_tables(table_->relation.oid)) {
    for (const Constraint& key : referencing->relation.constraints) {
      if (key.kind == ConstraintKind::foreign_key && key.referenced_table == table_->relation.oid &&
          has_column(key.referenced_columns)) {
        recheck(referencing, key);
      }
    }
  }
}

void TableChange::alter_type(const ast::AlterTableCmd& command) {
  const auto& definition = ast::as<ast::ColumnDef>(command.def);
  const std::size_t position = require_column(command.name);
  if (definition.raw_default != nullptr && table_->relation.columns[position].generated) {
    throw SqlError{SqlState{"42611"}, "cannot specify USING when altering type of generated column"}
        .with_detail(fmt::format("Column \"{}\" is a generated column.",
                                 table_->relation.columns[position].name));
  }
  const std::unique_ptr<Scratch> scratch = session_.new_scratch();
  Binder binder{session_.names, scratch->arena};
  const TypeReference type = binder.bind_type(*definition.type_name);
  hold_type(session_, type.type);
  if (const TypePtr rows = session_.names.user_type(TypeId{table_->relation.row_type})) {
    refuse_in_itself(session_, *rows, type.type);
  }
  refuse_columns_of_rows(session_, *table_);
  check_type_may_change(position);
  if (table_->relation.columns[position].identity != 0) {
    change_identity_type(session_, identity_sequence(position), type.type);
  }
  const Slot first = binder.new_slots(table_->relation.columns.size());
  Scope scope = binder.table_scope(table_, table_->relation.name, first);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  scope.clause = Clause::alter_using;
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
  if (coerced == nullptr && definition.raw_default != nullptr) {
    throw sql_error(sqlstate::datatype_mismatch,
                    "result of USING clause for column \"{}\" cannot be cast automatically to type "
                    "{}",
                    column.name, format_type(type.type))
        .with_hint("You might need to add an explicit cast.");
  }
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
  const Oid old_collation = collation_of_key(session_, {}, column.expression_type());
  column.type = type.type;
  column.typmod = type.typmod;
  column.storage = 0;
  column.collation = collation_of_column(session_, definition.coll_clause, type.type);
  for (Index& index : relation.indexes) {
    for (IndexColumn& part : index.columns) {
      if (part.column != static_cast<std::int16_t>(position + 1)) continue;
      part.type = type.type;
      // A collation of the index's own stays.
      const Oid new_collation = collation_of_key(session_, {}, column.expression_type());
      if (new_collation == 0 || part.collation == kNoOid || part.collation == old_collation)
        part.collation = new_collation;
      if (index.without_overlaps && part.excludes_by != "=") require_period_type(column);
      if (index.excludes()) {
        require_exclusion(session_, access_method_name(index.method), type.type, part.excludes_by);
      }
      if (index.method == IndexMethod::ranges && range_subtype(type.type) == TypeId::none) {
        require_gist_class(session_, type.type);
        throw_error(sqlstate::feature_not_supported,
                    "an index USING gist over type {} is not supported", format_type(type.type));
      }
      if (index.method != IndexMethod::inverted) continue;
      part.operator_class = element_class_name(session_, type.type, part.operator_class);
    }
  }
  if (column.is_virtual) {
    require_plain_type(column);
    return replace(std::move(relation));
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
  recheck_foreign_keys(position);
}

void TableChange::set_default(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  const auto refuse = [&](std::string_view what, std::string_view instead) {
    SqlError error = sql_error(sqlstate::syntax_error, "column \"{}\" of relation \"{}\" is {}",
                               column.name, relation.name, what);
    if (command.def != nullptr && column.identity != 0) throw error;
    throw std::move(error).with_hint(
        fmt::format("Use ALTER TABLE ... ALTER COLUMN ... {} instead.", instead));
  };
  if (column.identity != 0) refuse("an identity column", "DROP IDENTITY");
  // A stored generated column without its expression could be neither written nor altered.
  if (column.generated) {
    refuse("a generated column", command.def != nullptr ? "SET EXPRESSION" : "DROP EXPRESSION");
  }
  column.default_sql = command.def == nullptr ? std::string{} : without_position([&] {
    return stored_expression(session_, relation, command.def, Clause::column_default, &column);
  });
  replace(std::move(relation));
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
  if (!is_sequence_type(column.type)) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "identity column type must be smallint, integer, or bigint"};
  }
  if (!column.not_null) {
    throw_error(SqlState{"55000"},
                "column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be "
                "added",
                column.name, relation.name);
  }
  if (column.not_null_unproven) {
    const Constraint* incompatible = not_null_of(relation, position);
    throw sql_error(SqlState{"55000"},
                    "incompatible NOT VALID constraint \"{}\" on relation \"{}\"",
                    incompatible->name, relation.name)
        .with_hint("You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT.");
  }
  if (!column.default_sql.empty()) {
    throw_error(SqlState{"55000"}, "column \"{}\" of relation \"{}\" already has a default value",
                column.name, relation.name);
  }
  Relation sequence;
  sequence.oid = session_.catalog.allocate_oid();
  sequence.schema = relation.schema;
  sequence.owner = relation.owner;
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

TablePtr TableChange::identity_sequence(std::size_t position) const {
  for (TablePtr& other : session_.catalog.sequences_of(table_->relation.oid)) {
    if (other->relation.sequence->owner_column == static_cast<std::int16_t>(position + 1))
      return std::move(other);
  }
  return nullptr;
}

void TableChange::not_such_column(const ast::AlterTableCmd& command, std::string_view what) {
  std::string text = fmt::format("column \"{}\" of relation \"{}\" is not {}", command.name,
                                 table_->relation.name, what);
  if (!command.missing_ok) throw SqlError{SqlState{"55000"}, std::move(text)};
  notice_skipped(session_, sink_, text);
}

/// SET GENERATED, RESTART and SET of the sequence's options.
void TableChange::change_identity(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  if (table_->relation.columns[position].identity == 0) {
    return not_such_column(command, "an identity column");
  }
  Relation relation = table_->relation;
  std::vector<const ast::Node*> options;
  for (const ast::Node* node : ast::as<ast::List>(command.def).items) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "generated") {
      options.push_back(node);
    } else {
      relation.columns[position].identity =
          static_cast<char>(ast::as<ast::Integer>(option.arg).ival);
    }
  }
  replace(std::move(relation));
  if (!options.empty()) change_sequence(session_, identity_sequence(position), options);
}

void TableChange::drop_identity(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  if (table_->relation.columns[position].identity == 0) {
    return not_such_column(command, "an identity column");
  }
  Relation relation = table_->relation;
  relation.columns[position].identity = 0;
  relation.columns[position].default_sql.clear();
  session_.drop_relation(identity_sequence(position));
  replace(std::move(relation));
}

namespace {

[[noreturn]] void refuse_for_virtual(std::string_view what, const Relation& relation,
                                     const Column& column) {
  throw sql_error(sqlstate::feature_not_supported, "ALTER TABLE / {}", what)
      .with_detail(fmt::format("Column \"{}\" of relation \"{}\" is a virtual generated column.",
                               column.name, relation.name));
}

}  // namespace

void TableChange::drop_expression(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  if (!column.generated) return not_such_column(command, "a generated column");
  if (column.is_virtual) {
    refuse_for_virtual("DROP EXPRESSION is not supported for virtual generated columns", relation,
                       column);
  }
  column.generated = false;
  column.default_sql.clear();
  replace(std::move(relation));
}

/// A stored column is computed anew in every row.
void TableChange::set_expression(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  Column& column = relation.columns[position];
  if (!column.generated) {
    throw_error(SqlState{"55000"}, "column \"{}\" of relation \"{}\" is not a generated column",
                column.name, relation.name);
  }
  const bool has_checks = std::ranges::any_of(relation.constraints, [](const Constraint& one) {
    return one.kind == ConstraintKind::check;
  });
  if (column.is_virtual && has_checks) {
    refuse_for_virtual(
        "SET EXPRESSION is not supported for virtual generated columns in tables with check "
        "constraints",
        relation, column);
  }
  if (column.is_virtual && is_published(session_, *table_)) {
    refuse_for_virtual(
        "SET EXPRESSION is not supported for virtual generated columns in tables that are part of "
        "a publication",
        relation, column);
  }
  TableBuilder builder{session_, relation};
  builder.generate_anew(position, command.def);
  if (column.is_virtual) {
    const bool needs_value = column.not_null;
    const std::size_t constraints = relation.constraints.size();
    replace(std::move(relation));
    if (needs_value) validate_constraints(session_, table_, constraints);
    return;
  }
  const std::unique_ptr<Scratch> scratch = session_.new_scratch();
  Binder binder{session_.names, scratch->arena};
  const Slot first = binder.new_slots(relation.columns.size());
  const ExprPtr value = binder.coerce_to_column(
      binder.bind_table_expression(column.default_sql, *table_, first, Clause::generated), column);
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = session_.transaction.get();
  rewrite(std::move(relation),
          [&](Execution& execution, std::span<const Value> old_row, std::span<Value> new_row) {
            std::ranges::copy(old_row, new_row.begin());
            for (std::size_t i = 0; i < old_row.size(); ++i) {
              scratch->execution.slots[first + i] = old_row[i];
            }
            new_row[position] = value->eval(scratch->execution).copy_to(execution.row_arena);
            scratch->execution.row_arena.reset();
          });
  recheck_foreign_keys(position);
}

}  // namespace swizzle::sql
