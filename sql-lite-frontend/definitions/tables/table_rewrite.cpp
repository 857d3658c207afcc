#include "sql-lite-frontend/definitions/tables/table_rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/indexes/index_source.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/execution/write/foreign_key.h"
#include "sql-lite-frontend/plan/planner.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

using Entry = EntrySorter::Entry;

constexpr std::size_t kWorkOfEntry = 500;

std::unique_ptr<TreeLoad> load_of(StatementContext& session, TreeId tree) {
  auto load = value_of(
      session.shared.engine.start_load(*session.transaction, tree, Engine::Loadable::new_tree));
  STATEMENT_INVARIANT(load != nullptr);
  return load;
}

/// Of an index that is built; its numbers are how far the rows of the table have been read, and how
/// many of those that were sorted have been put into it.
class IndexProgress {
 public:
  IndexProgress(StatementContext& session, const Table& table, const Index& index,
                IndexCommand command)
      : progress_(session, CommandProgress::Command::create_index, table.relation.oid) {
    constexpr std::uint64_t kBuilding = 2;
    progress_.set(CommandProgress::index_command, static_cast<std::uint64_t>(command));
    progress_.set(CommandProgress::index_oid, index.oid);
    progress_.set(CommandProgress::index_phase, kBuilding);
    progress_.set(CommandProgress::index_pages,
                  value_of(session.shared.engine.size_of(table.relation.tree)).pages);
  }
  void begin_sorted(std::uint64_t rows) noexcept {
    progress_.set(CommandProgress::index_rows_all, rows);
  }
  void put(std::uint64_t rows) noexcept { progress_.set(CommandProgress::index_rows_done, rows); }
  void read(const Cursor& cursor) noexcept {
    progress_.set(CommandProgress::index_pages_done, cursor.leaf_requests());
  }

 private:
  CommandProgress progress_;
};

/// Fills a new tree. `produce(take)` calls `take(key, value)` with each record, in any order, until
/// that says false; `duplicate(entry)` is called with a repeated key and throws.
///
/// What comes in order, as the rows of a copied table mostly do, is kept nowhere on its way. The
/// first record that does not come in order takes the load back, and everything is produced once
/// more, to be sorted.
template <class Produce, class Duplicate>
void load_tree(StatementContext& session, TreeId tree, const Produce& produce,
               const Duplicate& duplicate, IndexProgress* progress = nullptr) {
  const Transaction::Mark before = session.transaction->mark();
  bool is_in_order = true;
  {
    const auto load = load_of(session, tree);
    produce([&](std::string_view key, std::string_view value) {
      is_in_order = value_of(load->add(as_bytes(key), as_bytes(value)));
      return is_in_order;
    });
    if (is_in_order) {
      value_of(load->finish());
      return;
    }
  }
  value_of(session.transaction->rollback_to(before));
  EntrySorter sorter{session.maintenance_space()};
  std::uint64_t entries = 0;
  produce([&](std::string_view key, std::string_view value) {
    sorter.add(key, value);
    ++entries;
    return true;
  });
  sorter.finish();
  if (progress != nullptr) progress->begin_sorted(entries);
  const auto load = load_of(session, tree);
  entries = 0;
  while (const auto entry = sorter.next()) {
    yield_point(kWorkOfEntry);
    if (progress != nullptr && ++entries % Execution::kRowsPerCheck == 0) progress->put(entries);
    if (!value_of(load->add(as_bytes(entry->key), as_bytes(entry->value)))) duplicate(*entry);
  }
  value_of(load->finish());
}

/// Calls `visit(stored, row)` with every row of the table, until it says false; only the columns at
/// `places` have values.
template <class Visit>
void for_each_row(StatementContext& session, const Table& table, Execution& execution,
                  const ColumnPlaces& places, const Visit& visit,
                  IndexProgress* progress = nullptr) {
  std::vector<Value> row(table.relation.columns.size());
  const Tree tree = *table.tree;
  Cursor cursor = value_of(tree.scan(*session.transaction, {}, Direction::forward,
                                     ReadMode::snapshot, WaitPolicy::wait, ScanHint::large));
  RowScope scope{execution};
  for (std::uint64_t rows = 1; value_of(cursor.next()); ++rows) {
    execution.tick();
    if (progress != nullptr && rows % Execution::kRowsPerCheck == 0) progress->read(cursor);
    const RowReader reader{table.layout, cursor.value()};
    read_columns(reader, places, row);
    if (!visit({as_text(cursor.key()), as_text(cursor.value())}, row)) return;
    scope.rewind();
  }
}

[[noreturn]] void fail_null(StatementContext& session, const Relation& relation,
                            const Column& column) {
  SqlError error = sql_error(sqlstate::not_null_violation,
                             "column \"{}\" of relation \"{}\" contains null values", column.name,
                             relation.name);
  error.fields().schema = session.names.schema_name(relation.schema);
  error.fields().table = relation.name;
  error.fields().column = column.name;
  throw error;
}

void check_rules(Writing& writing, StatementContext& session, const Table& table,
                 std::span<const Value> row, std::size_t first_constraint) {
  Execution& execution = writing.scratch->execution;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (column.never_null() && !column.dropped && !column.is_virtual && row[i].is_null()) {
      fail_null(session, table.relation, column);
    }
    execution.slots[writing.write->first_slot + i] = row[i];
  }
  for (const Assignment& needed : writing.write->needed_virtual) {
    if (!table.relation.columns[needed.position].never_null()) continue;
    if (needed.expr->eval(execution).is_null())
      fail_null(session, table.relation, table.relation.columns[needed.position]);
  }
  for (const WriteCheck& check : writing.write->checks.constraints) {
    const Constraint* constraint = table.constraint_named(check.name);
    const auto position = static_cast<std::size_t>(constraint - table.relation.constraints.data());
    if (position < first_constraint || !constraint->validated) continue;
    const Value value = check.expr->eval(execution);
    if (value.is_null() || value.as_bool()) continue;
    SqlError error = sql_error(sqlstate::check_violation,
                               "check constraint \"{}\" of relation \"{}\" is violated by some row",
                               check.name, table.relation.name);
    error.fields().schema = session.names.schema_name(table.relation.schema);
    error.fields().table = table.relation.name;
    error.fields().constraint = check.name;
    throw error;
  }
}

/// The index of a deferrable key takes every entry, but begins without repeated ones.
void require_no_repeats(StatementContext& session, Execution& execution, const RowWriter& writer,
                        const Table& table, const IndexAccess& access) {
  const InnerStatement latest{*session.transaction};
  std::string before;
  const Tree tree = *access.tree;
  Cursor cursor = value_of(tree.scan(*session.transaction, {}, Direction::forward,
                                     ReadMode::snapshot, WaitPolicy::wait, ScanHint::large));
  std::vector<Value> row(table.relation.columns.size());
  RowScope scope{execution};
  while (value_of(cursor.next())) {
    execution.tick();
    Bytes rest = cursor.key();
    for (const KeyColumn& column : access.columns) skip_key(rest, column);
    const std::string_view key = as_text(cursor.key()).substr(0, cursor.key().size() - rest.size());
    if (key != before) {
      before = key;
      continue;
    }
    Bytes parts = cursor.key();
    bool any_null = false;
    for (std::size_t i = 0; i < access.columns.size(); ++i) {
      const Value value = take_key(parts, access.columns[i], execution.row_arena);
      any_null |= value.is_null();
      row[static_cast<std::size_t>(access.index->columns[i].column - 1)] = value;
    }
    if (!any_null || access.index->nulls_not_distinct) {
      fail_not_unique(session, table, *access.index,
                      writer.index_key_detail(execution, *access.index, row));
    }
    scope.rewind();
  }
}

/// True if rows stored for `from` can be read as rows of `to`, without a rewrite.
bool keeps_rows(const Table& from, const Table& to) {
  const auto is_stored = [](const Column& column) { return !column.missing.has_value(); };
  return from.column_types == to.column_types &&
         std::ranges::all_of(from.relation.columns, is_stored);
}

void build_index(StatementContext& session, const TablePtr& table, std::size_t number,
                 IndexCommand command) {
  tell_debug(session, fmt::format("building index \"{}\" on table \"{}\" serially",
                                  table->relation.indexes[number].name, table->relation.name));
  const AsOwner as_owner{session, table->relation.owner};
  const InnerStatement latest{*session.transaction};
  Writing writing{session, table};
  Execution& execution = writing.scratch->execution;
  const RowWriter writer{*writing.write};
  const Index& index = table->relation.indexes[number];
  const ColumnPlaces places = places_of(*table, number, *writing.write);
  const bool is_inverted = table->indexes[number].is_inverted();
  IndexProgress progress{session, *table, index, command};
  const auto produce = [&](const auto& take) {
    for_each_row(
        session, *table, execution, places,
        [&](const Entry& stored, std::span<const Value> row) {
          if (is_inverted) {
            return std::ranges::all_of(
                writer.element_entries_of(execution, number, row, stored.key),
                [&](std::string_view key) { return take(key, std::string_view{}); });
          }
          const RowWriter::Entry entry = writer.entry_of(execution, number, row, stored.key);
          return !entry.present || take(entry.key, entry.value);
        },
        &progress);
  };
  const auto fail = [&](const Entry& repeated) {
    ValueBuffer buffer;
    const Tree tree = *table->tree;
    std::vector<Value> row(table->relation.columns.size());
    value_of(tree.get(*session.transaction, as_bytes(repeated.value), buffer));
    RowReader{table->layout, buffer.bytes()}.columns(row);
    fail_not_unique(session, *table, index, writer.index_key_detail(execution, index, row));
  };
  load_tree(session, index.tree, produce, fail, &progress);
  if (index.excludes()) {
    Exclusion{table, number}.check_all(session, execution.functions, *session.transaction);
  } else if (index.deferrable) {
    require_no_repeats(session, execution, writer, *table, table->indexes[number]);
  }
}

}  // namespace

void fill_index(StatementContext& session, const TablePtr& table, std::size_t number,
                IndexCommand command) {
  build_index(session, table, number, command);
  // It has the newest rows' entries, not those of what an older snapshot sees.
  if (keeps_snapshot(session.transaction->isolation())) {
    session.transaction.note_young_index(table->relation.indexes[number].oid);
  }
}

namespace {

/// Returns PostgreSQL's reason for which it would write the table anew, too: bits of
/// pg_event_trigger_table_rewrite_reason(); 0: it would not.
std::int32_t reason_of_rewrite(const Relation& before, const Relation& now) {
  constexpr std::int32_t kPersistence = 1;
  constexpr std::int32_t kDefault = 2;
  constexpr std::int32_t kType = 4;
  std::int32_t reason = before.persistence == now.persistence ? 0 : kPersistence;
  for (std::size_t i = 0; i < before.columns.size() && i < now.columns.size(); ++i) {
    if (!now.columns[i].dropped && before.columns[i].type != now.columns[i].type) reason |= kType;
  }
  if (now.columns.size() > before.columns.size()) reason |= kDefault;
  return reason;
}

}  // namespace

TablePtr rewrite_table(StatementContext& session, const TablePtr& old, Relation relation,
                       const RowChange& change) {
  if (const std::int32_t reason = change ? reason_of_rewrite(old->relation, relation) : 0;
      reason != 0) {
    fire_table_rewrite(session, old->relation.oid, reason);
  }
  Engine& engine = session.shared.engine;
  tell_debug(session, fmt::format("rewriting table \"{}\"", old->relation.name));
  const InnerStatement latest{*session.transaction};
  relation.tree = value_of(engine.create_tree(*session.transaction));
  for (Index& index : relation.indexes) {
    index.state = IndexState::valid;
    if (!index.orders_rows()) index.tree = value_of(engine.create_tree(*session.transaction));
  }
  for (Column& column : relation.columns) column.missing.reset();
  auto runtime = std::make_shared<TableRuntime>();
  runtime->counters.add(Counted::inserted,
                        static_cast<std::uint64_t>(std::max<std::int64_t>(
                            old->runtime->row_delta() - old->runtime->analyzed_delta.load(), 0)));
  TablePtr table =
      session.catalog.replace(*session.transaction, *old, std::move(relation), runtime);
  Writing writing{session, table};
  Execution& execution = writing.scratch->execution;
  const RowWriter writer{*writing.write};

  const bool stays = !change && keeps_rows(*old, *table);
  std::vector<Value> new_row(table->relation.columns.size());
  std::string encoded;
  const auto produce = [&](const auto& take) {
    std::int64_t next_id = 1;
    for_each_row(session, *old, execution, {},
                 [&](const Entry& stored, std::span<const Value> old_row) {
                   if (change) {
                     change(execution, old_row, new_row);
                   } else {
                     std::ranges::copy(old_row, new_row.begin());
                   }
                   check_rules(writing, session, *table, new_row, 0);
                   std::string_view value = stored.value;
                   if (!stays) {
                     encoded.clear();
                     append_row(encoded, table->layout, new_row);
                     value = encoded;
                   }
                   if (!table->has_row_ids())
                     return take(writer.key_for(execution, new_row), value);
                   runtime->next_row_id = next_id + 1;
                   std::byte bytes[sizeof next_id];
                   store_big_endian(bytes, static_cast<std::uint64_t>(next_id++));
                   return take(as_text(Bytes{bytes, sizeof bytes}), value);
                 });
  };
  load_tree(session, table->relation.tree, produce, [&](const Entry& repeated) {
    std::vector<Value> row(table->relation.columns.size());
    RowReader{table->layout, as_bytes(repeated.value)}.columns(row);
    const Index& order = *table->row_order();
    fail_not_unique(session, *table, order, writer.index_key_detail(execution, order, row));
  });
  // Each is a statement of its own, which sees the rows.
  for (std::size_t i = 0; i < table->indexes.size(); ++i) {
    if (table->indexes[i].tree) build_index(session, table, i, IndexCommand::create);
  }
  value_of(engine.drop_tree(*session.transaction, old->relation.tree));
  for (const Index& index : old->relation.indexes) drop_index_tree(session, index);
  return table;
}

void validate_foreign_key(StatementContext& session, const TablePtr& table,
                          const Constraint& constraint) {
  tell_debug(session, fmt::format("validating foreign key constraint \"{}\"", constraint.name));
  const ForeignKey key{table, session.names.table(constraint.referenced_table), constraint};
  const RowVisitor fail = [&](std::span<const Value> values) {
    Arena arena;
    FunctionContext functions{arena, session.session_context, {}};
    throw_diagnostic(key.missing(session, functions, values));
  };
  session.run_internal(key.violations_sql(session.names), {}, {}, ReadView::Sees::latest, fail);
}

void visit_rows(StatementContext& session, const TablePtr& table,
                const std::function<void(std::span<const Value> row)>& visit) {
  const InnerStatement latest{*session.transaction};
  const std::unique_ptr<Scratch> scratch = session.new_scratch();
  for_each_row(session, *table, scratch->execution, {},
               [&](const Entry&, std::span<const Value> row) {
                 visit(row);
                 return true;
               });
}

void validate_constraints(StatementContext& session, const TablePtr& table, std::size_t first) {
  const auto& constraints = table->relation.constraints;
  const bool has_checks =
      std::any_of(constraints.begin() + static_cast<std::ptrdiff_t>(first), constraints.end(),
                  [](const Constraint& constraint) {
                    return constraint.kind == ConstraintKind::check && constraint.validated;
                  });
  if (has_checks) tell_debug(session, fmt::format("verifying table \"{}\"", table->relation.name));
  if (!table->tree) return;
  const InnerStatement latest{*session.transaction};
  Writing writing{session, table};
  for_each_row(session, *table, writing.scratch->execution, {},
               [&](const Entry&, std::span<const Value> row) {
                 check_rules(writing, session, *table, row, first);
                 return true;
               });
  for (std::size_t i = first; i < constraints.size(); ++i) {
    const Constraint& constraint = constraints[i];
    if (constraint.kind == ConstraintKind::foreign_key && constraint.validated) {
      validate_foreign_key(session, table, constraint);
    }
  }
}

}  // namespace swizzle::sql
