#include "sql-lite-frontend/session/subscriptions/statements.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/definitions/subscriptions/subscriptions.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/subscriptions/aside_link.h"
#include "sql-lite-frontend/session/subscriptions/publisher_questions.h"
#include "sql-lite-frontend/session/subscriptions/subscribed_tables.h"
#include "sql-lite-frontend/session/subscriptions/subscription_options.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kNoState{"00000"};
constexpr SqlState kInvalidDefinition{"42P17"};

void require_may_subscribe(const Session::State& session) {
  if (!session.rights.owns(kCreateSubscriptionRole)) {
    throw SqlError{sqlstate::insufficient_privilege, "permission denied to create subscription"}
        .with_detail(
            "Only roles with privileges of the \"pg_create_subscription\" role may create "
            "subscriptions.");
  }
  session.rights.require_create_on_database();
}

std::vector<std::string> publication_names(ast::NodeList list) {
  std::vector<std::string> names;
  for (const ast::Node* node : list) {
    std::string name{ast::string_of(node)};
    if (std::ranges::find(names, name) != names.end()) {
      throw_error(sqlstate::duplicate_object, "publication name \"{}\" used more than once", name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

void check_conninfo(Session::State& session, const std::string& conninfo, bool needs_password) {
  if (session.shared.publishers != nullptr)
    value_of(session.shared.publishers->check(conninfo, needs_password));
}

SubscribedTable::State state_of_new(const SubscriptionOptions& options) {
  return options.copy_data ? SubscribedTable::State::init : SubscribedTable::State::ready;
}

/// Asks the publisher for the tables, and creates the slot there, which no rollback undoes: last.
void connect_new(Session::State& session, const Subscription& subscription,
                 const SubscriptionOptions& options, ResultSink& sink) {
  const auto link = link_to_publisher(session, subscription);
  warn_of_missing(session, *link, subscription.publications, sink);
  if (options.copy_data) warn_of_others(session, *link, subscription, sink);
  refresh_tables(session, *link, subscription, state_of_new(options));
  if (!options.create_slot) return;
  create_publisher_slot(*link, *subscription.slot);
  session.notice(sink, Severity::notice, kNoState,
                 fmt::format("created replication slot \"{}\" on publisher", *subscription.slot));
}

void warn_of_no_connection(Session::State& session, ResultSink& sink) {
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.state = SqlState{"01000"};
  warning.message = "subscription was created, but is not connected";
  warning.hint =
      "To initiate replication, you must manually create the replication slot, enable the "
      "subscription, and refresh the subscription.";
  session.send_notice(sink, std::move(warning));
}

// ALTER SUBSCRIPTION ---------------------------------------------------------------------------

/// One ALTER SUBSCRIPTION.
class Altering {
 public:
  Altering(Session::State& session, const ast::AlterSubscriptionStmt& statement, ResultSink& sink)
      : session_(session),
        statement_(statement),
        sink_(sink),
        old_(lock_own_subscription(session, statement.subname)),
        changed_(old_) {}

  void run() {
    using Type = ast::AlterSubscriptionType;
    switch (statement_.kind) {
      case Type::options:
        set_options();
        break;
      case Type::connection:
        check_conninfo(session_, std::string{statement_.conninfo}, needs_password());
        changed_.conninfo = statement_.conninfo;
        break;
      case Type::set_publication:
        changed_.publications = publication_names(statement_.publication);
        refresh_after_change("SET", changed_.publications);
        break;
      case Type::add_publication:
        add_publications();
        break;
      case Type::drop_publication:
        drop_publications();
        break;
      case Type::refresh:
        refresh();
        break;
      case Type::enabled:
        enable();
        break;
      case Type::skip:
        skip();
        break;
      case Type::undefined:
        break;
    }
    if (changed_ != old_)
      replace_subscription(session_.catalog, *session_.transaction, old_, changed_);
    session_.shared.subscription_workers.note_change();
  }

 private:
  [[nodiscard]] bool needs_password() const {
    return old_.password_required && !session_.rights.is_superuser(old_.owner);
  }

  void set_options() {
    const SubscriptionOptions options = subscription_options(
        session_, statement_.options,
        "slot_name synchronous_commit binary streaming two_phase disable_on_error "
        "password_required run_as_owner failover origin");
    if (options.has("slot_name")) {
      if (old_.enabled && !options.slot_name) {
        throw SqlError{sqlstate::object_not_in_prerequisite_state,
                       "cannot set slot_name = NONE for enabled subscription"};
      }
      changed_.slot = options.slot_name;
    }
    if (options.has("synchronous_commit")) changed_.synchronous_commit = options.synchronous_commit;
    if (options.has("disable_on_error")) changed_.disable_on_error = options.disable_on_error;
    if (options.has("password_required")) {
      if (!options.password_required && !session_.rights.is_superuser(session_.user))
        refuse_without_password();
      changed_.password_required = options.password_required;
    }
    if (options.has("run_as_owner")) changed_.run_as_owner = options.run_as_owner;
    if (options.has("binary")) changed_.binary = options.binary;
    if (options.has("streaming")) changed_.streaming = options.streaming;
    for (const std::string_view name : {"two_phase", "failover"}) {
      if (!options.has(name)) continue;
      if (old_.enabled) {
        throw_error(sqlstate::object_not_in_prerequisite_state,
                    "cannot set option \"{}\" for enabled subscription", name);
      }
    }
    const bool had_two_phase = old_.two_phase != Subscription::TwoPhase::disabled;
    if (options.has("two_phase") && options.two_phase != had_two_phase) {
      throw SqlError{sqlstate::feature_not_supported,
                     "changing the option \"two_phase\" of a subscription is not supported"};
    }
    if (options.has("origin")) changed_.origin = options.origin;
  }

  void add_publications() {
    const std::vector<std::string> added = publication_names(statement_.publication);
    for (const std::string& name : added) {
      if (has_publication(name)) {
        throw_error(sqlstate::duplicate_object,
                    "publication \"{}\" is already in subscription \"{}\"", name, old_.name);
      }
      changed_.publications.push_back(name);
    }
    refresh_after_change("ADD", added);
  }

  void drop_publications() {
    for (const std::string& name : publication_names(statement_.publication)) {
      if (!has_publication(name)) {
        throw_error(kInvalidDefinition, "publication \"{}\" is not in subscription \"{}\"", name,
                    old_.name);
      }
      std::erase(changed_.publications, name);
    }
    if (changed_.publications.empty()) {
      throw SqlError{kInvalidDefinition, "cannot drop all the publications from a subscription"};
    }
    refresh_after_change("DROP", {});
  }

  [[nodiscard]] bool has_publication(const std::string& name) const {
    return std::ranges::find(changed_.publications, name) != changed_.publications.end();
  }

  /// `checked`: publications that the publisher should have.
  void refresh_after_change(std::string_view verb, const std::vector<std::string>& checked) {
    const SubscriptionOptions options =
        subscription_options(session_, statement_.options, "copy_data refresh");
    if (!options.refresh) return;
    if (!old_.enabled) {
      const std::string command =
          fmt::format("ALTER SUBSCRIPTION ... {} PUBLICATION ... WITH (refresh = false)", verb);
      throw SqlError{sqlstate::object_not_in_prerequisite_state,
                     "ALTER SUBSCRIPTION with refresh is not allowed for disabled subscriptions"}
          .with_hint(verb == "SET" ? fmt::format("Use {}.", command)
                                   : fmt::format("Use {} instead.", command));
    }
    if (options.copy_data && old_.two_phase == Subscription::TwoPhase::enabled) {
      throw SqlError{sqlstate::syntax_error,
                     "ALTER SUBSCRIPTION with refresh and copy_data is not allowed when two_phase "
                     "is enabled"}
          .with_hint(fmt::format("Use ALTER SUBSCRIPTION ... {} PUBLICATION with refresh = false, "
                                 "or with copy_data = false, or use DROP/CREATE SUBSCRIPTION.",
                                 verb));
    }
    session_.transaction.prevent_in_block("ALTER SUBSCRIPTION with refresh");
    refresh_by(options, checked);
  }

  void refresh() {
    if (!old_.enabled) {
      throw SqlError{sqlstate::object_not_in_prerequisite_state,
                     "ALTER SUBSCRIPTION ... REFRESH is not allowed for disabled subscriptions"};
    }
    const SubscriptionOptions options =
        subscription_options(session_, statement_.options, "copy_data");
    if (options.copy_data && old_.two_phase == Subscription::TwoPhase::enabled) {
      throw SqlError{sqlstate::syntax_error,
                     "ALTER SUBSCRIPTION ... REFRESH with copy_data is not allowed when two_phase "
                     "is enabled"}
          .with_hint(
              "Use ALTER SUBSCRIPTION ... REFRESH with copy_data = false, or use DROP/CREATE "
              "SUBSCRIPTION.");
    }
    session_.transaction.prevent_in_block("ALTER SUBSCRIPTION ... REFRESH");
    refresh_by(options, {});
  }

  void refresh_by(const SubscriptionOptions& options, const std::vector<std::string>& checked) {
    const auto link = link_to_publisher(session_, changed_);
    if (!checked.empty()) warn_of_missing(session_, *link, checked, sink_);
    if (options.copy_data) warn_of_others(session_, *link, changed_, sink_);
    refresh_tables(session_, *link, changed_, state_of_new(options));
  }

  void enable() {
    const SubscriptionOptions options =
        subscription_options(session_, statement_.options, "enabled");
    if (!old_.slot && options.enabled) {
      throw SqlError{sqlstate::object_not_in_prerequisite_state,
                     "cannot enable subscription that does not have a slot name"};
    }
    changed_.enabled = options.enabled;
  }

  void skip() {
    const SubscriptionOptions options = subscription_options(session_, statement_.options, "lsn");
    const Lsn applied =
        read_applied_position(session_.catalog.of_database(), *session_.transaction, {old_.oid});
    if (options.lsn != Lsn::none && applied != Lsn::none && options.lsn < applied) {
      throw_error(sqlstate::invalid_parameter_value,
                  "skip WAL location (LSN {}) must be greater than origin LSN {}",
                  lsn_text(options.lsn), lsn_text(applied));
    }
    changed_.skip = options.lsn;
  }

  Session::State& session_;
  const ast::AlterSubscriptionStmt& statement_;
  ResultSink& sink_;
  Subscription old_;
  Subscription changed_;
};

// DROP SUBSCRIPTION ----------------------------------------------------------------------------

/// True if a table's first copy may have a slot at the publisher.
bool copies_tables(Session::State& session, Oid subscription) {
  using State = SubscribedTable::State;
  for (const SubscribedTable& table :
       read_subscribed_tables(session.catalog.of_database(), *session.transaction, subscription)) {
    if (table.state == State::copying || table.state == State::finished) return true;
  }
  return false;
}

void drop_slots_of(Session::State& session, const Subscription& subscription, ResultSink& sink) {
  auto link = try_connect_aside(require_door(session), target_of(session, subscription));
  if (!link && !subscription.slot) return;
  if (!link) {
    throw sql_error(SqlState{"08006"},
                    "could not connect to publisher when attempting to drop replication slot "
                    "\"{}\": {}",
                    *subscription.slot, link.error().message())
        .with_hint(
            "Use ALTER SUBSCRIPTION ... DISABLE to disable the subscription, and then use ALTER "
            "SUBSCRIPTION ... SET (slot_name = NONE) to disassociate it from the slot.");
  }
  drop_copy_slots(**link, slots_of_copies(session, subscription.oid), {});
  if (!subscription.slot) return;
  drop_publisher_slot(**link, *subscription.slot);
  session.notice(sink, Severity::notice, kNoState,
                 fmt::format("dropped replication slot \"{}\" on publisher", *subscription.slot));
}

}  // namespace

void create_subscription(Session::State& session, const ast::CreateSubscriptionStmt& statement,
                         ResultSink& sink) {
  const SubscriptionOptions options = subscription_options(
      session, statement.options,
      "connect enabled create_slot slot_name copy_data synchronous_commit binary streaming "
      "two_phase disable_on_error password_required run_as_owner failover origin");
  if (options.create_slot)
    session.transaction.prevent_in_block("CREATE SUBSCRIPTION ... WITH (create_slot = true)");
  require_may_subscribe(session);
  const bool is_superuser = session.rights.is_superuser(session.user);
  if (!options.password_required && !is_superuser) refuse_without_password();
  Catalog& catalog = session.catalog.of_database();
  if (find_subscription(catalog, *session.transaction, statement.subname)) {
    throw_error(sqlstate::duplicate_object, "subscription \"{}\" already exists",
                statement.subname);
  }
  Subscription subscription;
  subscription.name = statement.subname;
  subscription.owner = session.user;
  subscription.conninfo = statement.conninfo;
  subscription.slot = options.has("slot_name") ? options.slot_name : std::string{statement.subname};
  subscription.synchronous_commit = options.synchronous_commit;
  subscription.publications = publication_names(statement.publication);
  subscription.origin = options.origin;
  subscription.enabled = options.enabled;
  subscription.disable_on_error = options.disable_on_error;
  subscription.password_required = options.password_required;
  subscription.run_as_owner = options.run_as_owner;
  subscription.binary = options.binary;
  subscription.streaming = options.streaming;
  if (options.two_phase) subscription.two_phase = Subscription::TwoPhase::pending;
  check_conninfo(session, subscription.conninfo, options.password_required && !is_superuser);
  if (options.connect) require_door(session);
  subscription.oid = session.catalog.allocate_oid();
  insert_subscription(session.catalog, *session.transaction, subscription);
  if (options.connect) {
    connect_new(session, subscription, options, sink);
  } else {
    warn_of_no_connection(session, sink);
  }
  session.shared.subscription_workers.note_change();
}

void alter_subscription(Session::State& session, const ast::AlterSubscriptionStmt& statement,
                        ResultSink& sink) {
  Altering{session, statement, sink}.run();
}

void drop_subscription(Session::State& session, const ast::DropSubscriptionStmt& statement,
                       ResultSink& sink) {
  Catalog& catalog = session.catalog.of_database();
  if (statement.missing_ok &&
      !find_subscription(catalog, *session.transaction, statement.subname)) {
    notice_missing(session, sink, fmt::format("subscription \"{}\"", statement.subname));
    return;
  }
  const Subscription subscription = lock_dropped_subscription(session, statement.subname);
  if (subscription.slot) session.transaction.prevent_in_block("DROP SUBSCRIPTION");
  // The workers hold slots, and write records that go.
  SubscriptionWorkers::Hold hold{session.shared.subscription_workers, subscription.oid};
  hold.stop_workers([&] { session.check_cancelled(); });
  const bool has_copies = copies_tables(session, subscription.oid);
  remove_subscription(catalog, *session.transaction, subscription);
  put_comment(catalog, *session.transaction, catalog.database(),
              {class_id::pg_subscription, subscription.oid, 0, {}});
  if (subscription.slot || has_copies) drop_slots_of(session, subscription, sink);
  session.shared.subscription_workers.note_change();
}

}  // namespace swizzle::sql
