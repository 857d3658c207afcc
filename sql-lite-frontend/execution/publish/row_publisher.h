#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// Logs a statement's row changes for logical replication, if the table is published. Costs one
/// test of a flag per row if wal_level is not logical or there are no publications.
class RowPublisher {
 public:
  explicit RowPublisher(TablePtr table) noexcept : table_(std::move(table)) {}

  /// Called at the beginning of the statement; `events` are the kinds of changes that it may make
  /// (published::k…). Throws 55000 or 42P10 if the table lacks a suitable replica identity.
  void begin(Execution& execution, std::uint8_t events);
  /// True if removed() needs all columns of a row.
  [[nodiscard]] bool wants_rows() const noexcept { return watches_; }

  // After the change has been made.
  void inserted(Execution& execution, std::span<const Value> row) {
    if (watches_) [[unlikely]]
      note_inserted(execution, row);
  }
  void updated(Execution& execution, std::span<const Value> old_row,
               std::span<const Value> new_row) {
    if (watches_) [[unlikely]]
      note_updated(execution, old_row, new_row);
  }
  void removed(Execution& execution, std::span<const Value> old_row) {
    if (watches_) [[unlikely]]
      note_removed(execution, old_row);
  }

 private:
  /// Cached publication state of the table.
  struct Published {
    std::uint32_t number = 0;
    TableShape shape;
    RowLayout layout;
    std::uint8_t events = 0;
    std::vector<Value> row;  ///< for one that is written
  };

  void note_inserted(Execution& execution, std::span<const Value> row);
  void note_updated(Execution& execution, std::span<const Value> old_row,
                    std::span<const Value> new_row);
  void note_removed(Execution& execution, std::span<const Value> old_row);
  /// Returns the publication state, refreshed if any definition has changed; null if the table, or
  /// this kind of change, is not published.
  Published* published(Execution& execution, std::uint8_t event);
  void look(Execution& execution);
  enum class Columns : std::uint8_t { all, identity };
  void encode(Published& as, std::span<const Value> row, Columns which, std::string& into) const;
  void note(Execution& execution, PublishedChange& change);
  /// Encodes the old row's part that the change contains into `before_`.
  OldRow encode_old(Published& as, std::span<const Value> row);

  TablePtr table_;
  bool watches_ = false;
  bool logs_ = false;
  bool has_looked_ = false;
  CatalogView::Stamp looked_at_;
  std::unique_ptr<Published> published_;
  std::string before_;
  std::string after_;
  std::string key_after_;
};

/// Logs that TRUNCATE has emptied the tables.
void publish_truncate(StatementServices& services, std::span<const TablePtr> tables, bool cascades,
                      bool restarts_sequences);

}  // namespace swizzle::sql
