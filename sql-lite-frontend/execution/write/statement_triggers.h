#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/write/foreign_keys.h"
#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// AFTER triggers to fire for a statement and its rows. Shared with the queue if the statement runs
/// for a referential action.
class AfterTriggers final : public EventActor {
 public:
  explicit AfterTriggers(const WriteStatement& write);

  /// Fires a row trigger; the event is its number among the statement's triggers.
  void act_on(Execution& execution, std::int64_t event, std::span<const Value> values) override;
  /// Fires the statement-level triggers.
  void act_last(Execution& execution) override { fire_statement(execution, last_event_); }
  void fire_statement(Execution& execution, TriggerEvent event);
  void set_last_event(TriggerEvent event) noexcept { last_event_ = event; }
  /// Records the result of the WHEN condition of a statement-level trigger, evaluated after all
  /// rows were written.
  void set_wanted(std::size_t trigger, bool is_wanted) { known_[trigger].is_wanted = is_wanted; }
  /// Returns the changed rows for transition tables; null if no trigger names one.
  std::shared_ptr<TransitionRows>& changed(TriggerEvent event) {
    return changed_[static_cast<std::size_t>(event)];
  }

 private:
  struct Known {
    const Trigger* trigger;
    TriggerEvent event;
    bool is_wanted = true;
  };
  TablePtr table_;  ///< keeps the triggers
  std::vector<Known> known_;
  void fire_one(Execution& execution, const Known& known, FiredRows rows);

  TriggerEvent last_event_ = TriggerEvent::insert;
  std::array<std::shared_ptr<TransitionRows>, 3> changed_;  ///< by event
};

/// The triggers of one run of a statement that writes.
class StatementTriggers {
 public:
  /// Returns null if the statement has no triggers.
  static std::unique_ptr<StatementTriggers> of(const WriteStatement& write);
  explicit StatementTriggers(const WriteStatement& write);

  /// True if functions run before each row is written, and so see the rows written before it.
  [[nodiscard]] bool runs_between_rows() const noexcept { return runs_between_rows_; }

  /// Clears the previous run, and fires BEFORE … FOR EACH STATEMENT triggers.
  void begin(Execution& execution);
  /// Fires BEFORE … FOR EACH ROW triggers; `new_row` becomes their result, and is empty for DELETE.
  /// False: the row must be skipped.
  bool before_row(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
                  std::vector<Value>& new_row);
  /// Fires INSTEAD OF triggers in the same way.
  bool instead_of_row(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
                      std::vector<Value>& new_row);
  /// Records a written row, for which AFTER … FOR EACH ROW triggers fire later.
  void note(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
            std::span<const Value> new_row);
  /// Called after all rows are written. Returns true if triggers remain to be fired.
  [[nodiscard]] bool end() const noexcept { return fires_last_ || !events_.empty(); }

  void begin_checks(ReferenceQueue& queue);
  void finish(Execution& execution);
  void finish_later(Execution& execution, ReferenceQueue& queue);
  /// Clears the state of a failed run.
  void forget() noexcept;

 private:
  bool fire_for_row(Execution& execution, TriggerTime time, TriggerEvent event,
                    std::span<const Value> old_row, std::vector<Value>& new_row);
  void ask_last_conditions(Execution& execution);
  [[nodiscard]] bool wants(Execution& execution, const FiredTriggers::Fired& fired,
                           std::span<const Value> old_row, std::span<const Value> new_row) const;
  [[nodiscard]] ReferenceQueue::StatementKey key_of(TriggerEvent event) const noexcept;
  void keep_for_tables(Execution& execution, TriggerEvent event, const FiredRows& rows);

  const WriteStatement& write_;
  /// Events that the statement may cause, in the order in which its BEFORE triggers fire.
  std::vector<TriggerEvent> kinds_;
  bool runs_between_rows_ = false;
  bool notes_rows_ = false;
  bool fires_last_ = false;
  /// Rows that transition tables show, by event.
  struct Shown {
    bool old_rows = false;
    bool new_rows = false;
  };
  std::array<Shown, 3> shown_{};
  std::shared_ptr<AfterTriggers> after_;
  RowEvents events_;
};

}  // namespace swizzle::sql
