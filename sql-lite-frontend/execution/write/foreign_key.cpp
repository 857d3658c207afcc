#include "sql-lite-frontend/execution/write/foreign_key.h"

#include <fmt/format.h>

#include <utility>

#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

/// Types whose values one btree operator family compares with each other.
bool same_key_family(TypeId left, TypeId right) {
  const auto family = [](TypeId type) {
    const TypeId known = value_type(type).family;
    return known == TypeId::none ? type : known;
  };
  return family(left) == family(right);
}

const Column& column_of(const Table& table, std::int16_t number) {
  return table.relation.columns[static_cast<std::size_t>(number - 1)];
}

/// A value of the referencing side as the referenced key compares it.
std::string as_key(std::string value, TypeId referencing, TypeId referenced) {
  if (same_key_family(referencing, referenced)) return value;
  return fmt::format("CAST({} AS {})", value, stored_cast_target(referenced));
}

/// Adds the referenced key's collation if the referencing column has another one.
std::string under_key(std::string value, const Column& referencing, const Column& referenced) {
  const Oid collation = default_collation(referenced.expression_type());
  if (collation == kNoOid || default_collation(referencing.expression_type()) == collation)
    return value;
  const std::string builtin = builtin_collation_name(collation);
  return fmt::format("({} COLLATE {})", value,
                     builtin.empty() ? stored_collation_name(collation)
                                     : "pg_catalog." + quote_identifier(builtin));
}

/// "a = NULL, b = NULL", or DEFAULT
std::string cleared(const Table& table, std::span<const std::int16_t> columns,
                    ReferentialAction action) {
  std::string text;
  for (const std::int16_t column : columns) {
    if (!text.empty()) text += ", ";
    text += column_name(table, column);
    text += action == ReferentialAction::set_default ? " = DEFAULT" : " = NULL";
  }
  return text;
}

/// "(a)=(1) ", or nothing if the user may not read the columns.
std::string shown_key(StatementServices& services, FunctionContext& functions,
                      const TablePtr& table, std::span<const std::int16_t> columns,
                      std::span<const TypeId> types, std::span<const Value> values) {
  if (!services.may_read(table, columns)) return {};
  std::string names;
  std::string texts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) {
      names += ", ";
      texts += ", ";
    }
    names += table->relation.columns[static_cast<std::size_t>(columns[i] - 1)].name;
    texts += to_text(functions, types[i], values[i]);
  }
  return fmt::format("({})=({}) ", names, texts);
}

/// Returns the error of a violation; its table is always the referencing one.
Diagnostic violation(StatementServices& services, const ForeignKey& key, std::string message,
                     std::string detail) {
  Diagnostic diagnostic;
  diagnostic.state = sqlstate::foreign_key_violation;
  diagnostic.message = std::move(message);
  diagnostic.detail = std::move(detail);
  diagnostic.schema = services.schema_name(key.referencing()->relation.schema);
  diagnostic.table = key.referencing()->relation.name;
  diagnostic.constraint = key.constraint().name;
  return diagnostic;
}

}  // namespace

namespace {

/// Refuses keys that one column's collation calls equal and the other's does not.
void require_same_equality(NameSource& names, std::string_view constraint,
                           const Column& referencing, const Column& referenced) {
  const auto collation_of = [](const Column& column) {
    return column.collation != kNoOid ? column.collation : default_collation(column.type);
  };
  const Oid own = collation_of(referencing);
  const Oid other = collation_of(referenced);
  if (own == other || own == kNoOid || other == kNoOid) return;
  if (!is_nondeterministic(own) && !is_nondeterministic(other)) return;
  throw sql_error(sqlstate::collation_mismatch,
                  "foreign key constraint \"{}\" cannot be implemented", constraint)
      .with_detail(fmt::format(
          "Key columns \"{}\" of the referencing table and \"{}\" of the referenced table have "
          "incompatible collations: \"{}\" and \"{}\".  If either collation is nondeterministic, "
          "then both collations have to be the same.",
          referencing.name, referenced.name, names.collation_name(own),
          names.collation_name(other)));
}

}  // namespace

void require_may_refer(NameSource& names, std::string_view constraint, const Column& referencing,
                       const Column& referenced) {
  if (same_key_family(referencing.type, referenced.type) ||
      can_coerce(referencing.type, referenced.type, CastContext::implicit)) {
    return require_same_equality(names, constraint, referencing, referenced);
  }
  throw sql_error(sqlstate::datatype_mismatch,
                  "foreign key constraint \"{}\" cannot be implemented", constraint)
      .with_detail(fmt::format(
          "Key columns \"{}\" of the referencing table and \"{}\" of the referenced table are of "
          "incompatible types: {} and {}.",
          referencing.name, referenced.name, format_type(referencing.type),
          format_type(referenced.type)));
}

ForeignKey::ForeignKey(TablePtr referencing, TablePtr referenced, const Constraint& constraint)
    : referencing_(std::move(referencing)),
      referenced_(std::move(referenced)),
      constraint_(&constraint),
      referencing_types_(types_of(*referencing_, constraint.columns)),
      referenced_types_(types_of(*referenced_, constraint.referenced_columns)) {}

std::string_view ForeignKey::comparison(std::size_t column) const noexcept {
  const bool is_period = constraint_->has_period && column + 1 == referenced_types_.size();
  return is_period ? "&&" : "=";
}

/// "id = $1", of the referenced table.
std::string ForeignKey::by_referencing_values() const {
  std::string text;
  for (std::size_t i = 0; i < referenced_types_.size(); ++i) {
    if (i > 0) text += " AND ";
    text += fmt::format(
        "{} {} {}", column_name(*referenced_, constraint_->referenced_columns[i]), comparison(i),
        as_key(fmt::format("${}", i + 1), referencing_types_[i], referenced_types_[i]));
  }
  return text;
}

/// "id = $1", of the referenced table, with the values of its own side.
std::string ForeignKey::by_referenced_values() const {
  std::string text;
  for (std::size_t i = 0; i < referenced_types_.size(); ++i) {
    if (i > 0) text += " AND ";
    text += fmt::format("{} {} ${}", column_name(*referenced_, constraint_->referenced_columns[i]),
                        comparison(i), i + 1);
  }
  return text;
}

/// Finds and locks the referenced rows that satisfy a condition, and returns the union of their
/// ranges as `covered`: NULL if there are none.
std::string ForeignKey::covered_sql(NameSource& names, std::string_view condition) const {
  return fmt::format(
      "SELECT pg_catalog.range_agg(y.r) AS covered FROM (SELECT x.{} AS r FROM {} x WHERE {} "
      "FOR KEY SHARE OF x) y",
      column_name(*referenced_, constraint_->referenced_columns.back()),
      table_name(names, *referenced_), condition);
}

/// "p_id = $1", of the referencing table.
std::string ForeignKey::refers_to_values() const {
  std::string text;
  for (std::size_t i = 0; i < referenced_types_.size(); ++i) {
    if (i > 0) text += " AND ";
    const std::string column =
        under_key(as_key(column_name(*referencing_, constraint_->columns[i]), referencing_types_[i],
                         referenced_types_[i]),
                  column_of(*referencing_, constraint_->columns[i]),
                  column_of(*referenced_, constraint_->referenced_columns[i]));
    text += fmt::format("{} {} ${}", column, comparison(i), i + 1);
  }
  return text;
}

std::string ForeignKey::lock_referenced_sql(NameSource& names) const {
  if (constraint_->has_period) {
    return fmt::format("SELECT 1 FROM ({}) z WHERE ${} <@ z.covered",
                       covered_sql(names, by_referencing_values()), referenced_types_.size());
  }
  return fmt::format("SELECT 1 FROM {} x WHERE {} FOR KEY SHARE OF x",
                     table_name(names, *referenced_), by_referencing_values());
}

std::string ForeignKey::still_refers_sql(NameSource& names) const {
  return fmt::format("SELECT 1 FROM {} WHERE {} LIMIT 1", table_name(names, *referencing_),
                     equal_all(*referencing_, constraint_->columns));
}

std::string ForeignKey::still_there_sql(NameSource& names) const {
  return fmt::format("SELECT 1 FROM {} WHERE {}", table_name(names, *referenced_),
                     equal_all(*referenced_, constraint_->referenced_columns));
}

std::string ForeignKey::any_reference_sql(NameSource& names) const {
  std::string refers = refers_to_values();
  if (constraint_->has_period) {
    refers += fmt::format(" AND NOT coalesce({} * ${} <@ ({}), false)",
                          column_name(*referencing_, constraint_->columns.back()),
                          referenced_types_.size(), covered_sql(names, by_referenced_values()));
  }
  return fmt::format("SELECT 1 FROM {} x WHERE {} LIMIT 1 FOR KEY SHARE OF x",
                     table_name(names, *referencing_), refers);
}

std::string ForeignKey::delete_references_sql(NameSource& names) const {
  return fmt::format("DELETE FROM {} WHERE {}", table_name(names, *referencing_),
                     refers_to_values());
}

std::string ForeignKey::update_references_sql(NameSource& names) const {
  const std::size_t count = constraint_->columns.size();
  std::string assignments;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) assignments += ", ";
    assignments +=
        fmt::format("{} = ${}", column_name(*referencing_, constraint_->columns[i]), count + i + 1);
  }
  return fmt::format("UPDATE {} SET {} WHERE {}", table_name(names, *referencing_), assignments,
                     refers_to_values());
}

std::string ForeignKey::clear_references_sql(NameSource& names,
                                             std::span<const std::int16_t> columns,
                                             ReferentialAction action) const {
  return fmt::format("UPDATE {} SET {} WHERE {}", table_name(names, *referencing_),
                     cleared(*referencing_, columns, action), refers_to_values());
}

std::string ForeignKey::violations_sql(NameSource& names) const {
  std::string shown;
  std::string join;
  std::string refers;
  for (std::size_t i = 0; i < referenced_types_.size(); ++i) {
    const std::string column = "c." + column_name(*referencing_, constraint_->columns[i]);
    if (i > 0) {
      shown += ", ";
      join += " AND ";
      // MATCH SIMPLE: a NULL anywhere refers to nothing. FULL allows only all or none.
      refers += constraint_->match == 'f' ? " OR " : " AND ";
    }
    shown += column;
    join += fmt::format("p.{} {} {}", column_name(*referenced_, constraint_->referenced_columns[i]),
                        comparison(i),
                        under_key(as_key(column, referencing_types_[i], referenced_types_[i]),
                                  column_of(*referencing_, constraint_->columns[i]),
                                  column_of(*referenced_, constraint_->referenced_columns[i])));
    refers += column + " IS NOT NULL";
  }
  if (constraint_->has_period) {
    return fmt::format(
        "SELECT {} FROM {} c WHERE ({}) AND NOT coalesce(c.{} <@ (SELECT "
        "pg_catalog.range_agg(p.{}) "
        "FROM {} p WHERE {}), false) LIMIT 1",
        shown, table_name(names, *referencing_), refers,
        column_name(*referencing_, constraint_->columns.back()),
        column_name(*referenced_, constraint_->referenced_columns.back()),
        table_name(names, *referenced_), join);
  }
  return fmt::format("SELECT {} FROM {} c LEFT JOIN {} p ON {} WHERE ({}) AND p.{} IS NULL LIMIT 1",
                     shown, table_name(names, *referencing_), table_name(names, *referenced_), join,
                     refers, column_name(*referenced_, constraint_->referenced_columns[0]));
}

Diagnostic ForeignKey::missing(StatementServices& services, FunctionContext& functions,
                               std::span<const Value> values) const {
  return violation(
      services, *this,
      fmt::format("insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                  referencing_->relation.name, constraint_->name),
      any_null(values) ? "MATCH FULL does not allow mixing of null and nonnull key values."
                       : fmt::format("Key {}is not present in table \"{}\".",
                                     shown_key(services, functions, referencing_,
                                               constraint_->columns, referencing_types_, values),
                                     referenced_->relation.name));
}

Diagnostic ForeignKey::still_referenced(StatementServices& services, FunctionContext& functions,
                                        std::span<const Value> values,
                                        ReferentialAction action) const {
  const bool restricts = action == ReferentialAction::restrict_;
  Diagnostic diagnostic = violation(
      services, *this,
      fmt::format("update or delete on table \"{}\" violates {}foreign key constraint \"{}\" on "
                  "table \"{}\"",
                  referenced_->relation.name, restricts ? "RESTRICT setting of " : "",
                  constraint_->name, referencing_->relation.name),
      fmt::format("Key {}is {}referenced from table \"{}\".",
                  shown_key(services, functions, referenced_, constraint_->referenced_columns,
                            referenced_types_, values),
                  restricts ? "" : "still ", referencing_->relation.name));
  constexpr SqlState kRestrictViolation{"23001"};
  if (restricts) diagnostic.state = kRestrictViolation;
  return diagnostic;
}

}  // namespace swizzle::sql
