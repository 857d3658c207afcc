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

/// Abilities of an access method, and of its indexes, in PostgreSQL's terms.
struct Abilities {
  Oid method;
  bool can_order, can_unique, can_multi_col, can_exclude, can_include;
  bool clusterable, index_scan, bitmap_scan, backward_scan;
};
constexpr std::array kAbilities = std::to_array<Abilities>({
    {403, true, true, true, true, true, true, true, true, true},
    {405, false, false, false, true, false, false, true, true, true},
    {783, false, false, true, true, true, true, true, true, false},
    {2742, false, false, true, false, false, false, false, true, false},
    {3580, false, false, true, false, false, false, false, true, false},
    {4000, false, false, false, true, true, false, true, true, false},
});

Oid method_of(const Index& index) {
  if (index.method == IndexMethod::tree) return 403;
  return index.method == IndexMethod::inverted ? 2742 : 783;
}

const Abilities* abilities_of(Oid method) {
  const auto* known = std::ranges::find(kAbilities, method, &Abilities::method);
  return known == kAbilities.end() ? nullptr : known;
}

Value method_has(Execution&, std::span<const Value> arguments) {
  const Abilities* const known = abilities_of(arguments[0].as_oid());
  if (known == nullptr) return Value::null();
  const std::string property = lower_case(arguments[1].as_text());
  if (property == "can_order") return has(known->can_order);
  if (property == "can_unique") return has(known->can_unique);
  if (property == "can_multi_col") return has(known->can_multi_col);
  if (property == "can_exclude") return has(known->can_exclude);
  if (property == "can_include") return has(known->can_include);
  return Value::null();
}

Value index_has(Execution& execution, std::span<const Value> arguments) {
  const FoundIndex found = find_index(context_of(execution), arguments[0].as_oid());
  if (found.index == nullptr) return Value::null();
  const Abilities& known = *abilities_of(method_of(*found.index));
  const std::string property = lower_case(arguments[1].as_text());
  if (property == "clusterable") return has(known.clusterable);
  if (property == "index_scan") return has(known.index_scan);
  if (property == "bitmap_scan") return has(known.bitmap_scan);
  if (property == "backward_scan") return has(known.backward_scan);
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
      {"pg_index_has_property", index_has},
      {"pg_indexam_has_property", method_has},
      {"pg_relation_filenode", relation_filenode},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
