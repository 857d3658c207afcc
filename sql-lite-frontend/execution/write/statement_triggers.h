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

/// Triggers to fire after a statement, for its rows and for itself. Shared with the queue in which
/// it waits, when an action runs the statement.
class AfterTriggers final : public EventActor {
 public:
  explicit AfterTriggers(const WriteStatement& write);

  /// The event is the trigger's place among the statement's.
  void act_on(Execution& execution, std::int64_t event, std::span<const Value> values) override;
  /// Fires those of the statement.
  void act_last(Execution& execution) override { fire_statement(execution, last_event_); }
  void fire_statement(Execution& execution, TriggerEvent event);
  void set_last_event(TriggerEvent event) noexcept { last_event_ = event; }
  /// Whether the condition of a statement's trigger held when the statement had written everything.
  void set_wanted(std::size_t trigger, bool is_wanted) { known_[trigger].is_wanted = is_wanted; }
  /// Rows changed by the statement, for transition tables; null if no trigger names one.
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
  /// Null where the statement fires none.
  static std::unique_ptr<StatementTriggers> of(const WriteStatement& write);
  explicit StatementTriggers(const WriteStatement& write);

  /// Whether functions run before each row is written: they see the rows before it.
  [[nodiscard]] bool runs_between_rows() const noexcept { return runs_between_rows_; }

  /// Forgets the run before, and fires those BEFORE … FOR EACH STATEMENT.
  void begin(Execution& execution);
  /// Fires those BEFORE … FOR EACH ROW; `new_row` becomes their result, and is empty for DELETE.
  /// False: the row is to be left as it is.
  bool before_row(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
                  std::vector<Value>& new_row);
  /// Fires those INSTEAD OF, in the same way.
  bool instead_of_row(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
                      std::vector<Value>& new_row);
  /// A row was written: those AFTER … FOR EACH ROW fire later.
  void note(Execution& execution, TriggerEvent event, std::span<const Value> old_row,
            std::span<const Value> new_row);
  /// Everything is written. Whether anything is to fire.
  [[nodiscard]] bool end() const noexcept { return fires_last_ || !events_.empty(); }

  void begin_checks(ReferenceQueue& queue);
  void finish(Execution& execution);
  void finish_later(Execution& execution, ReferenceQueue& queue);
  /// Forgets the rest of a run that failed.
  void forget() noexcept;

 private:
  bool fire_for_row(Execution& execution, TriggerTime time, TriggerEvent event,
                    std::span<const Value> old_row, std::vector<Value>& new_row);
  void ask_last_conditions(Execution& execution);
  [[nodiscard]] bool wants(Execution& execution, const WriteStatement::Fired& fired,
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
