#include "sql-lite-frontend/session/subscriptions/subscribed_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/session/subscriptions/aside_link.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

void require_target_kind(const Relation& relation, const PublishedName& name) {
  std::string_view kinds;
  switch (relation.kind) {
    case RelationKind::table:
    case RelationKind::partitioned:
      return;
    case RelationKind::view:
      kinds = "views";
      break;
    case RelationKind::materialized:
      kinds = "materialized views";
      break;
    case RelationKind::sequence:
      kinds = "sequences";
      break;
    case RelationKind::computed:
      kinds = "system tables";
      break;
  }
  throw sql_error(sqlstate::wrong_object_type,
                  "cannot use relation \"{}.{}\" as logical replication target", name.schema,
                  name.table)
      .with_detail(fmt::format("This operation is not supported for {}.", kinds));
}

TablePtr local_table(Session::State& session, const PublishedName& name) {
  const SchemaPtr schema = session.catalog.schema(name.schema);
  if (!schema)
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name.schema);
  TablePtr table = session.catalog.table(schema->oid, name.table);
  if (!table) {
    throw_error(sqlstate::undefined_table, "relation \"{}.{}\" does not exist", name.schema,
                name.table);
  }
  require_target_kind(table->relation, name);
  session.catalog.hold(*session.transaction, table->relation.oid);
  return table;
}

}  // namespace

PublisherDoor& require_door(Session::State& session) {
  if (session.shared.publishers == nullptr)
    throw SqlError{sqlstate::feature_not_supported, "connecting to a publisher needs a server"};
  return *session.shared.publishers;
}

PublisherTarget target_of(const StatementContext& session, const Subscription& subscription) {
  return {.conninfo = subscription.conninfo,
          .application_name = subscription.name,
          .must_use_password =
              subscription.password_required && !session.rights.is_superuser(subscription.owner)};
}

CopySlots slots_of_copies(const Session::State& session, Oid subscription) {
  return {.subscription = subscription, .server = session.shared.engine.logical_log().log_id()};
}

std::unique_ptr<PublisherLink> link_to_publisher(Session::State& session,
                                                 const Subscription& subscription) {
  return connect_aside(require_door(session), target_of(session, subscription), subscription.name);
}

void warn_of_missing(Session::State& session, PublisherLink& link,
                     const std::vector<std::string>& publications, ResultSink& sink) {
  const std::vector<std::string> missing = missing_publications(link, publications);
  if (missing.empty()) return;
  std::string names;
  for (const std::string& name : missing)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  session.notice(sink, Severity::warning, sqlstate::undefined_object,
                 missing.size() == 1
                     ? fmt::format("publication {} does not exist on the publisher", names)
                     : fmt::format("publications {} do not exist on the publisher", names));
}

void warn_of_others(Session::State& session, PublisherLink& link, const Subscription& subscription,
                    ResultSink& sink) {
  if (lower_case(subscription.origin) != "none") return;
  const std::vector<std::string> others = publications_of_others(link, subscription.publications);
  if (others.empty()) return;
  std::string names;
  for (const std::string& name : others)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.state = sqlstate::object_not_in_prerequisite_state;
  warning.message = fmt::format(
      "subscription \"{}\" requested copy_data with origin = NONE but might copy data that had a "
      "different origin",
      subscription.name);
  warning.detail = fmt::format(
      "The subscription subscribes to {} ({}) that {} tables that are written to by other "
      "subscriptions.",
      others.size() == 1 ? "a publication" : "publications", names,
      others.size() == 1 ? "contains" : "contain");
  warning.hint =
      "Verify that initial data copied from the publisher tables did not come from other origins.";
  session.send_notice(sink, std::move(warning));
}

std::vector<TablePtr> local_tables(Session::State& session, PublisherLink& link,
                                   const std::vector<std::string>& publications) {
  std::vector<TablePtr> tables;
  for (const PublishedName& name : published_tables(link, publications))
    tables.push_back(local_table(session, name));
  return tables;
}

void refresh_tables(Session::State& session, PublisherLink& link, const Subscription& subscription,
                    SubscribedTable::State state_of_new) {
  Catalog& catalog = session.catalog.of_database();
  Transaction& transaction = *session.transaction;
  std::map<Oid, SubscribedTable::State> gone;
  for (const SubscribedTable& table :
       read_subscribed_tables(catalog, transaction, subscription.oid))
    gone.emplace(table.table, table.state);
  // No worker of a table that goes begins meanwhile.
  SubscriptionWorkers::Hold hold{session.shared.subscription_workers, subscription.oid};
  for (const TablePtr& table : local_tables(session, link, subscription.publications)) {
    const Oid oid = table->relation.oid;
    if (gone.erase(oid) != 0) continue;
    put_subscribed_table(catalog, transaction,
                         {.subscription = subscription.oid, .table = oid, .state = state_of_new},
                         TableRecord::may_be_new);
  }
  for (const auto& [oid, state] : gone) {
    hold.stop_worker(oid, [&] { session.check_cancelled(); });
    remove_subscribed_table(catalog, transaction, subscription.oid, oid);
    if (state == SubscribedTable::State::ready) continue;
    drop_slot_if_exists(link, slots_of_copies(session, subscription.oid).name(oid));
  }
}

}  // namespace swizzle::sql
