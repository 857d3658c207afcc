#include <algorithm>
#include <array>
#include <memory>

#include "sql-lite-frontend/publish/published_table.h"
#include "sql-lite-frontend/replication/slots.h"
#include "sql-lite-frontend/session/definitions.h"
#include "sql-lite-frontend/session/session_functions.h"
#include "sql-lite-frontend/session/session_names.h"
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"

/// What SQL asks about publications, and does with replication slots.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Session::State& session_of(FunctionContext& context) {
  // The sets are read: what a session may do, the functions that make slots ask.
  const auto* session = SessionNames::session_of(context.session);
  return *const_cast<Session::State*>(session);
}

/// A few rows that are there already.
class RowsCursor final : public SetCursor {
 public:
  explicit RowsCursor(std::vector<Value> rows) : rows_(std::move(rows)) {}
  std::optional<Value> next(FunctionContext&) override {
    if (next_ == rows_.size()) return std::nullopt;
    return rows_[next_++];
  }

 private:
  std::vector<Value> rows_;
  std::size_t next_ = 0;
};

constexpr TypeId kInt2Vector{22};
constexpr TypeId kNodeTree{194};

Value published_columns(Arena& arena, const Relation& relation, const Publication::Member* member) {
  std::vector<Value> numbers;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    const auto number = static_cast<std::int16_t>(i + 1);
    const bool is_listed = member == nullptr || member->columns.empty() ||
                           std::ranges::find(member->columns, number) != member->columns.end();
    // Without a list that is all, also those that are computed and not told.
    if (!column.dropped && is_listed) numbers.push_back(Value::from_int(number));
  }
  const ArrayDimension dimension{static_cast<std::int32_t>(numbers.size()), 0};
  return make_array(arena, TypeId::int2, {&dimension, 1}, numbers);
}

/// pg_get_publication_tables(text): each with its columns and its filter.
std::unique_ptr<SetCursor> publication_tables(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  const PublicationPtr publication = session.catalog.publication(arguments[0].as_text());
  if (!publication) {
    throw_error(sqlstate::undefined_object, "publication \"{}\" does not exist",
                arguments[0].as_text());
  }
  std::vector<Value> rows;
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (!is_publishable(relation) || !publishes(*publication, relation)) continue;
    const Publication::Member* member =
        publication->all_tables ? nullptr : publication->member(relation.oid);
    const bool has_filter = member != nullptr && !member->filter_sql.empty() &&
                            !publication->has_schema(relation.schema);
    constexpr std::array kTypes{TypeId::oid, kInt2Vector, kNodeTree};
    const std::array row{
        Value::from_oid(relation.oid), published_columns(context.arena, relation, member),
        has_filter
            ? make_text(context.arena, printed_expression(session, *table, member->filter_sql))
            : Value::null()};
    rows.push_back(make_record(context.arena, kTypes, row));
  }
  return std::make_unique<RowsCursor>(std::move(rows));
}

/// Slots are made outside of what transactions undo, as in PostgreSQL.
std::unique_ptr<SetCursor> create_logical_slot(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  require_may_use_slots(session);
  require_logical_decoding(session);
  if (arguments.size() > 3 && arguments[3].as_bool()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "replication slots with two-phase commit are not supported"};
  }
  NewSlot wanted;
  wanted.name = arguments[0].as_text();
  wanted.plugin = arguments[1].as_text();
  if (arguments.size() > 2 && arguments[2].as_bool())
    wanted.lifetime = swizzle::Slot::Lifetime::temporary;
  const MadeSlot made = make_slot(session, wanted);
  constexpr std::array kTypes{TypeId::name, TypeId::pg_lsn};
  const std::array row{make_text(context.arena, wanted.name),
                       Value::from_int(static_cast<std::int64_t>(raw(made.consistent)))};
  return std::make_unique<RowsCursor>(std::vector<Value>{make_record(context.arena, kTypes, row)});
}

Value drop_replication_slot(Execution& execution, Arguments arguments) {
  Session::State& session = execution.session;
  require_may_use_slots(session);
  drop_slot(session, arguments[0].as_text(), DropWhen::now);
  return make_text(execution.row_arena, "");
}

Value replica_identity_index(Execution& execution, Arguments arguments) {
  const TablePtr table = execution.session.names.table(arguments[0].as_oid());
  const Index* const index = table ? identity_index(table->relation) : nullptr;
  return index == nullptr ? Value::null() : Value::from_oid(index->oid);
}

Value is_publishable_relation(Execution& execution, Arguments arguments) {
  const TablePtr table = execution.session.names.table(arguments[0].as_oid());
  return table ? Value::from_bool(is_publishable(table->relation)) : Value::null();
}

}  // namespace

std::span<const SessionEntry> replication_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_drop_replication_slot", drop_replication_slot},
      {"pg_get_replica_identity_index", replica_identity_index},
      {"pg_relation_is_publishable", is_publishable_relation},
  };
  return kFunctions;
}

void add_replication_sets() {
  static constexpr SetEntry kSets[] = {
      {"pg_get_publication_tables(text)", publication_tables},
      {"pg_create_logical_replication_slot(name,name,bool,bool)", create_logical_slot}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
