#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sql-lite-frontend/execute/table_references.h"

namespace swizzle::sql {

class ReferenceQueue;

/// What one statement has to do for its table's foreign keys: noted row by row, and done when it
/// has written them all.
class ForeignKeys {
 public:
  ForeignKeys(NameSource& names, const TablePtr& table)
      : references_(std::make_shared<TableReferences>(names, table)) {}

  void begin() {
    notes_.clear();
    arena_.reset();
  }
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  void inserted(std::span<const Value> row) { references_->note_inserted(row, arena_, notes_); }
  void updated(std::span<const Value> old_row, std::span<const Value> new_row) {
    references_->note_updated(old_row, new_row, arena_, notes_);
  }
  void removed(std::span<const Value> row) { references_->note_removed(row, arena_, notes_); }

  /// Actions first, then the checks.
  void finish(Execution& execution);
  /// Leaves them to who runs the statement because of another one's rows.
  void finish_later(ReferenceQueue& queue);

 private:
  using Note = TableReferences::Note;
  template <class Do>
  void for_each_note(const Do& perform) const;

  std::shared_ptr<TableReferences> references_;
  std::vector<Note> notes_;
  Arena arena_;
};

/// What the statements of actions have to do for their foreign keys, in the order in which they
/// wrote, behind what the statement has to do that they are run for. So a chain of rows may be of
/// any length: nothing recurses, and the order is PostgreSQL's. One per session.
class ReferenceQueue {
 public:
  /// Whether a statement that ends now is one that an action runs.
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

  /// While it lives, statements are those of actions; what they leave is forgotten with it.
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

  void add(const std::shared_ptr<TableReferences>& references, const TableReferences::Note& note);

 private:
  struct Item {
    std::shared_ptr<TableReferences> references;
    TableReferences::Note note;
  };
  /// What all of the level before has left: its memory goes when it is done.
  struct Level {
    std::vector<Item> items;
    Arena arena;

    void clear() noexcept {
      items.clear();
      arena.reset();
    }
  };
  bool is_running_ = false;
  Level next_;
};

}  // namespace swizzle::sql
