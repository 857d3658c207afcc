#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/write/foreign_key.h"
#include "sql-lite-frontend/execution/write/key_probe.h"
#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// Foreign keys of one table, in both directions, and their checks and actions when its rows
/// change. Rows are looked up in indexes; actions, and keys whose values must be cast, run internal
/// SQL statements in the same transaction, as in PostgreSQL.
class TableReferences final : public EventActor {
 public:
  TableReferences(NameSource& names, const TablePtr& table);

  struct Note {
    enum class Kind : std::uint8_t { reference, removed, changed } kind;
    std::size_t key;  ///< of those that refer to others, or that others refer with
    std::span<const Value> old_values;
    std::span<const Value> new_values;

    /// Decodes an event; `values` are the old ones, then the new ones.
    static Note of_event(std::int64_t what, std::span<const Value> values) noexcept;
    static std::int64_t event(Kind kind, std::size_t key) noexcept;
    [[nodiscard]] bool asks_for_action() const noexcept { return kind != Kind::reference; }
  };
  // Record the work to do after a row was written.
  void note_inserted(WorkMemory& memory, std::span<const Value> row, RowEvents& notes) const;
  void note_updated(WorkMemory& memory, std::span<const Value> old_row,
                    std::span<const Value> new_row, RowEvents& notes) const;
  /// True if a foreign key refers to this table.
  [[nodiscard]] bool is_referenced() const noexcept { return !incoming_.empty(); }
  void note_removed(WorkMemory& memory, std::span<const Value> row, RowEvents& notes) const;

  /// Performs recorded work; deferred checks are added to the session's.
  void perform(Execution& execution, const Note& note);
  void act_on(Execution& execution, std::int64_t event, std::span<const Value> values) override {
    perform(execution, Note::of_event(event, values));
  }

 private:
  /// Foreign key of this table.
  struct Outgoing {
    ForeignKey key;
    std::unique_ptr<KeyProbe> referenced;
  };
  /// Foreign key of another table to this one.
  struct Incoming {
    ForeignKey key;
    std::unique_ptr<KeyProbe> referenced;  ///< for a new row that took the old key's place
    std::unique_ptr<KeyProbe> referencing;
    std::string delete_sql;
    std::string update_sql;
    std::string clear_on_delete_sql;  ///< SET NULL or SET DEFAULT
    std::string clear_on_update_sql;
  };
  void check_reference(Execution& execution, const Note& note);
  void act(Execution& execution, const Note& note);
  void check_unreferenced(Execution& execution, const Note& note);
  void require_gone(Execution& execution, const Note& note);
  void require_unreferenced(Execution& execution, const Note& note, ReferentialAction action);

  NameSource& names_;
  TablePtr table_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

/// Checks that the referenced row exists, unless the referencing row has been deleted meanwhile.
void check_deferred_reference(StatementServices& services, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check);
/// Checks a removed key: it must exist in another row by now, or have no references.
void check_deferred_removal(StatementServices& services, NameSource& names, const TablePtr& table,
                            const DeferredCheck& check);

}  // namespace swizzle::sql
