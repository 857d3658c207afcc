#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Functions about the abilities of indexes and their columns, and about the place of a relation's
/// rows.
namespace swizzle::sql {
namespace {

struct FoundIndex {
  TablePtr table;
  const Index* index = nullptr;
};

FoundIndex find_index(StatementContext& session, Oid oid) {
  TablePtr table = session.catalog.table_with_index(oid);
  if (!table) return {};
  const Index* const index = table->index_by_oid(oid);
  return {std::move(table), index};
}

Value has(bool is_so) {
  return Value::from_bool(is_so);
}

Value index_column_has(Execution& execution, std::span<const Value> arguments) {
  const FoundIndex found = find_index(context_of(execution), arguments[0].as_oid());
  if (found.index == nullptr) return Value::null();
  const Index& index = *found.index;
  const std::int64_t number = arguments[1].as_int8();
  const std::size_t keys = index.columns.size();
  if (number < 1 || static_cast<std::size_t>(number) > keys + index.included.size()) {
    return Value::null();
  }
  const std::string property = lower_case(arguments[2].as_text());
  const bool is_tree = index.method == IndexMethod::tree;
  if (property == "returnable") return has(is_tree);
  if (property == "distance_orderable") return has(false);
  const auto position = static_cast<std::size_t>(number) - 1;
  // An INCLUDE column has no other properties.
  if (position >= keys) return Value::null();
  const IndexColumn& column = index.columns[position];
  if (property == "asc") return has(is_tree && column.direction == SortDirection::ascending);
  if (property == "desc") return has(is_tree && column.direction == SortDirection::descending);
  if (property == "nulls_first") return has(is_tree && column.nulls == NullsOrder::first);
  if (property == "nulls_last") return has(is_tree && column.nulls == NullsOrder::last);
  if (property == "orderable" || property == "search_array") return has(is_tree);
  if (property == "search_nulls") return has(index.method != IndexMethod::inverted);
  return Value::null();
}

/// The filenode is always the relation's oid; a rewrite does not change it.
Value relation_filenode(Execution& execution, std::span<const Value> arguments) {
  const Oid oid = arguments[0].as_oid();
  const TablePtr table = context_of(execution).catalog.table(oid);
  const bool has_rows =
      table && (keeps_rows(table->relation.kind) || table->relation.kind == RelationKind::sequence);
  if (has_rows) return Value::from_oid(oid);
  return find_index(context_of(execution), oid).index != nullptr ? Value::from_oid(oid)
                                                                 : Value::null();
}

}  // namespace

std::span<const SessionEntry> index_property_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_index_column_has_property", index_column_has},
      {"pg_relation_filenode", relation_filenode},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
