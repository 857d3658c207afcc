#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/session/replication/command.h"
#include "sql-lite-frontend/session/replication/logged_names.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {

/// Turns changes in the log into pgoutput's messages for the subscribers of certain publications.
/// It belongs to one session, whose settings determine how values are written.
class PublishedChanges {
 public:
  PublishedChanges(Session::State& session, OutputOptions options);
  PublishedChanges(const PublishedChanges&) = delete;
  PublishedChanges& operator=(const PublishedChanges&) = delete;
  ~PublishedChanges();

  enum class Place : std::uint8_t {
    in_transaction,
    alone,         ///< before BEGIN and after COMMIT as well
    behind_begin,  ///< only if other changes of the transaction are told
    nowhere,       ///< the whole transaction is not told
  };
  /// Appends the messages for the change. There are none if the change belongs to another database,
  /// or to no table of the publications. If the table's description was not sent yet, it comes
  /// before the change. Throws SqlError.
  Place tell(Lsn lsn, Bytes body, std::vector<std::string>& messages);

  /// For each relation the last description that was sent, and the shape that it is of.
  struct Told {
    std::uint32_t shape = 0;
    std::string description;
  };
  using ToldTables = std::map<Oid, Told>;
  /// While it lives, descriptions are of a transaction that is sent in parts: its subscriber reads
  /// them when it ends.
  class PartScope {
   public:
    PartScope(PublishedChanges& changes, ToldTables& told) : changes_(changes) {
      changes.told_now_ = &told;
    }
    PartScope(const PartScope&) = delete;
    PartScope& operator=(const PartScope&) = delete;
    ~PartScope() { changes_.told_now_ = &changes_.told_; }

   private:
    PublishedChanges& changes_;
  };
  /// The subscriber reads these descriptions now: where it had another, it is sent once more.
  void add_told(const ToldTables& told);

 private:
  /// A row filter, bound over the columns of its table.
  struct Filter {
    ExprPtr condition;
    Slot first = 0;
  };
  /// A shape as a subscriber sees it.
  struct Subscribed {
    TableShape shape;  ///< as that the changes are sent: that of an ancestor of the table
    RowLayout layout;  ///< of logged rows
    /// Of an ancestor: the place of each of its columns in a logged row.
    std::vector<std::uint32_t> from;
    std::vector<Value> logged;
    bool is_of_ancestor = false;
    std::uint8_t events = 0;
    std::vector<std::uint32_t> places;
    std::unique_ptr<LoggedNames> names;
    std::vector<Value> before;
    std::vector<Value> after;
    /// By kind of event; if empty, all rows are sent.
    std::map<std::uint8_t, std::vector<Filter>> filters;
    std::unique_ptr<Scratch> scratch;
    std::size_t slots = 0;
  };

  Subscribed& subscribed(std::uint32_t number);
  void note_types(const TableShape& shape) const;
  static void choose_ancestor(Subscribed& table);
  static void read_row(Subscribed& table, Bytes bytes, std::vector<Value>& into);
  void choose_columns(Subscribed& table) const;
  void bind_filters(Subscribed& table);
  bool passes(Subscribed& table, std::uint8_t event, std::span<const Value> row);
  void tell_table(Subscribed& table, std::uint32_t number, std::vector<std::string>& messages);
  void tell_row(const PublishedChange& change, std::vector<std::string>& messages);
  void tell_update(Subscribed& table, const PublishedChange& change,
                   std::vector<std::string>& messages);
  void tell_truncate(const PublishedChange& change, std::vector<std::string>& messages);
  void require_publications(const TableShape& shape);

  Session::State& session_;
  const std::vector<std::string> publications_;
  const bool tells_messages_;
  const bool only_own_;
  const bool is_binary_;
  const Oid database_;
  std::unique_ptr<Scratch> writer_;  ///< for writing values
  bool are_known_ = false;
  std::map<std::uint32_t, std::unique_ptr<Subscribed>> tables_;
  ToldTables told_;
  ToldTables* told_now_ = &told_;
};

}  // namespace swizzle::sql
