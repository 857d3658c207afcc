#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/session/subscriptions/apply_worker.h"
#include "sql-lite-frontend/session/subscriptions/subscribed_tables.h"
#include "sql-lite-frontend/session/subscriptions/table_copy.h"
#include "sql-lite-frontend/types/sql_error.h"

/// How far the tables of a subscription are, and their first copies.
namespace swizzle::sql {
namespace {

void wait_a_moment() {
  constexpr Duration kPause = std::chrono::milliseconds{5};
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + kPause);
}

}  // namespace

// The subscription's worker --------------------------------------------------------------------

void ApplyWorker::read_tables() {
  ChangeApplier::Tables tables;
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    for (const SubscribedTable& table :
         read_subscribed_tables(catalog, transaction, job_.subscription))
      tables.emplace(table.table, table);
  });
  applier_->set_tables(std::move(tables));
}

bool ApplyWorker::are_all_ready() const {
  return std::ranges::all_of(applier_->tables(), [](const auto& entry) {
    return entry.second.state == SubscribedTable::State::ready;
  });
}

ApplyWorker::Step ApplyWorker::meet_copies() {
  SubscriptionWorkers& workers = database_.shared().subscription_workers;
  if (!workers.set_targets(job_.subscription, received_)) return {};
  while (!door_.is_stopping() && workers.set_targets(job_.subscription, received_)) {
    // The publisher must not take the worker for dead.
    if (auto told = report_if_due(); !told) return failed(told.error());
    wait_a_moment();
  }
  heard_at_ = Runtime::current().now();
  read_tables();
  return {};
}

void ApplyWorker::note_ready() {
  ChangeApplier::Tables tables = applier_->tables();
  std::vector<SubscribedTable> ready;
  for (auto& [oid, table] : tables) {
    if (table.state != SubscribedTable::State::copied || received_ < table.lsn) continue;
    table.state = SubscribedTable::State::ready;
    ready.push_back(table);
  }
  if (ready.empty()) return;
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    for (const SubscribedTable& table : ready)
      put_subscribed_table(catalog, transaction, table, TableRecord::must_exist);
    // After a crash, what the copies have must not come again.
    put_applied_position(catalog, transaction, id(), std::max(applier_->applied(), received_));
  });
  applier_->note_applied(received_);
  applier_->set_tables(std::move(tables));
}

bool ApplyWorker::begins_two_phase() const {
  using TwoPhase = Subscription::TwoPhase;
  if (copies() || subscription_->two_phase == TwoPhase::disabled) return false;
  if (subscription_->two_phase == TwoPhase::enabled) return true;
  return !applier_->tables().empty() && are_all_ready();
}

void ApplyWorker::enable_two_phase() {
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    transaction.set_lock_timeout(kLongestLockWait);
    const auto old = lock_subscription(catalog, transaction, job_.subscription);
    if (!old) return;
    Subscription changed = *old;
    changed.two_phase = Subscription::TwoPhase::enabled;
    CatalogView view{catalog};
    replace_subscription(view, transaction, *old, changed);
  });
  subscription_->two_phase = Subscription::TwoPhase::enabled;
  applier_->set_subscription(*subscription_);
}

void ApplyWorker::drop_left_slots() {
  std::vector<Oid> kept;
  for (const auto& [oid, table] : applier_->tables())
    if (table.state == SubscribedTable::State::copying ||
        table.state == SubscribedTable::State::finished)
      kept.push_back(oid);
  drop_copy_slots(*link_, slots_of_copies(session_->state(), job_.subscription), kept);
}

// A table's worker -----------------------------------------------------------------------------

ApplyWorker::Step ApplyWorker::copy_and_catch_up() {
  if (table_.state != SubscribedTable::State::finished) {
    if (Step ended = copy()) return ended;
  }
  if (Step ended = await_target()) return ended;
  if (received_ < target_) {
    if (Step ended = start()) return ended;
    if (Step ended = stream()) return ended;
  }
  note_copied();
  log(Severity::log, called() + " has finished");
  drop_slot_of_copy();
  return Ended{};
}

ApplyWorker::Step ApplyWorker::copy() {
  const TablePtr table = session_->state().catalog.table(job_.table);
  if (!table) return Ended{};
  table_.state = SubscribedTable::State::copying;
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    put_subscribed_table(catalog, transaction, table_, TableRecord::must_exist);
  });
  const auto copied = copy_table({.session = *session_,
                                  .door = door_,
                                  .subscription = *subscription_,
                                  .table = table,
                                  .slot = slot_name(),
                                  .waits = [&] {
                                    if (door_.is_stopping())
                                      throw SqlError{kConnectionFailure, "the worker is to stop"};
                                  }});
  if (!copied) return failed(copied.error());
  table_.state = SubscribedTable::State::finished;
  applier_->note_applied(*copied);
  received_ = *copied;
  return {};
}

ApplyWorker::Step ApplyWorker::await_target() {
  SubscriptionWorkers& workers = database_.shared().subscription_workers;
  workers.await_target(id(), received_);
  while (!door_.is_stopping()) {
    if (const auto target = workers.target(id())) {
      target_ = *target;
      return {};
    }
    std::optional<Subscription> newest;
    in_transaction([&](Catalog& catalog, Transaction& transaction) {
      newest = read_subscription(catalog, transaction, job_.subscription);
    });
    if (Step ended = compare(newest)) return ended;
    wait_a_moment();
  }
  return Ended{};
}

void ApplyWorker::note_copied() {
  // The connection holds the slot.
  link_.reset();
  table_.state = SubscribedTable::State::copied;
  table_.lsn = received_;
  in_transaction([&](Catalog& catalog, Transaction& transaction) {
    put_subscribed_table(catalog, transaction, table_, TableRecord::must_exist);
    remove_applied_position(catalog, transaction, id());
  });
  database_.shared().subscription_workers.note_caught_up(id());
}

/// An error leaves the slot to the next start of the subscription's worker.
void ApplyWorker::drop_slot_of_copy() {
  try {
    auto link = value_of(door_.connect(target_of(session_->state(), *subscription_)));
    drop_slot_if_exists(*link, slot_name());
  } catch (const SqlError& error) {
    Diagnostic warning = to_diagnostic(error, {});
    warning.severity = Severity::warning;
    door_.log(warning);
  }
}

}  // namespace swizzle::sql
