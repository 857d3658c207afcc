#include <algorithm>

#include "base/checksum.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/catalog/statistics/sample.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/relation_statistics.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

/// System relations with statistics and counters of tables: pg_stats, pg_stat_user_tables and
/// others.
namespace swizzle::sql {
namespace {

Value counter(std::uint64_t value) {
  return Value::from_int(static_cast<std::int64_t>(value));
}

/// Returns the flat values as an array of the type; NULL if there are none.
Value array_of(Execution& execution, TypeId type, const std::vector<std::string>& flat) {
  if (flat.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::string& value : flat)
    values.push_back(read_flat(shape_of(type), as_bytes(value)));
  return make_array(execution.row_arena, type, values);
}

void column_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : session.catalog.tables()) {
    const StatisticsPtr statistics = session.names.statistics(*table);
    if (!statistics) continue;
    for (const ColumnStatistics& column : statistics->columns) {
      const auto position = static_cast<std::size_t>(column.column - 1);
      if (position >= table->relation.columns.size()) continue;
      const Column& definition = table->relation.columns[position];
      if (definition.dropped || statistics_type(definition) != column.type) continue;
      const std::int16_t number[] = {column.column};
      if (!session.may_read(table, number)) continue;
      std::vector<std::string> common;
      std::vector<Value> frequencies;
      for (const ColumnStatistics::Common& entry : column.common) {
        common.push_back(entry.value);
        frequencies.push_back(Value::from_float4(static_cast<float>(entry.frequency)));
      }
      const Value row[] = {text_value(execution, session.names.schema_name(table->relation.schema)),
                           text_value(execution, table->relation.name),
                           text_value(execution, definition.name),
                           Value::from_bool(false),
                           Value::from_float4(static_cast<float>(column.null_fraction)),
                           Value::from_int(static_cast<std::int64_t>(column.average_width)),
                           Value::from_float4(static_cast<float>(column.distinct)),
                           array_of(execution, definition.type, common),
                           frequencies.empty()
                               ? Value::null()
                               : make_array(execution.row_arena, TypeId::float4, frequencies),
                           array_of(execution, definition.type, column.histogram),
                           Value::from_float4(static_cast<float>(column.correlation))};
      emit(row);
    }
  }
}

Value moment(const TableRuntime::Analyses& analyses) {
  const std::int64_t last = analyses.last.load(std::memory_order_relaxed);
  return last == 0 ? Value::null() : Value::from_int(last);
}
Value times(const TableRuntime::Analyses& analyses) {
  return counter(analyses.count.load(std::memory_order_relaxed));
}

void table_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  const Value never = Value::from_int(0);
  const Value no_time = Value::from_float8(0);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    if (!keeps_rows(table->relation.kind)) continue;
    const TableCounters& counters = table->runtime->counters;
    const Value row[] = {
        Value::from_oid(table->relation.oid),
        text_value(execution, session.names.schema_name(table->relation.schema)),
        text_value(execution, table->relation.name),
        counter(counters.since_reset(Counted::sequential_scans)),
        counter(counters.since_reset(Counted::sequential_rows)),
        counter(counters.since_reset(Counted::index_scans)),
        counter(counters.since_reset(Counted::index_rows)),
        counter(counters.since_reset(Counted::inserted)),
        counter(counters.since_reset(Counted::updated)),
        counter(counters.since_reset(Counted::removed)), live_rows(*table), dead_rows(*table),
        // Changed rows are changed in place, and autovacuum does not exist: storage removes ghosts
        // itself.
        never, never, times(table->runtime->vacuumed_by_users), never,
        moment(table->runtime->vacuumed_by_users), changes_since_analyze(*table),
        moment(table->runtime->analyzed_by_users), moment(table->runtime->analyzed_by_server),
        times(table->runtime->analyzed_by_users), times(table->runtime->analyzed_by_server),
        // The times of VACUUM and ANALYZE are not added up.
        never, no_time, no_time, no_time, no_time};
    emit(row);
  }
}

void index_counter_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (const IndexAccess& access : table->indexes) {
      const std::uint64_t rows = access.counters->since_reset(Counted::index_rows);
      const Value row[] = {Value::from_oid(table->relation.oid),
                           Value::from_oid(access.index->oid),
                           text_value(execution, session.names.schema_name(table->relation.schema)),
                           text_value(execution, table->relation.name),
                           text_value(execution, access.index->name),
                           counter(access.counters->since_reset(Counted::index_scans)),
                           counter(rows),
                           counter(rows)};
      emit(row);
    }
  }
}

/// TOAST tables do not exist, so their columns are NULL.
void table_page_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    if (!keeps_rows(table->relation.kind)) continue;
    const RelationPages of_table = pages_of(session.shared.engine, *table);
    RelationPages of_indexes;
    for (const IndexAccess& index : table->indexes) {
      const RelationPages of_index = pages_of(session.shared.engine, index);
      of_indexes.read += of_index.read;
      of_indexes.hit += of_index.hit;
    }
    const bool has_indexes = !table->indexes.empty();
    const Value row[] = {Value::from_oid(table->relation.oid),
                         text_value(execution, session.names.schema_name(table->relation.schema)),
                         text_value(execution, table->relation.name),
                         counter(of_table.read),
                         counter(of_table.hit),
                         has_indexes ? counter(of_indexes.read) : Value::null(),
                         has_indexes ? counter(of_indexes.hit) : Value::null()};
    emit(row);
  }
}
void index_page_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (const IndexAccess& access : table->indexes) {
      const RelationPages pages = pages_of(session.shared.engine, access);
      const Value row[] = {Value::from_oid(table->relation.oid),
                           Value::from_oid(access.index->oid),
                           text_value(execution, session.names.schema_name(table->relation.schema)),
                           text_value(execution, table->relation.name),
                           text_value(execution, access.index->name),
                           counter(pages.read),
                           counter(pages.hit)};
      emit(row);
    }
  }
}
/// Sequences have no pages of their own.
void sequence_page_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    if (table->relation.kind != RelationKind::sequence) continue;
    const Value row[] = {Value::from_oid(table->relation.oid),
                         text_value(execution, session.names.schema_name(table->relation.schema)),
                         text_value(execution, table->relation.name), Value::from_int(0),
                         Value::from_int(0)};
    emit(row);
  }
}

void statement_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  // Shapes are counted for all roles together, so they have no owner.
  const bool shown = session.rights.owns(kReadAllStatsRole);
  for (const StatementCountersPtr& statement : session.shared.statements.all()) {
    const std::uint64_t calls = statement->counters.since_reset(StatementCounted::calls);
    // The statement has not run since pg_stat_statements_reset().
    if (calls == 0 && statement->counters.total(StatementCounted::calls) > 0) continue;
    const auto milliseconds =
        static_cast<double>(statement->counters.since_reset(StatementCounted::nanoseconds)) / 1e6;
    const Value row[] = {
        Value::from_oid(statement->database),
        shown ? counter(statement->query_id()) : Value::null(),
        text_value(execution, shown ? statement->text : "<insufficient privilege>"),
        counter(calls),
        Value::from_float8(milliseconds),
        Value::from_float8(milliseconds / static_cast<double>(std::max<std::uint64_t>(calls, 1))),
        counter(statement->counters.since_reset(StatementCounted::rows))};
    emit(row);
  }
}

const std::vector<RowProvider::Column> kTableColumns{{"relid"},
                                                     {"schemaname"},
                                                     {"relname"},
                                                     {"seq_scan"},
                                                     {"seq_tup_read"},
                                                     {"idx_scan"},
                                                     {"idx_tup_fetch"},
                                                     {"n_tup_ins"},
                                                     {"n_tup_upd"},
                                                     {"n_tup_del"},
                                                     {"n_live_tup"},
                                                     {"n_dead_tup"},
                                                     {"n_tup_hot_upd"},
                                                     {"n_ins_since_vacuum"},
                                                     {"vacuum_count"},
                                                     {"autovacuum_count"},
                                                     {"last_vacuum"},
                                                     {"n_mod_since_analyze"},
                                                     {"last_analyze"},
                                                     {"last_autoanalyze"},
                                                     {"analyze_count"},
                                                     {"autoanalyze_count"},
                                                     {"n_tup_newpage_upd"},
                                                     {"total_vacuum_time"},
                                                     {"total_autovacuum_time"},
                                                     {"total_analyze_time"},
                                                     {"total_autoanalyze_time"}};

const std::vector<RowProvider::Column> kIndexColumns{
    {"relid"},        {"indexrelid"}, {"schemaname"},   {"relname"},
    {"indexrelname"}, {"idx_scan"},   {"idx_tup_read"}, {"idx_tup_fetch"}};

const std::vector<RowProvider::Column> kTablePages{
    {"relid"},         {"schemaname"},    {"relname"},     {"heap_blks_read"},
    {"heap_blks_hit"}, {"idx_blks_read"}, {"idx_blks_hit"}};
const std::vector<RowProvider::Column> kIndexPages{
    {"relid"},        {"indexrelid"},    {"schemaname"},  {"relname"},
    {"indexrelname"}, {"idx_blks_read"}, {"idx_blks_hit"}};
const std::vector<RowProvider::Column> kSequencePages{
    {"relid"}, {"schemaname"}, {"relname"}, {"blks_read"}, {"blks_hit"}};

}  // namespace

Value dead_rows(const Table& table) {
  return counter(table.runtime->dead_rows.load(std::memory_order_relaxed));
}

Value live_rows(const Table& table) {
  const std::int64_t delta =
      table.runtime->row_delta() - table.runtime->analyzed_delta.load(std::memory_order_relaxed);
  const double rows = std::max(0.0, table.relation.estimated_rows) + static_cast<double>(delta);
  return Value::from_int(static_cast<std::int64_t>(std::max(0.0, rows)));
}

Value changes_since_analyze(const Table& table) {
  const std::uint64_t changes = table.runtime->counters.changes();
  const std::uint64_t analyzed = table.runtime->analyzed_changes.load(std::memory_order_relaxed);
  return counter(changes - std::min(analyzed, changes));
}

std::span<const RowProvider> statistics_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_stats",
       {{"schemaname"},
        {"tablename"},
        {"attname"},
        {"inherited"},
        {"null_frac"},
        {"avg_width"},
        {"n_distinct"},
        {"most_common_vals"},
        {"most_common_freqs"},
        {"histogram_bounds"},
        {"correlation"}},
       column_rows},
      {kPgCatalogSchema, "pg_stat_all_tables", kTableColumns, table_rows, "relid"},
      {kPgCatalogSchema, "pg_stat_user_tables", kTableColumns, table_rows, "relid"},
      {kPgCatalogSchema, "pg_stat_all_indexes", kIndexColumns, index_counter_rows,
       "relid indexrelid"},
      {kPgCatalogSchema, "pg_stat_user_indexes", kIndexColumns, index_counter_rows,
       "relid indexrelid"},
      {kPgCatalogSchema, "pg_statio_all_tables", kTablePages, table_page_rows, "relid"},
      {kPgCatalogSchema, "pg_statio_user_tables", kTablePages, table_page_rows, "relid"},
      {kPgCatalogSchema, "pg_statio_all_indexes", kIndexPages, index_page_rows, "relid indexrelid"},
      {kPgCatalogSchema, "pg_statio_user_indexes", kIndexPages, index_page_rows,
       "relid indexrelid"},
      {kPgCatalogSchema, "pg_statio_all_sequences", kSequencePages, sequence_page_rows, "relid"},
      {kPgCatalogSchema, "pg_statio_user_sequences", kSequencePages, sequence_page_rows, "relid"},
      {kPgCatalogSchema,
       "pg_stat_statements",
       {{"dbid", TypeId::oid},
        {"queryid", TypeId::int8},
        {"query", TypeId::text},
        {"calls", TypeId::int8},
        {"total_exec_time", TypeId::float8},
        {"mean_exec_time", TypeId::float8},
        {"rows", TypeId::int8}},
       statement_rows},
  };
  return kProviders;
}

}  // namespace swizzle::sql
