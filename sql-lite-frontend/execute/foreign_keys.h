#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/execute/execution.h"
#include "sql-lite-frontend/execute/foreign_key.h"
#include "sql-lite-frontend/session/internal.h"

namespace swizzle::sql {

/// The foreign keys of one table, both ways, for one statement: written rows are noted, and looked
/// at when the statement has written them all. Actions and checks are statements of our own, run
/// inside the transaction, as PostgreSQL's are.
class ForeignKeys {
 public:
  ForeignKeys(NameSource& names, const TablePtr& table);

  void begin();
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  void inserted(std::span<const Value> row);
  void updated(std::span<const Value> old_row, std::span<const Value> new_row);
  void removed(std::span<const Value> row);
  /// Runs actions and checks; what is deferred goes to the session.
  void finish(Execution& execution);

 private:
  /// This table refers to another.
  struct Outgoing {
    ForeignKey key;
    std::string lock_referenced_sql;
  };
  /// Another table refers to this one.
  struct Incoming {
    ForeignKey key;
    std::string still_there_sql;  ///< a new row took the old key's place
    std::string any_sql;
    std::string delete_sql;
    std::string update_sql;
    std::string clear_on_delete_sql;  ///< SET NULL or SET DEFAULT, whichever the key says
    std::string clear_on_update_sql;
  };
  struct Note {
    enum class Kind : std::uint8_t { reference, removed, changed } kind;
    std::size_t key;  ///< of outgoing_ or incoming_
    std::vector<Value> old_values;
    std::vector<Value> new_values;
  };
  void check_reference(Execution& execution, const Note& note);
  void act(Execution& execution, const Note& note);
  void check_unreferenced(Execution& execution, const Note& note);
  void require_gone(Execution& execution, const Note& note);
  void require_unreferenced(Execution& execution, const Note& note);

  TablePtr table_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<Note> notes_;
  Arena arena_;
};

/// A row that refers may be gone again by now; else the row that it refers to has to be there.
void check_deferred_reference(Session::State& session, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check);
/// A key that was given up may have a new row, or else nobody may refer to it.
void check_deferred_removal(Session::State& session, NameSource& names, const TablePtr& table,
                            const DeferredCheck& check);

}  // namespace swizzle::sql
