#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/write/table_references.h"

namespace swizzle::sql {

struct TransitionRows;

class ReferenceQueue;

/// Work of one statement for its table's foreign keys: noted row by row, and done when all rows are
/// written.
class ForeignKeys {
 public:
  ForeignKeys(NameSource& names, const TablePtr& table)
      : references_(std::make_shared<TableReferences>(names, table)) {}

  void begin() noexcept { notes_.clear(); }
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  void inserted(Execution& execution, std::span<const Value> row) {
    references_->note_inserted(*execution.memory, row, notes_);
  }
  void updated(Execution& execution, std::span<const Value> old_row,
               std::span<const Value> new_row) {
    references_->note_updated(*execution.memory, old_row, new_row, notes_);
  }
  /// True if removed() would note anything.
  [[nodiscard]] bool looks_at_removed() const noexcept { return references_->is_referenced(); }
  void removed(Execution& execution, std::span<const Value> row) {
    references_->note_removed(*execution.memory, row, notes_);
  }

  /// Actions first, then the checks.
  void finish(Execution& execution);
  /// Leaves them to the caller, which runs the statement because of another one's rows.
  void finish_later(Execution& execution, ReferenceQueue& queue);

 private:
  using Note = TableReferences::Note;
  /// `perform` is called with the event's number and values.
  template <class Do>
  void for_each_note(const Do& perform);

  std::shared_ptr<TableReferences> references_;
  RowEvents notes_;
};

/// Work for foreign keys that the statements of actions leave, in the order in which they wrote,
/// behind the work of the statement for which they run. So a chain of rows may be of any length:
/// nothing recurses, and the order is PostgreSQL's. One per session.
class ReferenceQueue {
 public:
  /// True while statements run for referential actions.
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

  /// Key of a table's statement-level triggers for an event: they fire once for all that actions
  /// do.
  using StatementKey = std::uint64_t;
  /// True if the statement is the first of that key among those that run for the same statement of
  /// a user, itself included.
  bool begins(StatementKey key) { return !is_running_ || begun_.insert(key).second; }

  /// While an object of this class exists, statements are those of actions; their notes are
  /// forgotten with it.
  class Run {
   public:
    explicit Run(ReferenceQueue& queue) noexcept : queue_(queue) { queue_.is_running_ = true; }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run();
    void finish(Execution& execution);

   private:
    ReferenceQueue& queue_;
  };

  /// While it lives, statements are users' again: those of a function that a trigger calls.
  class Aside {
   public:
    explicit Aside(ReferenceQueue& queue);
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside();

   private:
    ReferenceQueue& queue_;
    std::unique_ptr<ReferenceQueue> around_;
  };

  /// The event is one that fits half of the number.
  void add(WorkMemory& memory, const std::shared_ptr<EventActor>& actor, std::int64_t event,
           std::span<const Value> values);
  /// `actor` acts last, unless another one comes for the same key before.
  void add_last(const std::shared_ptr<EventActor>& actor, StatementKey key);
  [[nodiscard]] bool has_later(StatementKey key) const noexcept { return next_.has_last(key); }
  /// Changes of one table by the statement and its actions since its triggers were fired last, for
  /// transition tables.
  std::shared_ptr<TransitionRows>& rows_changed(StatementKey key) { return rows_[key]; }

 private:
  /// Work that all statements of the previous level have left: its memory is released when it is
  /// done.
  struct Level {
    struct Last {
      StatementKey key = 0;
      std::shared_ptr<EventActor> actor;
    };
    std::vector<std::shared_ptr<EventActor>> actors;
    /// Work to do: the number of its actor in `actors`, and the actor's own number for it.
    RowEvents events;
    std::vector<Last> last;

    [[nodiscard]] bool empty() const noexcept { return events.empty() && last.empty(); }
    [[nodiscard]] bool has_last(StatementKey key) const noexcept {
      return std::ranges::find(last, key, &Last::key) != last.end();
    }
    void clear() noexcept {
      actors.clear();
      events.clear();
      last.clear();
    }
  };
  bool is_running_ = false;
  Level next_;
  std::set<StatementKey> begun_;
  std::map<StatementKey, std::shared_ptr<TransitionRows>> rows_;
};

}  // namespace swizzle::sql
