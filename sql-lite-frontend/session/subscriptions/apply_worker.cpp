#include "sql-lite-frontend/session/subscriptions/apply_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/subscriptions/subscribed_tables.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

constexpr int kMessagesAtOnce = 1000;
constexpr Duration kOften = std::chrono::milliseconds{50};

TimePoint now() {
  return Runtime::current().now();
}

std::int64_t clock_us() {
  return Runtime::current().wall_clock_us() - kUnixEpochDays * kMicrosPerDay;
}

/// A list of identifiers, as an option of pgoutput.
std::string publication_list(const Subscription& subscription) {
  std::string list;
  for (const std::string& name : subscription.publications) {
    if (!list.empty()) list += ',';
    list += '"';
    for (const char letter : name) {
      if (letter == '"' || letter == '\'') list += letter;
      list += letter;
    }
    list += '"';
  }
  return list;
}

/// Options of pgoutput, as far as the publisher knows them.
std::string output_options(const Subscription& subscription, const PublisherLink& link,
                           bool two_phase) {
  constexpr int kStreams = 140'000;
  constexpr int kHasTwoPhase = 150'000;
  constexpr int kKnowsOrigins = 160'000;
  const int version = link.version();
  int protocol = 1;
  std::string more;
  if (subscription.streaming != Subscription::Streaming::off && version >= kStreams) {
    protocol = 2;
    more += ", streaming 'on'";
  }
  if (two_phase && version >= kHasTwoPhase) {
    protocol = 3;
    more += ", two_phase 'on'";
  }
  if (subscription.binary && version >= kStreams) more += ", binary 'true'";
  // Older publishers send everything, as to a subscriber of PostgreSQL.
  if (version >= kKnowsOrigins)
    more += fmt::format(", origin '{}'", lower_case(subscription.origin));
  return fmt::format("proto_version '{}', publication_names '{}'{}", protocol,
                     publication_list(subscription), more);
}

std::string_view kind_of_worker(const ApplyJob& job) {
  return job.table == kNoOid ? "logical replication apply worker"
                             : "logical replication tablesync worker";
}

SessionOptions options_of(const ApplyJob& job, const Role& owner, const DatabaseEntry& database,
                          const Subscription& subscription, PublisherDoor& door) {
  SessionOptions options;
  options.user = owner.name;
  options.database = database.name;
  options.backend_pid = job.pid;
  options.is_maintenance = true;
  options.parameters = {{"application_name", std::string{kind_of_worker(job)}},
                        {"search_path", "pg_catalog"},
                        {"default_transaction_isolation", "read committed"},
                        {"default_transaction_read_only", "off"},
                        {"DateStyle", "ISO"},
                        {"IntervalStyle", "postgres"},
                        {"synchronous_commit", subscription.synchronous_commit}};
  options.end = [&door] { door.stop(); };
  return options;
}

}  // namespace

ApplyWorker::ApplyWorker(Database& database, PublisherDoor& door, const ApplyJob& job)
    : database_(database), door_(door), job_(job) {
  shown_ = {.id = id(), .database = job.database, .pid = job.pid};
}

ApplyWorker::~ApplyWorker() {
  // They use the session.
  applier_.reset();
  std::unique_ptr<Session> session;
  {
    const std::lock_guard lock{session_mutex_};
    session = std::move(session_);
  }
  session.reset();
  if (is_entered_) database_.shared().subscription_workers.leave(id());
}

void ApplyWorker::request_stop() {
  door_.stop();
  Diagnostic reason;
  reason.severity = Severity::fatal;
  reason.state = SqlState{"57P01"};
  reason.message = "terminating logical replication worker due to administrator command";
  const std::lock_guard lock{session_mutex_};
  if (session_) session_->terminate(reason);
}

ApplyEnd ApplyWorker::run() {
  SubscriptionWorkers& workers = database_.shared().subscription_workers;
  is_entered_ = workers.enter(shown_, [this] { request_stop(); });
  if (!is_entered_) return ApplyEnd::over;
  Step ended;
  try {
    ended = follow();
  } catch (const SqlError& error) {
    ended = failed(to_diagnostic(error, {}));
  }
  return finish(ended.value_or(Ended{}));
}

ApplyWorker::Step ApplyWorker::follow() {
  if (Step ended = open()) return ended;
  log(Severity::log, called() + " has started");
  if (copies()) return copy_and_catch_up();
  if (Step ended = start()) return ended;
  return stream();
}

std::string ApplyWorker::called() const {
  if (!copies()) {
    return fmt::format("logical replication apply worker for subscription \"{}\"",
                       subscription_->name);
  }
  const TablePtr table = session_->state().catalog.table(job_.table);
  return fmt::format(
      "logical replication table synchronization worker for subscription \"{}\", table \"{}\"",
      subscription_->name, table ? table->relation.name : "");
}

ApplyWorker::Step ApplyWorker::failed(Diagnostic error) {
  return Ended{ApplyEnd::failed, std::move(error)};
}

ApplyWorker::Step ApplyWorker::failed(const Error& error) {
  return failed(to_diagnostic(error));
}

void ApplyWorker::log(Severity severity, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.message = std::move(message);
  door_.log(diagnostic);
}

// Beginning and end ----------------------------------------------------------------------------

/// Waits for a statement that alters or drops the subscription. Returns false if the worker is to
/// stop.
bool ApplyWorker::await_definition(Transaction& transaction) const {
  constexpr Duration kLooksEvery = std::chrono::milliseconds{20};
  transaction.set_lock_timeout(kLooksEvery);
  while (!door_.is_stopping()) {
    const auto locked = transaction.lock_relation(lock::RelationId{job_.subscription},
                                                  lock::RelationMode::access_share);
    if (locked) return true;
    if (locked.error().state() != sqlstate::lock_not_available)
      throw SqlError{Error{locked.error().state(), locked.error().message()}};
  }
  return false;
}

ApplyWorker::Step ApplyWorker::open() {
  Catalogs& catalogs = *database_.shared().catalogs;
  const Catalogs::Use use{catalogs, job_.database};
  Lsn applied = Lsn::none;
  bool is_needed = true;
  {
    auto transaction = database_.shared().engine.begin();
    if (!await_definition(*transaction)) return Ended{};
    transaction->begin_statement();
    subscription_ = read_subscription(use.catalog(), *transaction, job_.subscription);
    applied = read_applied_position(use.catalog(), *transaction, id());
    const auto tables = read_subscribed_tables(use.catalog(), *transaction, job_.subscription);
    const auto own = std::ranges::find(tables, job_.table, &SubscribedTable::table);
    is_needed = !copies() || (own != tables.end() && own->state != SubscribedTable::State::ready &&
                              own->state != SubscribedTable::State::copied);
    if (copies() && is_needed) table_ = *own;
    transaction->rollback();
  }
  if (!subscription_ || !subscription_->enabled || !subscription_->slot || !is_needed)
    return Ended{};
  const RolePtr owner = catalogs.shared_objects().role(subscription_->owner);
  const DatabasePtr entry = catalogs.shared_objects().database(job_.database);
  if (!owner || !entry) return Ended{};
  auto session = database_.connect(options_of(job_, *owner, *entry, *subscription_, door_));
  if (!session) return failed(std::move(session.error()));
  {
    const std::lock_guard lock{session_mutex_};
    session_ = std::move(*session);
  }
  {
    // The owner need not be allowed to set it.
    Session::State& state = session_->state();
    const ActingUser system{state, kBootstrapRole, ActingUser::As::itself};
    value_of(state.settings.set("session_replication_role", "replica",
                                SessionSettings::Lifetime::session));
    state.variables.changed(nullptr);
  }
  applier_ = std::make_unique<ChangeApplier>(*session_, door_, *subscription_, job_.table, applied);
  received_ = applied;
  if (!copies()) read_tables();
  return {};
}

ApplyWorker::Step ApplyWorker::connect() {
  PublisherTarget target = target_of(session_->state(), *subscription_);
  if (copies()) target.application_name = slot_name();
  auto link = door_.connect(target);
  if (!link) {
    Diagnostic error = to_diagnostic(link.error());
    error.message = fmt::format("subscription \"{}\" could not connect to the publisher: {}",
                                subscription_->name, error.message);
    return failed(std::move(error));
  }
  link_ = *std::move(link);
  return {};
}

std::string ApplyWorker::slot_name() const {
  if (!copies()) return *subscription_->slot;
  return slots_of_copies(session_->state(), job_.subscription).name(job_.table);
}

ApplyWorker::Step ApplyWorker::start() {
  if (Step ended = connect()) return ended;
  if (!copies()) drop_left_slots();
  const bool two_phase = begins_two_phase();
  const std::string command =
      fmt::format("START_REPLICATION SLOT {} LOGICAL {} ({})", quote_identifier(slot_name()),
                  lsn_text(applier_->applied()), output_options(*subscription_, *link_, two_phase));
  if (auto started = link_->start(command); !started) {
    Diagnostic error = to_diagnostic(started.error());
    error.message = fmt::format("could not start WAL streaming: {}", error.message);
    return failed(std::move(error));
  }
  if (two_phase && subscription_->two_phase == Subscription::TwoPhase::pending) enable_two_phase();
  heard_at_ = told_at_ = now();
  return {};
}

ApplyEnd ApplyWorker::finish(const Ended& ended) {
  if (applier_) applier_->roll_back();
  // The publisher is told how far it is, so that it sends less again.
  if (link_ && ended.how != ApplyEnd::failed) {
    database_.shared().engine.logical_log().flush();
    static_cast<void>(report(false));
  }
  if (!ended.error || door_.is_stopping()) {
    // It was stopped: what failed because of that is no error.
    return ended.error ? ApplyEnd::over : ended.how;
  }
  SubscriptionWorkers& workers = database_.shared().subscription_workers;
  workers.count(job_.subscription, copies() ? &SubscriptionWorkers::Counts::sync_errors
                                            : &SubscriptionWorkers::Counts::apply_errors);
  Diagnostic error = *ended.error;
  error.severity = Severity::error;
  door_.log(error);
  const bool has_begun = link_ || copies();
  if (has_begun && subscription_ && subscription_->disable_on_error) disable();
  return ended.how;
}

void ApplyWorker::disable() {
  bool is_done = false;
  try {
    in_transaction([&](Catalog& catalog, Transaction& transaction) {
      transaction.set_lock_timeout(kLongestLockWait);
      const auto old = lock_subscription(catalog, transaction, job_.subscription);
      if (!old || !old->enabled) return;
      Subscription changed = *old;
      changed.enabled = false;
      CatalogView view{catalog};
      replace_subscription(view, transaction, *old, changed);
      is_done = true;
    });
  } catch (const SqlError& error) {
    return door_.log(to_diagnostic(error, {}));
  }
  if (is_done) {
    log(Severity::log, fmt::format("subscription \"{}\" has been disabled because of an error",
                                   subscription_->name));
  }
}

// The stream -----------------------------------------------------------------------------------

ApplyWorker::Step ApplyWorker::stream() {
  constexpr Duration kIdle = std::chrono::seconds{1};
  constexpr Duration kUntilFlush = std::chrono::milliseconds{20};
  while (!door_.is_stopping()) {
    if (has_reached_target()) return {};
    if (!applier_->is_in_transaction()) {
      if (Step ended = look_around()) return ended;
    }
    const Duration wait = applier_->awaits_flush() ? kUntilFlush : looks_often() ? kOften : kIdle;
    if (Step ended = take_messages(wait)) return ended;
    database_.shared().subscription_workers.show(shown_);
    if (Step ended = check_silence()) return ended;
    if (auto told = report_if_due(); !told) return failed(told.error());
  }
  return Ended{};
}

ApplyWorker::Step ApplyWorker::take_messages(Duration longest) {
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    const auto received = link_->receive(i == 0 ? longest : Duration::zero());
    if (!received) return failed(received.error());
    if (received->arrival == PublisherLink::Arrival::end) {
      log(Severity::log, "data stream from publisher has ended");
      return failed(Error{kConnectionFailure, "the publisher has ended the stream"});
    }
    if (received->arrival == PublisherLink::Arrival::none) {
      // No other commit may make these durable for some time.
      if (i == 0 && applier_->awaits_flush()) database_.shared().engine.logical_log().flush();
      break;
    }
    if (i == 0) {
      heard_at_ = now();
      has_asked_ = false;
      shown_.heard_at = clock_us();
    }
    if (Step ended = take(received->bytes)) return ended;
    if (has_reached_target()) break;
  }
  return {};
}

ApplyWorker::Step ApplyWorker::take(Bytes message) {
  switch (message.empty() ? '\0' : static_cast<char>(message[0])) {
    case 'w':
      return take_change(message);
    case 'k':
      return take_keepalive(message);
    default:
      return {};
  }
}

ApplyWorker::Step ApplyWorker::take_change(Bytes message) {
  constexpr std::size_t kHead = 1 + 8 + 8 + 8;
  if (message.size() < kHead)
    return failed(Error{SqlState{"08P01"}, "invalid change message received from publisher"});
  const auto at = [&](std::size_t from) {
    return load_big_endian<std::uint64_t>(message.data() + from);
  };
  const Lsn end{std::max(at(1), at(9))};
  note_message(end, static_cast<std::int64_t>(at(17)));
  if (auto applied = applier_->apply(message.subspan(kHead)); !applied)
    return failed(std::move(applied.error()));
  received_ = std::max(received_, applier_->applied());
  return {};
}

ApplyWorker::Step ApplyWorker::take_keepalive(Bytes message) {
  constexpr std::size_t kBytes = 1 + 8 + 8 + 1;
  if (message.size() < kBytes)
    return failed(Error{SqlState{"08P01"}, "invalid keepalive message received from publisher"});
  note_message(Lsn{load_big_endian<std::uint64_t>(message.data() + 1)},
               static_cast<std::int64_t>(load_big_endian<std::uint64_t>(message.data() + 9)));
  if (message[kBytes - 1] == std::byte{0}) return {};
  if (auto told = report(false); !told) return failed(told.error());
  return {};
}

void ApplyWorker::note_message(Lsn end, std::int64_t sent_at) {
  received_ = std::max(received_, end);
  shown_.received = received_;
  shown_.sent_at = sent_at;
  if (shown_.latest_end < end) {
    shown_.latest_end = end;
    shown_.latest_end_at = sent_at;
  }
}

ApplyWorker::Step ApplyWorker::check_silence() {
  const std::int64_t timeout_ms = database_.shared().settings.integer("wal_receiver_timeout");
  if (timeout_ms == 0) return {};
  const Duration timeout = std::chrono::milliseconds{timeout_ms};
  const Duration silence = now() - heard_at_;
  if (silence > timeout) {
    return failed(
        Error{kConnectionFailure, "terminating logical replication worker due to timeout"});
  }
  if (silence < timeout / 2 || has_asked_) return {};
  has_asked_ = true;
  if (auto told = report(true); !told) return failed(told.error());
  return {};
}

Result<> ApplyWorker::report_if_due() {
  const Duration interval =
      std::chrono::seconds{database_.shared().settings.integer("wal_receiver_status_interval")};
  const Lsn flushed = applier_->flushed();
  const bool has_news = !applier_->awaits_flush() && !applier_->is_in_transaction()
                            ? std::max(flushed, received_) != told_flushed_
                            : flushed != told_flushed_;
  const bool is_due = interval > Duration::zero() && now() - told_at_ >= interval;
  return has_news || is_due ? report(false) : Result<>{};
}

/// Tells the positions. All that has come is done if no commit waits to become durable.
Result<> ApplyWorker::report(bool wants_reply) {
  Lsn flushed = applier_->flushed();
  if (!applier_->awaits_flush() && !applier_->is_in_transaction())
    flushed = std::max(flushed, received_);
  std::array<std::byte, 1 + 4 * 8 + 1> message{};
  message[0] = std::byte{'r'};
  store_big_endian(message.data() + 1, raw(received_));
  store_big_endian(message.data() + 9, raw(flushed));
  store_big_endian(message.data() + 17, raw(std::max(flushed, applier_->applied())));
  store_big_endian(message.data() + 25, static_cast<std::uint64_t>(clock_us()));
  message[33] = wants_reply ? std::byte{1} : std::byte{0};
  RETURN_IF_ERROR(link_->send(message));
  told_flushed_ = flushed;
  told_at_ = now();
  return {};
}

// Definitions and tables -----------------------------------------------------------------------

bool ApplyWorker::looks_often() const {
  return database_.shared().subscription_workers.has_changed_lately() || copies() ||
         !are_all_ready();
}

ApplyWorker::Step ApplyWorker::look_around() {
  constexpr Duration kLooksEvery = std::chrono::seconds{1};
  if (!copies()) {
    if (Step ended = meet_copies()) return ended;
  }
  if (!must_look_ && now() - looked_at_ < (looks_often() ? kOften : kLooksEvery)) return {};
  must_look_ = false;
  looked_at_ = now();
  std::optional<Subscription> newest;
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    newest = read_subscription(catalog, transaction, job_.subscription);
  });
  if (Step ended = compare(newest)) return ended;
  subscription_ = newest;
  applier_->set_subscription(*newest);
  if (!copies()) {
    read_tables();
    note_ready();
    if (are_all_ready()) return {};
  }
  // An idle publisher tells its position only when asked.
  if (auto told = report(true); !told) return failed(told.error());
  return {};
}

ApplyWorker::Step ApplyWorker::compare(const std::optional<Subscription>& newest) {
  const auto stops = [&](std::string_view why) {
    log(Severity::log,
        fmt::format("logical replication worker for subscription \"{}\" will stop because the "
                    "subscription was {}",
                    subscription_->name, why));
    return Ended{};
  };
  if (!newest) return stops("removed");
  if (!newest->enabled) return stops("disabled");
  Subscription same = *newest;
  same.skip = subscription_->skip;
  if (same == *subscription_) {
    if (copies() || !begins_two_phase() || same.two_phase != Subscription::TwoPhase::pending)
      return {};
    log(Severity::log, called() + " will restart so that two_phase can be enabled");
    return Ended{ApplyEnd::changed};
  }
  log(Severity::log, fmt::format("logical replication worker for subscription \"{}\" will restart "
                                 "because of a parameter change",
                                 subscription_->name));
  return Ended{ApplyEnd::changed};
}

// Jobs -----------------------------------------------------------------------------------------

std::vector<ApplyJob> find_apply_jobs(Database& database) {
  Database::Shared& shared = database.shared();
  SharedObjects& objects = shared.catalogs->shared_objects();
  const SubscriptionWorkers& workers = shared.subscription_workers;
  std::vector<ApplyJob> jobs;
  std::vector<ApplyJob> copies;
  auto transaction = shared.engine.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  for (const DatabasePtr& entry : objects.databases()) {
    for (const Subscription& one : read_subscriptions(objects.tree(), entry->oid, *transaction)) {
      if (!one.enabled) continue;
      if (workers.may_start({one.oid}))
        jobs.push_back({.database = entry->oid, .subscription = one.oid});
      // Without the subscription's worker there is no reason to begin: it may be the connection.
      if (!workers.is_running({one.oid})) continue;
      for (const SubscribedTable& table :
           read_subscribed_tables(objects.tree(), entry->oid, *transaction, one.oid)) {
        const bool is_copied = table.state == SubscribedTable::State::ready ||
                               table.state == SubscribedTable::State::copied;
        if (is_copied || !workers.may_start({one.oid, table.table})) continue;
        copies.push_back({.database = entry->oid, .subscription = one.oid, .table = table.table});
      }
    }
  }
  transaction->rollback();
  jobs.insert(jobs.end(), copies.begin(), copies.end());
  return jobs;
}

bool have_subscriptions_changed(Database& database) {
  return database.shared().subscription_workers.has_changed_lately();
}

void stop_apply_workers(Database& database) {
  database.shared().subscription_workers.stop_all();
}

ApplyEnd run_apply_worker(Database& database, PublisherDoor& door, const ApplyJob& job) {
  ApplyWorker worker{database, door, job};
  return worker.run();
}

}  // namespace swizzle::sql
