#include "sql-lite-frontend/triggers/statement_triggers.h"

#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "sql-lite-frontend/execute/basic_operators.h"
#include "sql-lite-frontend/execute/constraint_check.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kTriggeredChange{"27000"};
constexpr unsigned kEventBits = 8;

ReferenceQueue::StatementKey key_of_event(const Table& table, TriggerEvent event) {
  return ReferenceQueue::StatementKey{table.relation.oid} << kEventBits |
         static_cast<std::uint8_t>(event);
}

}  // namespace

AfterTriggers::AfterTriggers(const WriteStatement& write) : table_(write.table) {
  for (const WriteStatement::Fired& fired : write.triggers) {
    known_.push_back({fired.trigger, fired.event});
  }
}

void AfterTriggers::act_on(Execution& execution, std::int64_t event,
                           std::span<const Value> values) {
  const Known& known = known_[static_cast<std::size_t>(event)];
  const std::size_t columns = table_->relation.columns.size();
  FiredRows rows;
  if (known.event != TriggerEvent::insert) rows.old_row = values.first(columns);
  if (known.event != TriggerEvent::remove) rows.new_row = values.last(columns);
  RowScope scope{execution};
  fire(execution, *known.trigger, table_, known.event, rows);
  scope.rewind();
}

void AfterTriggers::fire_statement(Execution& execution, TriggerEvent event) {
  for (const Known& known : known_) {
    const Trigger& trigger = *known.trigger;
    const bool is_it =
        known.event == event && trigger.time == TriggerTime::after && !trigger.for_each_row;
    if (!is_it || !may_fire(execution.session, trigger)) continue;
    RowScope scope{execution};
    fire(execution, trigger, table_, event, {});
    scope.rewind();
  }
}

std::unique_ptr<StatementTriggers> StatementTriggers::of(const WriteStatement& write) {
  return write.triggers.empty() ? nullptr : std::make_unique<StatementTriggers>(write);
}

StatementTriggers::StatementTriggers(const WriteStatement& write) : write_(write) {
  for (const WriteStatement::Fired& fired : write.triggers) {
    const bool for_rows = fired.trigger->for_each_row;
    const bool before = fired.trigger->time == TriggerTime::before;
    runs_between_rows_ |= for_rows && before;
    notes_rows_ |= for_rows && !before;
    fires_last_ |= !for_rows && !before;
  }
}

std::span<const TriggerEvent> StatementTriggers::events() const noexcept {
  static constexpr std::array kBoth{TriggerEvent::insert, TriggerEvent::update};
  static constexpr std::array kDelete{TriggerEvent::remove};
  const std::span both{kBoth};
  if (write_.kind == WriteKind::delete_) return kDelete;
  if (write_.kind == WriteKind::update) return both.last(1);
  return write_.conflict.kind == ConflictAction::Kind::update ? both : both.first(1);
}

ReferenceQueue::StatementKey StatementTriggers::key_of(TriggerEvent event) const noexcept {
  return key_of_event(*write_.table, event);
}

/// The condition is asked with the rows that the trigger would get.
bool StatementTriggers::wants(Execution& execution, const WriteStatement::Fired& fired,
                              std::span<const Value> old_row,
                              std::span<const Value> new_row) const {
  if (!may_fire(execution.session, *fired.trigger)) return false;
  if (!fired.when) return true;
  std::ranges::copy(old_row, execution.slots.begin() + write_.when_old_slot);
  std::ranges::copy(new_row, execution.slots.begin() + write_.when_new_slot);
  return holds(*fired.when, execution);
}

void StatementTriggers::begin(Execution& execution) {
  forget();
  if (notes_rows_ || fires_last_) {
    if (!after_ || after_.use_count() > 1) after_ = std::make_shared<AfterTriggers>(write_);
  }
  for (const TriggerEvent event : events()) {
    if (!reference_queue(execution.session).begins(key_of(event))) continue;
    for (const WriteStatement::Fired& fired : write_.triggers) {
      const Trigger& trigger = *fired.trigger;
      const bool is_it =
          fired.event == event && trigger.time == TriggerTime::before && !trigger.for_each_row;
      if (!is_it || !wants(execution, fired, {}, {})) continue;
      RowScope scope{execution};
      fire(execution, trigger, write_.table, event, {});
      scope.rewind();
    }
  }
}

bool StatementTriggers::before_row(Execution& execution, TriggerEvent event,
                                   std::span<const Value> old_row, std::vector<Value>& new_row) {
  const bool removes = event == TriggerEvent::remove;
  if (!removes) {
    // They are computed from what the triggers leave.
    for (const Assignment& generated : write_.generated) new_row[generated.position] = {};
  }
  for (const WriteStatement::Fired& fired : write_.triggers) {
    const Trigger& trigger = *fired.trigger;
    const bool is_it =
        fired.event == event && trigger.time == TriggerTime::before && trigger.for_each_row;
    if (!is_it || !wants(execution, fired, old_row, new_row)) continue;
    const auto made = fire(execution, trigger, write_.table, event, {old_row, new_row});
    if (!made) return false;
    if (removes) continue;
    INVARIANT(made->size() == new_row.size());
    if (made->data() != new_row.data()) std::ranges::copy(*made, new_row.begin());
  }
  return true;
}

void StatementTriggers::require_same_row(Execution& execution, const Transaction::Mark& mark,
                                         Bytes key, std::span<const Value> row) const {
  const Transaction::Mark now = execution.transaction->mark();
  if (now.undo_position == mark.undo_position) return;
  ValueBuffer buffer;
  const Tree tree = *write_.table->tree;
  bool is_same =
      value_of(tree.get(*execution.transaction, key, buffer, ReadMode::for_no_key_update));
  if (is_same) {
    std::vector<Value> present(row.size());
    RowReader{write_.table->layout, buffer.bytes()}.columns(present);
    is_same = same_values(write_.table->column_types, present, row);
  }
  if (is_same) return;
  throw sql_error(kTriggeredChange,
                  "tuple to be {} was already modified by an operation triggered by the current "
                  "command",
                  write_.kind == WriteKind::delete_ ? "deleted" : "updated")
      .with_hint(
          "Consider using an AFTER trigger instead of a BEFORE trigger to propagate "
          "changes to other rows.");
}

void StatementTriggers::note(Execution& execution, TriggerEvent event,
                             std::span<const Value> old_row, std::span<const Value> new_row) {
  if (!notes_rows_) return;
  std::vector<Value> both;
  for (std::size_t i = 0; i < write_.triggers.size(); ++i) {
    const WriteStatement::Fired& fired = write_.triggers[i];
    const Trigger& trigger = *fired.trigger;
    const bool is_it =
        fired.event == event && trigger.time == TriggerTime::after && trigger.for_each_row;
    if (!is_it || !wants(execution, fired, old_row, new_row)) continue;
    if (both.empty()) {
      both.assign(old_row.begin(), old_row.end());
      both.insert(both.end(), new_row.begin(), new_row.end());
    }
    events_.add(*execution.memory, static_cast<std::int64_t>(i), both);
  }
}

void StatementTriggers::begin_checks(ReferenceQueue& queue) {
  for (const TriggerEvent event : events()) static_cast<void>(queue.begins(key_of(event)));
}

void StatementTriggers::finish(Execution& execution) {
  RowEvents::Reader reader{events_};
  while (reader.next()) after_->act_on(execution, reader.what(), reader.values());
  events_.clear();
  if (!fires_last_) return;
  // Of both of ON CONFLICT DO UPDATE, UPDATE's come first.
  const std::span<const TriggerEvent> all = events();
  for (auto event = all.rbegin(); event != all.rend(); ++event) {
    if (!reference_queue(execution.session).has_later(key_of(*event))) {
      after_->fire_statement(execution, *event);
    }
  }
}

void StatementTriggers::finish_later(Execution& execution, ReferenceQueue& queue) {
  RowEvents::Reader reader{events_};
  while (reader.next()) queue.add(*execution.memory, after_, reader.what(), reader.values());
  events_.clear();
  if (!fires_last_) return;
  const TriggerEvent event = events().front();
  after_->set_last_event(event);
  queue.add_last(after_, key_of(event));
}

void StatementTriggers::forget() noexcept {
  events_.clear();
}

}  // namespace swizzle::sql
