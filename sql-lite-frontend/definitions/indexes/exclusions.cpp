// EXCLUDE USING …: the clauses allowed for a constraint of that kind, and the index behind it.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/indexes/inverted_index.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/execution/write/exclusion.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

bool is_range_or_multirange(TypeId type) {
  type = base_type(type);
  return range_subtype(type) != TypeId::none || range_of_multirange(type) != TypeId::none;
}

/// True for types for which the extension btree_gist has operator classes.
bool is_of_btree_gist(TypeId type) {
  return is_enum(type) || value_type(base_type(type)).in_btree_gist;
}

/// Types beside ranges that have a default GiST class in PostgreSQL.
bool has_gist_class(TypeId type) {
  static constexpr std::string_view kTypes[] = {"point",   "box",      "circle",
                                                "polygon", "tsvector", "tsquery"};
  return std::ranges::find(kTypes, value_type(base_type(type)).name) != std::end(kTypes);
}

void require_class(StatementContext& session, std::string_view method, TypeId type) {
  const bool is_gist = method == "gist";
  const bool has_class =
      !is_gist || is_range_or_multirange(type) ||
      (is_of_btree_gist(type) && session.catalog.extension("btree_gist") != nullptr);
  if (has_class && is_indexable(type)) return;
  if (is_gist && has_gist_class(type)) {
    throw_error(sqlstate::feature_not_supported, "access method \"gist\" over {} is not supported",
                format_type(type));
  }
  throw sql_error(sqlstate::undefined_object,
                  "data type {} has no default operator class for access method \"{}\"",
                  format_type(type), method)
      .with_hint(
          "You must specify an operator class for the index or define a default operator class for "
          "the data type.");
}

bool is_member(std::string_view method, TypeId type, ExclusionOperator op) {
  if (op == ExclusionOperator::equal) return true;
  if (method != "gist") return false;
  const bool is_of_ranges = op == ExclusionOperator::overlaps || op == ExclusionOperator::adjoins;
  return is_of_ranges == is_range_or_multirange(type);
}

/// "&&(anyrange,anyrange)"
std::string signature_of(const Operator& op) {
  return fmt::format("{}({},{})", op.name, format_type(op.left), format_type(op.right));
}

/// Returns the class's name as in PostgreSQL; it has no effect, because the order is always the
/// type's.
std::string class_named(std::string_view method, TypeId type, const ast::IndexElem& element) {
  if (element.opclass.empty()) return {};
  std::string name{ast::string_of(element.opclass.back())};
  if (name == "inet_ops" && method == "gist") {
    throw SqlError{sqlstate::feature_not_supported,
                   "operator class \"inet_ops\" in exclusion constraints is not supported"};
  }
  const std::string known = operator_family(method, type);
  const std::string own = fmt::format("{}_ops", value_type(base_type(type)).name);
  if (name != known && (method == "gist" || name != own)) {
    throw_error(sqlstate::undefined_object,
                "operator class \"{}\" does not exist for access method \"{}\"", name, method);
  }
  return {};
}

std::string_view method_of(const ast::Constraint& node) {
  return node.access_method.empty() ? std::string_view{"btree"} : node.access_method;
}

void refuse_nondeterministic(Oid collation) {
  if (!is_nondeterministic(collation)) return;
  throw SqlError{sqlstate::feature_not_supported,
                 "nondeterministic collations are not supported for exclusion constraints"};
}

void check_method(StatementContext& session, const ast::Constraint& node) {
  const std::string_view method = method_of(node);
  if (method == "btree" || method == "gist") return;
  if (method == "gin" || method == "brin") {
    throw_error(sqlstate::feature_not_supported,
                "access method \"{}\" does not support exclusion constraints", method);
  }
  if (method == "spgist") {
    throw SqlError{sqlstate::feature_not_supported,
                   "exclusion constraints USING spgist are not supported"};
  }
  if (method != "hash") {
    throw_error(sqlstate::undefined_object, "access method \"{}\" does not exist", method);
  }
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "access method \"hash\" does not support {}",
                what);
  };
  if (node.exclusions.size() > 1) refuse("multicolumn indexes");
  if (!node.including.empty()) refuse("included columns");
  if (session.sink_for_notices == nullptr) return;
  session.notice(*session.sink_for_notices, Severity::notice, SqlState{"00000"},
                 "access method \"hash\" is not supported, the index is a \"btree\"");
}

}  // namespace

void require_period_type(const Column& column) {
  if (is_range_or_multirange(column.type)) return;
  throw_error(sqlstate::datatype_mismatch,
              "column \"{}\" in WITHOUT OVERLAPS is not a range or multirange type", column.name);
}

std::string operator_family(std::string_view method, TypeId type) {
  type = base_type(type);
  if (range_subtype(type) != TypeId::none) return "range_ops";
  if (range_of_multirange(type) != TypeId::none) return "multirange_ops";
  const std::string name = is_enum(type) ? "enum" : std::string{value_type(type).name};
  if (method == "gist") return fmt::format("gist_{}_ops", name);
  if (name == "int2" || name == "int4" || name == "int8") return "integer_ops";
  if (name == "float4" || name == "float8") return "float_ops";
  if (name == "date" || name == "timestamp" || name == "timestamptz") return "datetime_ops";
  if (name == "varchar") return "text_ops";
  return name + "_ops";
}

void require_gist_class(StatementContext& session, TypeId type) {
  require_class(session, "gist", type);
}

void require_exclusion(StatementContext& session, std::string_view method, TypeId type,
                       std::string_view op) {
  require_class(session, method, type);
  const ResolvedOperator found = resolve_operator(op, type, type);
  if (found.op->commutator != found.op->oid) {
    throw sql_error(sqlstate::wrong_object_type, "operator {} is not commutative",
                    signature_of(*found.op))
        .with_detail("Only commutative operators can be used in exclusion constraints.");
  }
  const auto known = exclusion_operator(op);
  if (known && is_member(method, type, *known)) return;
  throw sql_error(sqlstate::wrong_object_type,
                  "operator {} is not a member of operator family \"{}\"", signature_of(*found.op),
                  operator_family(method, type))
      .with_detail(
          "The exclusion operator must be related to the index operator class for the constraint.");
}

void add_exclusions_of(StatementContext& session, const Extension& extension,
                       std::vector<Dependent>& list) {
  if (extension.name != "btree_gist") return;
  // Reads all relations: operator classes for gist have no numbers in records.
  for (const TablePtr& table : session.catalog.tables()) {
    for (const Constraint& constraint : table->relation.constraints) {
      const Index* const index = constraint.kind != ConstraintKind::foreign_key
                                     ? table->index_by_oid(constraint.index)
                                     : nullptr;
      if (index == nullptr || index->method != IndexMethod::excluding) continue;
      const auto of_it = std::ranges::find_if(index->columns, [](const IndexColumn& column) {
        return !is_range_or_multirange(column.type);
      });
      if (of_it == index->columns.end()) continue;
      const std::string name = session.names.name_of(TypeId::regclass, table->relation.oid)
                                   .value_or(table->relation.name);
      list.push_back({Dependent::Kind::constraint, table, constraint.oid, 0,
                      fmt::format("constraint {} on table {}", constraint.name, name),
                      fmt::format("operator class {} for access method gist",
                                  operator_family("gist", of_it->type))});
    }
  }
}

/// Sets `name` to the element's part of the constraint's name.
IndexColumn TableBuilder::exclusion_part(const ast::Constraint& node, const ast::List& element,
                                         std::string& name) const {
  const auto& part = ast::as<ast::IndexElem>(element.items[0]);
  const ast::NodeList op = ast::as<ast::List>(element.items[1]).items;
  const std::string_view method = method_of(node) == "gist" ? "gist" : "btree";
  IndexColumn column;
  if (part.expr == nullptr) {
    const std::string names[] = {std::string{part.name}};
    column.column = column_numbers(names, "exclusion", -1).front();
    refuse_virtual_key(relation_, {&column.column, 1}, "indexes");
    const auto position = static_cast<std::size_t>(column.column - 1);
    column.type = relation_.columns[position].expression_type();
    name = part.name;
  } else {
    column.expression_sql =
        stored_expression(session_, relation_, part.expr, Clause::index_expression, nullptr);
    Arena arena;
    Binder binder{session_.names, arena};
    const ExprPtr expr = binder.bind_table_expression(
        column.expression_sql, *columns_alone(relation_),
        binder.new_slots(relation_.columns.size()), Clause::index_expression);
    column.type = expr->type();
    name = binder.target_name_of(part.expr);
    if (name == "?column?") name = "expr";
  }
  column.collation = collation_of_key(session_, part.collation, column.type);
  refuse_nondeterministic(column.collation);
  column.type = without_collation(column.type);
  column.operator_class = class_named(method, column.type, part);
  column.excludes_by = ast::string_of(op.back());
  require_exclusion(session_, method, column.type, column.excludes_by);
  const bool is_plain = part.ordering == ast::SortByDir::default_ &&
                        part.nulls_ordering == ast::SortByNulls::default_;
  if (!is_plain && method == "gist") {
    throw_error(sqlstate::feature_not_supported,
                "access method \"gist\" does not support {} options",
                part.ordering == ast::SortByDir::default_ ? "NULLS FIRST/LAST" : "ASC/DESC");
  }
  if (part.ordering == ast::SortByDir::desc) column.direction = SortDirection::descending;
  column.nulls =
      column.direction == SortDirection::descending ? NullsOrder::first : NullsOrder::last;
  if (part.nulls_ordering == ast::SortByNulls::first) column.nulls = NullsOrder::first;
  if (part.nulls_ordering == ast::SortByNulls::last) column.nulls = NullsOrder::last;
  return column;
}

/// Checks that a key WITHOUT OVERLAPS has a range as its last column, and others before it.
void TableBuilder::require_period(const ast::Constraint& node,
                                  std::span<const std::int16_t> columns) const {
  try {
    require_period_type(relation_.columns[static_cast<std::size_t>(columns.back() - 1)]);
  } catch (SqlError& error) {
    error.fields().position = node.location + 1;
    throw;
  }
  if (columns.size() < 2) {
    throw SqlError{sqlstate::syntax_error,
                   "constraint using WITHOUT OVERLAPS needs at least two columns"};
  }
  if (node.nulls_not_distinct) {
    throw SqlError{sqlstate::feature_not_supported,
                   "NULLS NOT DISTINCT of a key WITHOUT OVERLAPS is not supported"};
  }
}

/// Returns a column of a key WITHOUT OVERLAPS, which is that of an exclusion by `op`.
IndexColumn TableBuilder::period_key_part(std::int16_t column, std::string_view op) const {
  const Column& of = relation_.columns[static_cast<std::size_t>(column - 1)];
  IndexColumn part;
  part.column = column;
  part.type = of.type;
  part.collation = collation_of_key(session_, {}, of.expression_type());
  refuse_nondeterministic(part.collation);
  part.excludes_by = op;
  require_exclusion(session_, "gist", part.type, op);
  return part;
}

void TableBuilder::finish_exclusion(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  check_method(session_, node);
  refuse_more_index_columns(node.exclusions.size() + node.including.size());
  Index index;
  index.oid = session_.catalog.allocate_oid();
  index.method = method_of(node) == "gist" ? IndexMethod::excluding : IndexMethod::tree;
  index.deferrable = pending.deferrable;
  check_index_options(IndexMethod::tree, node.options);
  Constraint constraint;
  std::vector<std::string> names;
  for (const ast::Node* element : node.exclusions) {
    IndexColumn column = exclusion_part(node, ast::as<ast::List>(element), names.emplace_back());
    column.written_place = static_cast<std::int16_t>(index.columns.size());
    constraint.columns.push_back(column.column);
    index.columns.push_back(std::move(column));
  }
  std::ranges::stable_partition(
      index.columns, [](const IndexColumn& column) { return column.excludes_by == "="; });
  std::vector<std::string> included;
  for (const ast::Node* name : node.including) included.emplace_back(ast::string_of(name));
  index.included = column_numbers(included, "exclusion", node.location);
  names.insert(names.end(), included.begin(), included.end());
  if (node.where_clause != nullptr) {
    index.predicate_sql =
        stored_expression(session_, relation_, node.where_clause, Clause::index_predicate, nullptr);
  }
  require_partition_key_in(relation_, index);
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = ConstraintKind::exclusion;
  constraint.index = index.oid;
  constraint.deferrable = pending.deferrable;
  constraint.initially_deferred = pending.initially_deferred;
  constraint.name = node.conname;
  if (constraint.name.empty()) {
    constraint.name = own_free_name(object_name(relation_.name, joined_once(names), "excl"));
  } else {
    require_free_index_name(constraint.name);
    require_free_constraint_name(constraint.name);
  }
  index.name = constraint.name;
  relation_.indexes.push_back(std::move(index));
  relation_.constraints.push_back(std::move(constraint));
}

}  // namespace swizzle::sql
