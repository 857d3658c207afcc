#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"

/// pg_subscription and related relations, with the subscriptions of the session's database.
namespace swizzle::sql {
namespace {

Value position(Lsn lsn) {
  return Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}
Value position_or_null(Lsn lsn) {
  return lsn == Lsn::none ? Value::null() : position(lsn);
}
Value moment_or_null(std::int64_t moment) {
  return moment == 0 ? Value::null() : Value::from_int(moment);
}

std::vector<Subscription> subscriptions_of(Execution& execution) {
  StatementContext& session = context_of(execution);
  return read_subscriptions(session.catalog.of_database(), *session.transaction);
}

void subscription_rows(Execution& execution, const EmitRow& emit) {
  const Oid database = context_of(execution).catalog.of_database().database();
  for (const Subscription& one : subscriptions_of(execution)) {
    const Value row[] = {Value::from_oid(one.oid),
                         Value::from_oid(database),
                         position(one.skip),
                         text_value(execution, one.name),
                         Value::from_oid(one.owner),
                         flag(one.enabled),
                         flag(one.binary),
                         letter(static_cast<char>(one.streaming)),
                         letter(static_cast<char>(one.two_phase)),
                         flag(one.disable_on_error),
                         flag(one.password_required),
                         flag(one.run_as_owner),
                         flag(false),
                         text_value(execution, one.conninfo),
                         one.slot ? text_value(execution, *one.slot) : Value::null(),
                         text_value(execution, one.synchronous_commit),
                         options_value(execution, one.publications),
                         text_value(execution, one.origin)};
    emit(row);
  }
}

void subscribed_table_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const SubscribedTable& one :
       read_subscribed_tables(session.catalog.of_database(), *session.transaction, kNoOid)) {
    const Value row[] = {Value::from_oid(one.subscription), Value::from_oid(one.table),
                         letter(static_cast<char>(one.state)), position_or_null(one.lsn)};
    emit(row);
  }
}

/// A subscription has a row for each of its workers, and one if it has none.
void worker_rows(Execution& execution, const EmitRow& emit) {
  const auto workers = session_of(execution).shared.subscription_workers.list();
  for (const Subscription& one : subscriptions_of(execution)) {
    std::vector<Value> row(11, Value::null());
    row[0] = Value::from_oid(one.oid);
    row[1] = text_value(execution, one.name);
    bool is_any = false;
    for (const SubscriptionWorkers::Worker& worker : workers) {
      if (worker.id.subscription != one.oid) continue;
      const bool copies = worker.id.table != kNoOid;
      row[2] = text_value(execution, copies ? "table synchronization" : "apply");
      row[3] = Value::from_int(worker.pid);
      row[5] = copies ? Value::from_oid(worker.id.table) : Value::null();
      row[6] = position_or_null(worker.received);
      row[7] = moment_or_null(worker.sent_at);
      row[8] = moment_or_null(worker.heard_at);
      row[9] = position_or_null(worker.latest_end);
      row[10] = moment_or_null(worker.latest_end_at);
      emit(row);
      is_any = true;
    }
    if (!is_any) emit(row);
  }
}

void count_rows(Execution& execution, const EmitRow& emit) {
  const SubscriptionWorkers& workers = session_of(execution).shared.subscription_workers;
  const Value none = Value::from_int(0);
  for (const Subscription& one : subscriptions_of(execution)) {
    const SubscriptionWorkers::Counts counts = workers.counts(one.oid);
    const Value row[] = {Value::from_oid(one.oid),
                         text_value(execution, one.name),
                         Value::from_int(counts.apply_errors),
                         Value::from_int(counts.sync_errors),
                         Value::from_int(counts.insert_exists),
                         none,
                         Value::from_int(counts.update_exists),
                         Value::from_int(counts.update_missing),
                         none,
                         Value::from_int(counts.delete_missing),
                         none,
                         moment_or_null(counts.reset_at)};
    emit(row);
  }
}

/// PostgreSQL's name of the origin of a subscription's changes.
std::string origin_name(Oid subscription) {
  return fmt::format("pg_{}", subscription);
}

void origin_rows(Execution& execution, const EmitRow& emit) {
  for (const Subscription& one : subscriptions_of(execution)) {
    const Value row[] = {Value::from_oid(one.oid), text_value(execution, origin_name(one.oid))};
    emit(row);
  }
}

void origin_position_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const Subscription& one : subscriptions_of(execution)) {
    const Lsn applied =
        read_applied_position(session.catalog.of_database(), *session.transaction, {one.oid});
    if (applied == Lsn::none) continue;
    const Value row[] = {Value::from_oid(one.oid), text_value(execution, origin_name(one.oid)),
                         position(applied)};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> subscription_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_subscription",
       {{"oid"},
        {"subdbid"},
        {"subskiplsn"},
        {"subname"},
        {"subowner"},
        {"subenabled"},
        {"subbinary"},
        {"substream"},
        {"subtwophasestate"},
        {"subdisableonerr"},
        {"subpasswordrequired"},
        {"subrunasowner"},
        {"subfailover"},
        {"subconninfo"},
        {"subslotname"},
        {"subsynccommit"},
        {"subpublications"},
        {"suborigin"}},
       subscription_rows},
      {kPgCatalogSchema,
       "pg_subscription_rel",
       {{"srsubid"}, {"srrelid"}, {"srsubstate"}, {"srsublsn"}},
       subscribed_table_rows},
      {kPgCatalogSchema,
       "pg_stat_subscription",
       {{"subid"},
        {"subname"},
        {"worker_type"},
        {"pid"},
        {"leader_pid"},
        {"relid"},
        {"received_lsn"},
        {"last_msg_send_time"},
        {"last_msg_receipt_time"},
        {"latest_end_lsn"},
        {"latest_end_time"}},
       worker_rows},
      {kPgCatalogSchema,
       "pg_stat_subscription_stats",
       {{"subid"},
        {"subname"},
        {"apply_error_count"},
        {"sync_error_count"},
        {"confl_insert_exists"},
        {"confl_update_origin_differs"},
        {"confl_update_exists"},
        {"confl_update_missing"},
        {"confl_delete_origin_differs"},
        {"confl_delete_missing"},
        {"confl_multiple_unique_conflicts"},
        {"stats_reset"}},
       count_rows},
      {kPgCatalogSchema, "pg_replication_origin", {{"roident"}, {"roname"}}, origin_rows},
      {kPgCatalogSchema,
       "pg_replication_origin_status",
       {{"local_id"}, {"external_id"}, {"remote_lsn"}},
       origin_position_rows}};
  return kProviders;
}

}  // namespace swizzle::sql
