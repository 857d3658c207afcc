#include "sql-lite-frontend/execution/write/statement_triggers.h"

#include <algorithm>

#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/write/constraint_check.h"
#include "sql-lite-frontend/execution/write/transition_tables.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

constexpr unsigned kEventBits = 8;

ReferenceQueue::StatementKey key_of_event(const Table& table, TriggerEvent event) {
  return ReferenceQueue::StatementKey{table.relation.oid} << kEventBits |
         static_cast<std::uint8_t>(event);
}

DeferredCheck::Kind kind_of_check(TriggerEvent event) {
  if (event == TriggerEvent::insert) return DeferredCheck::Kind::after_insert;
  return event == TriggerEvent::update ? DeferredCheck::Kind::after_update
                                       : DeferredCheck::Kind::after_delete;
}

}  // namespace

AfterTriggers::AfterTriggers(const WriteStatement& write) : table_(write.table) {
  for (const FiredTriggers::Fired& fired : write.triggers.fired) {
    known_.push_back({fired.trigger, fired.event, true});
  }
}

void AfterTriggers::act_on(Execution& execution, std::int64_t event,
                           std::span<const Value> values) {
  const Known& known = known_[static_cast<std::size_t>(event)];
  const std::size_t columns = table_->relation.columns.size();
  FiredRows rows;
  if (known.event != TriggerEvent::insert) rows.old_row = values.first(columns);
  if (known.event != TriggerEvent::remove) rows.new_row = values.last(columns);
  fire_one(execution, known, rows);
}

void AfterTriggers::fire_one(Execution& execution, const Known& known, FiredRows rows) {
  const Trigger& trigger = *known.trigger;
  std::shared_ptr<TransitionRows> changed;
  if (names_transition_tables(trigger)) {
    changed = this->changed(known.event);
    rows.changed = changed.get();
    // Later changes are shown in other tables.
    execution.services.reference_queue().rows_changed(key_of_event(*table_, known.event)).reset();
  }
  RowScope scope{execution};
  execution.services.fire(execution, trigger, table_, known.event, rows);
  scope.rewind();
}

void AfterTriggers::fire_statement(Execution& execution, TriggerEvent event) {
  for (const Known& known : known_) {
    const Trigger& trigger = *known.trigger;
    const bool is_it =
        known.event == event && trigger.time == TriggerTime::after && !trigger.for_each_row;
    if (is_it && known.is_wanted && execution.services.may_fire(trigger))
      fire_one(execution, known, {});
  }
}

std::unique_ptr<StatementTriggers> StatementTriggers::of(const WriteStatement& write) {
  return write.triggers.fired.empty() ? nullptr : std::make_unique<StatementTriggers>(write);
}

StatementTriggers::StatementTriggers(const WriteStatement& write) : write_(write) {
  for (const TriggerEvent event :
       {TriggerEvent::insert, TriggerEvent::update, TriggerEvent::remove}) {
    if (write.does(event)) kinds_.push_back(event);
  }
  for (const FiredTriggers::Fired& fired : write.triggers.fired) {
    const bool for_rows = fired.trigger->for_each_row;
    const bool before = fired.trigger->time != TriggerTime::after;
    runs_between_rows_ |= for_rows && before;
    notes_rows_ |= for_rows && !before;
    fires_last_ |= !for_rows && !before;
    Shown& shown = shown_[static_cast<std::size_t>(fired.event)];
    shown.old_rows |= !fired.trigger->old_table.empty();
    shown.new_rows |= !fired.trigger->new_table.empty();
  }
}

ReferenceQueue::StatementKey StatementTriggers::key_of(TriggerEvent event) const noexcept {
  return key_of_event(*write_.table, event);
}

/// The condition is asked with the rows that the trigger would get.
bool StatementTriggers::wants(Execution& execution, const FiredTriggers::Fired& fired,
                              std::span<const Value> old_row,
                              std::span<const Value> new_row) const {
  if (!execution.services.may_fire(*fired.trigger)) return false;
  if (!fired.when) return true;
  std::ranges::copy(old_row, execution.slots.begin() + write_.triggers.old_slot);
  std::ranges::copy(new_row, execution.slots.begin() + write_.triggers.new_slot);
  return holds(*fired.when, execution);
}

void StatementTriggers::begin(Execution& execution) {
  forget();
  if (notes_rows_ || fires_last_) {
    if (!after_ || after_.use_count() > 1) after_ = std::make_shared<AfterTriggers>(write_);
  }
  ReferenceQueue& queue = execution.services.reference_queue();
  for (const TriggerEvent event : kinds_) {
    const Shown& shown = shown_[static_cast<std::size_t>(event)];
    if (!shown.old_rows && !shown.new_rows) continue;
    // The statements of actions fill the tables together.
    auto& rows = after_->changed(event);
    rows = queue.is_running() ? queue.rows_changed(key_of(event)) : nullptr;
    if (!rows) rows = std::make_shared<TransitionRows>();
    if (queue.is_running()) queue.rows_changed(key_of(event)) = rows;
  }
  for (const TriggerEvent event : kinds_) {
    if (!queue.begins(key_of(event))) continue;
    for (const FiredTriggers::Fired& fired : write_.triggers.fired) {
      const Trigger& trigger = *fired.trigger;
      const bool is_it =
          fired.event == event && trigger.time == TriggerTime::before && !trigger.for_each_row;
      if (!is_it || !wants(execution, fired, {}, {})) continue;
      RowScope scope{execution};
      execution.services.fire(execution, trigger, write_.table, event, {});
      scope.rewind();
    }
  }
}

bool StatementTriggers::before_row(Execution& execution, TriggerEvent event,
                                   std::span<const Value> old_row, std::vector<Value>& new_row) {
  if (event != TriggerEvent::remove) {
    // Generated columns are computed from the triggers' result.
    for (const Assignment& generated : write_.generated) new_row[generated.position] = {};
  }
  const bool is_fired = fire_for_row(execution, TriggerTime::before, event, old_row, new_row);
  const auto& columns = write_.table->relation.columns;
  for (std::size_t i = 0; i < new_row.size() && i < columns.size(); ++i) {
    if (columns[i].is_virtual) new_row[i] = {};
  }
  return is_fired;
}

bool StatementTriggers::instead_of_row(Execution& execution, TriggerEvent event,
                                       std::span<const Value> old_row,
                                       std::vector<Value>& new_row) {
  return fire_for_row(execution, TriggerTime::instead_of, event, old_row, new_row);
}

bool StatementTriggers::fire_for_row(Execution& execution, TriggerTime time, TriggerEvent event,
                                     std::span<const Value> old_row, std::vector<Value>& new_row) {
  const bool removes = event == TriggerEvent::remove;
  for (const FiredTriggers::Fired& fired : write_.triggers.fired) {
    const Trigger& trigger = *fired.trigger;
    const bool is_it = fired.event == event && trigger.time == time && trigger.for_each_row;
    if (!is_it || !wants(execution, fired, old_row, new_row)) continue;
    const auto made =
        execution.services.fire(execution, trigger, write_.table, event, {old_row, new_row});
    if (!made) return false;
    if (removes) continue;
    STATEMENT_INVARIANT(made->size() == new_row.size());
    if (made->data() != new_row.data()) std::ranges::copy(*made, new_row.begin());
  }
  return true;
}

void StatementTriggers::note(Execution& execution, TriggerEvent event,
                             std::span<const Value> old_row, std::span<const Value> new_row) {
  keep_for_tables(execution, event, {old_row, new_row});
  if (!notes_rows_) return;
  std::vector<Value> both;
  for (std::size_t i = 0; i < write_.triggers.fired.size(); ++i) {
    const FiredTriggers::Fired& fired = write_.triggers.fired[i];
    const Trigger& trigger = *fired.trigger;
    const bool is_it =
        fired.event == event && trigger.time == TriggerTime::after && trigger.for_each_row;
    if (!is_it || !wants(execution, fired, old_row, new_row)) continue;
    if (both.empty()) {
      both.assign(old_row.begin(), old_row.end());
      both.insert(both.end(), new_row.begin(), new_row.end());
    }
    if (execution.services.is_deferred(trigger)) {
      execution.services.defer_check(
          {kind_of_check(event), trigger.constraint, write_.table->relation.oid, both});
      continue;
    }
    events_.add(*execution.memory, static_cast<std::int64_t>(i), both);
  }
}

void StatementTriggers::keep_for_tables(Execution& execution, TriggerEvent event,
                                        const FiredRows& rows) {
  const Shown& shown = shown_[static_cast<std::size_t>(event)];
  if (!shown.old_rows && !shown.new_rows) return;
  TransitionRows& changed = *after_->changed(event);
  if (shown.old_rows) changed.old_rows.add(*execution.memory, 0, rows.old_row);
  if (shown.new_rows) changed.new_rows.add(*execution.memory, 0, rows.new_row);
}

void StatementTriggers::begin_checks(ReferenceQueue& queue) {
  for (const TriggerEvent event : kinds_) {
    static_cast<void>(queue.begins(key_of(event)));
    if (after_ && after_->changed(event))
      queue.rows_changed(key_of(event)) = after_->changed(event);
  }
}

/// Evaluates WHEN of the AFTER … FOR EACH STATEMENT triggers while the statement is still current.
void StatementTriggers::ask_last_conditions(Execution& execution) {
  for (std::size_t i = 0; i < write_.triggers.fired.size(); ++i) {
    const FiredTriggers::Fired& fired = write_.triggers.fired[i];
    const bool is_last = fired.trigger->time == TriggerTime::after && !fired.trigger->for_each_row;
    if (is_last && fired.when) after_->set_wanted(i, wants(execution, fired, {}, {}));
  }
}

void StatementTriggers::finish(Execution& execution) {
  if (fires_last_) ask_last_conditions(execution);
  RowEvents::Reader reader{events_};
  while (reader.next()) after_->act_on(execution, reader.what(), reader.values());
  events_.clear();
  if (!fires_last_) return;
  // Of several events, they fire in the order DELETE, UPDATE, INSERT.
  for (auto event = kinds_.rbegin(); event != kinds_.rend(); ++event) {
    if (!execution.services.reference_queue().has_later(key_of(*event))) {
      after_->fire_statement(execution, *event);
    }
  }
}

void StatementTriggers::finish_later(Execution& execution, ReferenceQueue& queue) {
  if (fires_last_) ask_last_conditions(execution);
  RowEvents::Reader reader{events_};
  while (reader.next()) queue.add(*execution.memory, after_, reader.what(), reader.values());
  events_.clear();
  if (!fires_last_) return;
  const TriggerEvent event = kinds_.front();
  after_->set_last_event(event);
  queue.add_last(after_, key_of(event));
}

void StatementTriggers::forget() noexcept {
  events_.clear();
}

}  // namespace swizzle::sql
