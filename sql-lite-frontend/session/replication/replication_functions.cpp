#include <algorithm>
#include <array>
#include <memory>

#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/replication/slot_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

/// SQL functions on publications.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr TypeId kInt2Vector{22};
constexpr TypeId kNodeTree{194};

Value published_columns(Arena& arena, const Relation& relation, const Publication& publication,
                        const Publication::Member* member) {
  std::vector<Value> numbers;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    const auto number = static_cast<std::int16_t>(i + 1);
    if (publishes_column(publication, member, column, number))
      numbers.push_back(Value::from_int(number));
  }
  const ArrayDimension dimension{static_cast<std::int32_t>(numbers.size()), 0};
  return make_array(arena, TypeId::int2, {&dimension, 1}, numbers);
}

/// Adds the publication's tables with their columns and filters.
void add_tables_of(FunctionContext& context, const Publication& publication,
                   std::vector<Value>& rows) {
  Session::State& session = session_of(context);
  // Reads all relations: a publication may be of all tables.
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const bool has_rows = is_publishable(relation);
    const bool may_be =
        has_rows || (relation.is_partitioned() && relation.persistence == Persistence::permanent);
    // Partitions are listed as what they are published as.
    if (!may_be || published_level(publication, lineage_of(session.catalog, *table)) != 0) continue;
    const Publication::Member* member =
        publication.all_tables ? nullptr : publication.member(relation.oid);
    const bool has_filter = member != nullptr && !member->filter_sql.empty() &&
                            !publication.has_schema(relation.schema);
    constexpr std::array kTypes{TypeId::oid, TypeId::oid, kInt2Vector, kNodeTree};
    const std::array row{
        Value::from_oid(publication.oid), Value::from_oid(relation.oid),
        published_columns(context.arena, relation, publication, member),
        has_filter
            ? make_text(context.arena, printed_expression(session, *table, member->filter_sql))
            : Value::null()};
    rows.push_back(make_record(context.arena, kTypes, row));
  }
}

/// pg_get_publication_tables(VARIADIC text[])
std::unique_ptr<SetCursor> publication_tables(FunctionContext& context, Arguments arguments) {
  std::vector<Value> rows;
  const ArrayView names{arguments[0]};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value name = names.element(i);
    if (name.is_null()) continue;
    const PublicationPtr publication = session_of(context).catalog.publication(name.as_text());
    if (!publication) {
      throw_error(sqlstate::undefined_object, "publication \"{}\" does not exist", name.as_text());
    }
    add_tables_of(context, *publication, rows);
  }
  return rows_cursor(std::move(rows));
}

Value replica_identity_index(Execution& execution, Arguments arguments) {
  const TablePtr table = session_of(execution).names.table(arguments[0].as_oid());
  const Index* const index = table ? identity_index(table->relation) : nullptr;
  return index == nullptr ? Value::null() : Value::from_oid(index->oid);
}

Value is_publishable_relation(Execution& execution, Arguments arguments) {
  const TablePtr table = session_of(execution).names.table(arguments[0].as_oid());
  if (!table) return Value::null();
  // In a publication of all tables, a partitioned table is represented by its partitions.
  const Relation& relation = table->relation;
  const bool has_partitions =
      relation.is_partitioned() && relation.persistence == Persistence::permanent;
  return Value::from_bool(has_partitions || is_publishable(relation));
}

}  // namespace

std::span<const SessionEntry> replication_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_get_replica_identity_index", replica_identity_index},
      {"pg_relation_is_publishable", is_publishable_relation},
  };
  return kFunctions;
}

void add_replication_sets() {
  static constexpr SetEntry kSets[] = {{"pg_get_publication_tables(_text)", publication_tables}};
  static const bool is_added = [] {
    add_builtin_functions({.sets = kSets});
    add_builtin_functions({.sets = slot_sets()});
    add_builtin_functions({.sets = control_sets()});
    return true;
  }();
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
