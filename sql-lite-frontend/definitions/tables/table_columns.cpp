// A column's definition, besides its type.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

/// Returns the position at which the expression names the column; -1 if it does not.
std::int32_t place_of(std::string_view column, const ast::Node& expression) {
  check_stack();
  const auto* reference = ast::try_as<ast::ColumnRef>(&expression);
  if (reference != nullptr) {
    const bool is_it = ast::is<ast::String>(reference->fields.back()) &&
                       ast::string_of(reference->fields.back()) == column;
    return is_it ? reference->location : -1;
  }
  std::int32_t found = -1;
  ast::for_each_child(expression, [&](const ast::Node& child) {
    if (found < 0) found = place_of(column, child);
  });
  return found;
}

}  // namespace

/// Reads the constraints of one column definition; contradictory ones are refused.
void TableBuilder::ColumnWords::refuse(std::string_view format, const ast::Constraint& at) const {
  throw sql_error(sqlstate::syntax_error, fmt::runtime(format), definition_.colname,
                  builder_.relation_.name)
      .at_position(at.location + 1);
}

void TableBuilder::ColumnWords::set_nullable(bool not_null, const ast::Constraint& at) {
  if (said_null_ && *said_null_ == not_null) {
    refuse("conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"", at);
  }
  said_null_ = !not_null;
  if (not_null) column().not_null = true;
}

void TableBuilder::ColumnWords::read_not_null(const ast::Constraint& constraint) {
  set_nullable(true, constraint);
  if (!not_null_) {
    const bool must_inherit =
        is_serial_ || std::ranges::any_of(definition_.constraints, [](const ast::Node* node) {
          const ast::ConstrType type = ast::as<ast::Constraint>(node).contype;
          return type == ast::ConstrType::primary || type == ast::ConstrType::identity;
        });
    if (must_inherit && constraint.is_no_inherit) {
      throw_error(sqlstate::syntax_error,
                  "conflicting NO INHERIT declarations for not-null constraints on column \"{}\"",
                  column().name);
    }
    not_null_ = builder_.not_nulls_.size();
    return builder_.add_not_null(constraint, column().name);
  }
  NotNull& first = builder_.not_nulls_[*not_null_];
  if (!constraint.conname.empty() && !first.name.empty() && constraint.conname != first.name) {
    throw_error(SqlState{"XX000"}, "conflicting not-null constraint names \"{}\" and \"{}\"",
                first.name, constraint.conname);
  }
  if (first.no_inherit != constraint.is_no_inherit) {
    throw_error(sqlstate::syntax_error,
                "conflicting NO INHERIT declarations for not-null constraints on column \"{}\"",
                column().name);
  }
  if (first.name.empty()) first.name = constraint.conname;
}

void TableBuilder::ColumnWords::read_value(const ast::Constraint& constraint) {
  using Kind = ast::ConstrType;
  const bool is_default = constraint.contype == Kind::default_;
  const bool is_identity = constraint.contype == Kind::identity;
  if (has_default_ && is_default) {
    refuse("multiple default values specified for column \"{}\" of table \"{}\"", constraint);
  }
  if (has_identity_ && is_identity) {
    refuse("multiple identity specifications for column \"{}\" of table \"{}\"", constraint);
  }
  if (has_generation_ && constraint.contype == Kind::generated) {
    refuse("multiple generation clauses specified for column \"{}\" of table \"{}\"", constraint);
  }
  has_default_ |= is_default;
  has_identity_ |= is_identity;
  has_generation_ |= constraint.contype == Kind::generated;
  if (has_default_ && has_identity_) {
    refuse("both default and identity specified for column \"{}\" of table \"{}\"", constraint);
  }
  if (has_default_ && has_generation_) {
    refuse("both default and generation expression specified for column \"{}\" of table \"{}\"",
           constraint);
  }
  if (has_identity_ && has_generation_) {
    refuse("both identity and generation expression specified for column \"{}\" of table \"{}\"",
           constraint);
  }
  if (is_default) {
    builder_.set_default(position_, constraint.raw_expr, Clause::column_default);
  } else if (is_identity) {
    set_nullable(true, constraint);
    builder_.make_identity(position_, constraint);
  } else {
    column().generated = true;
    column().is_virtual = constraint.generated_kind == "v";
    if (column().is_virtual) require_plain_type(column());
    builder_.generations_.push_back({position_, constraint.raw_expr});
  }
}

/// DEFERRABLE and its like speak about the constraint before them.
void TableBuilder::ColumnWords::read_attribute(const ast::Constraint& constraint) {
  using Kind = ast::ConstrType;
  const auto name = [&]() -> std::string_view {
    switch (constraint.contype) {
      case Kind::attr_deferrable:
        return "DEFERRABLE";
      case Kind::attr_not_deferrable:
        return "NOT DEFERRABLE";
      case Kind::attr_deferred:
        return "INITIALLY DEFERRED";
      default:
        return "INITIALLY IMMEDIATE";
    }
  }();
  const auto complain = [&](std::string message) {
    throw SqlError{sqlstate::syntax_error, std::move(message)}.at_position(constraint.location + 1);
  };
  if (last_ == nullptr || last_->contype == Kind::check) {
    complain(fmt::format("misplaced {} clause", name));
  }
  Pending& pending = builder_.pending_.back();
  const bool about_deferrable = constraint.contype == Kind::attr_deferrable ||
                                constraint.contype == Kind::attr_not_deferrable;
  if (std::exchange(about_deferrable ? saw_deferrable_ : saw_initially_, true)) {
    complain(about_deferrable ? "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed"
                              : "multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed");
  }
  if (constraint.contype == Kind::attr_deferrable) pending.deferrable = true;
  if (constraint.contype == Kind::attr_not_deferrable) not_deferrable_ = true;
  if (constraint.contype == Kind::attr_deferred) {
    pending.initially_deferred = true;
    if (!not_deferrable_) pending.deferrable = true;
  }
  if (pending.initially_deferred && not_deferrable_) {
    complain("constraint declared INITIALLY DEFERRED must be DEFERRABLE");
  }
}

void TableBuilder::ColumnWords::read_enforced(const ast::Constraint& constraint) {
  using Kind = ast::ConstrType;
  const bool enforces = constraint.contype == Kind::attr_enforced;
  if (last_ == nullptr || (last_->contype != Kind::check && last_->contype != Kind::foreign)) {
    throw sql_error(sqlstate::syntax_error, "misplaced {}ENFORCED clause", enforces ? "" : "NOT ")
        .at_position(constraint.location + 1);
  }
  if (std::exchange(saw_enforced_, true)) {
    throw SqlError{sqlstate::syntax_error, "multiple ENFORCED/NOT ENFORCED clauses not allowed"}
        .at_position(constraint.location + 1);
  }
  builder_.pending_.back().enforced = enforces;
}

void TableBuilder::ColumnWords::read(const ast::Constraint& constraint) {
  switch (constraint.contype) {
    case ast::ConstrType::notnull:
      return read_not_null(constraint);
    case ast::ConstrType::null:
      return set_nullable(false, constraint);
    case ast::ConstrType::default_:
    case ast::ConstrType::generated:
    case ast::ConstrType::identity:
      return read_value(constraint);
    case ast::ConstrType::primary:
    case ast::ConstrType::unique:
    case ast::ConstrType::check:
    case ast::ConstrType::foreign:
      if (constraint.contype == ast::ConstrType::primary) set_nullable(true, constraint);
      builder_.pending_.push_back({&constraint, {column().name}});
      last_ = &constraint;
      saw_deferrable_ = saw_initially_ = not_deferrable_ = saw_enforced_ = false;
      return;
    case ast::ConstrType::attr_deferrable:
    case ast::ConstrType::attr_deferred:
    case ast::ConstrType::attr_not_deferrable:
    case ast::ConstrType::attr_immediate:
      return read_attribute(constraint);
    case ast::ConstrType::attr_enforced:
    case ast::ConstrType::attr_not_enforced:
      return read_enforced(constraint);
    default:
      throw SqlError{sqlstate::feature_not_supported, "this column constraint is not supported"};
  }
}

void TableBuilder::ColumnWords::finish() {
  if (!is_serial_) return;
  const auto complain = [&](std::string_view what) {
    throw_error(sqlstate::syntax_error, "{} for column \"{}\" of table \"{}\"", what,
                definition_.colname, builder_.relation_.name);
  };
  if (has_default_) complain("multiple default values specified");
  if (has_identity_) complain("both default and identity specified");
  if (has_generation_) complain("both default and generation expression specified");
  if (said_null_.value_or(false)) complain("conflicting NULL/NOT NULL declarations");
}

void TableBuilder::change_column(const ast::ColumnDef& definition) {
  const auto found = std::ranges::find_if(relation_.columns, [&](const Column& column) {
    return !column.dropped && column.name == definition.colname;
  });
  if (found == relation_.columns.end()) {
    throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", definition.colname);
  }
  const auto position = static_cast<std::size_t>(found - relation_.columns.begin());
  ColumnWords words{*this, definition, position, false};
  for (const ast::Node* node : definition.constraints) {
    const auto& constraint = ast::as<ast::Constraint>(node);
    const bool gives = constraint.contype == ast::ConstrType::default_ ||
                       constraint.contype == ast::ConstrType::identity ||
                       constraint.contype == ast::ConstrType::generated;
    if (constraint.contype == ast::ConstrType::identity) {
      throw SqlError{sqlstate::feature_not_supported,
                     "identity columns are not supported on partitions"};
    }
    if (gives && found->generated) {
      throw_error(SqlState{"42611"},
                  "column \"{}\" inherits from generated column but specifies default",
                  found->name);
    }
    if (constraint.contype == ast::ConstrType::generated) {
      throw_error(SqlState{"42611"}, "child column \"{}\" specifies generation expression",
                  found->name);
    }
    words.read(constraint);
  }
  words.finish();
}

void TableBuilder::make_identity(std::size_t position, const ast::Constraint& constraint) {
  Column copy = relation_.columns[position];
  if (!is_sequence_type(copy.type)) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "identity column type must be smallint, integer, or bigint"};
  }
  // The sequence belongs to this column, which is in the list already.
  relation_.columns.pop_back();
  copy.default_sql = new_sequence(copy, copy.type, constraint.options, true);
  copy.identity = constraint.generated_when == "a" ? 'a' : 'd';
  relation_.columns.push_back(std::move(copy));
}

/// Generated columns may read any other column of the table, so they wait until all are there.
void TableBuilder::finish_generation(const Generation& generation) {
  if (is_new_table()) return generate(generation);
  try {
    generate(generation);
  } catch (SqlError& error) {
    // ALTER TABLE does not say where.
    error.fields().position = 0;
    throw;
  }
}

void TableBuilder::generate(const Generation& generation) {
  set_default(generation.position, generation.expression, Clause::generated);
  const TablePtr table = columns_alone(relation_);
  Arena arena;
  Binder binder{session_.names, arena};
  const Slot first = binder.new_slots(relation_.columns.size());
  const ExprPtr expr = binder.bind_table_expression(
      relation_.columns[generation.position].default_sql, *table, first, Clause::generated);
  for (std::size_t i = 0; i < relation_.columns.size(); ++i) {
    if (!relation_.columns[i].generated || !binder.is_used(first + static_cast<Slot>(i))) continue;
    throw sql_error(SqlState{"42P17"},
                    "cannot use generated column \"{}\" in column generation expression",
                    relation_.columns[i].name)
        .with_detail("A generated column cannot reference another generated column.")
        .at_position(place_of(relation_.columns[i].name, *generation.expression) + 1);
  }
}

}  // namespace swizzle::sql
