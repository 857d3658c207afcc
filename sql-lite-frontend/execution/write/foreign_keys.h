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

/// Foreign key checks and actions of one statement: recorded row by row, and performed after all
/// rows have been written.
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
  /// True if removed() would record anything.
  [[nodiscard]] bool looks_at_removed() const noexcept { return references_->is_referenced(); }
  void removed(Execution& execution, std::span<const Value> row) {
    references_->note_removed(*execution.memory, row, notes_);
  }

  /// Performs the actions, then the checks.
  void finish(Execution& execution);
  /// Adds them to the queue, for a statement that itself runs for a referential action.
  void finish_later(Execution& execution, ReferenceQueue& queue);

 private:
  using Note = TableReferences::Note;
  /// `perform` is called with each event's number and values.
  template <class Do>
  void for_each_note(const Do& perform);

  std::shared_ptr<TableReferences> references_;
  RowEvents notes_;
};

/// Queue of foreign key work that the statements of referential actions have recorded, in the order
/// of their writes, after the work of the statement for which they run. So a chain of references
/// can have any length without recursion, and the order is PostgreSQL's. One per session.
class ReferenceQueue {
 public:
  /// True while statements run for referential actions.
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

  /// Identifies the statement-level triggers of a table for an event: they fire once for all
  /// changes made by referential actions.
  using StatementKey = std::uint64_t;
  /// True if the statement is the first with this key among those that run for the same statement
  /// of a user, including that statement.
  bool begins(StatementKey key) { return !is_running_ || begun_.insert(key).second; }

  /// Scope in which statements are those of referential actions. Its end clears the queue.
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

  /// Scope in which statements are users' again: those of a function that a trigger calls.
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

  /// Adds an event of `actor`. Pre: `event` fits half of an int64.
  void add(WorkMemory& memory, const std::shared_ptr<EventActor>& actor, std::int64_t event,
           std::span<const Value> values);
  /// Registers `actor` for act_last(). Replaces an actor registered earlier for the same key.
  void add_last(const std::shared_ptr<EventActor>& actor, StatementKey key);
  [[nodiscard]] bool has_later(StatementKey key) const noexcept { return next_.has_last(key); }
  /// Returns the changes that the statement and its actions have made to one table since its
  /// triggers last fired, for transition tables.
  std::shared_ptr<TransitionRows>& rows_changed(StatementKey key) { return rows_[key]; }

 private:
  /// Work left by all statements of one level. Its memory is freed when the level is done.
  struct Level {
    struct Last {
      StatementKey key = 0;
      std::shared_ptr<EventActor> actor;
    };
    std::vector<std::shared_ptr<EventActor>> actors;
    /// Events: the number of the actor in `actors` combined with the actor's own event number.
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
