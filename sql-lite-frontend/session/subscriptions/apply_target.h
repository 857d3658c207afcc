#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/change_messages.h"

namespace swizzle::sql {

/// A statement of the session, prepared, and the columns of the published row that are its
/// parameters: first those of the new row, then those of the old one.
struct ApplyStatement {
  std::string name;
  std::string text;
  std::vector<std::uint32_t> types;
  std::vector<std::size_t> of_new;
  std::vector<std::size_t> of_old;
  bool has_condition = false;
};

/// The local table that gets a published table's changes, and the statements that apply them.
class ApplyTarget {
 public:
  /// Throws 55000 if the table is missing, or columns of it are.
  ApplyTarget(Session::State& session, PublishedRelation published);

  [[nodiscard]] const PublishedRelation& published() const noexcept { return published_; }
  [[nodiscard]] const TablePtr& table() const noexcept { return table_; }
  /// True if the table has not been altered or dropped since.
  [[nodiscard]] bool is_current(const Session::State& session) const;
  /// "public.t", the local table.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  ApplyStatement insert() const;
  /// Columns by which a row is found: its key, or all.
  struct Search {
    std::vector<std::size_t> columns;
    bool is_key = false;
  };
  /// Throws 55000 if the publisher sends too little to find rows of this table by.
  [[nodiscard]] const Search& search() const;
  /// `row` is the new one. Columns that are not sent stay as they are; those of the key as well
  /// unless the old row is sent.
  enum class KeyChange : std::uint8_t { none, possible };
  ApplyStatement update(const PublishedRow& row, KeyChange key) const;
  /// True if it has a column GENERATED ALWAYS AS IDENTITY, which no UPDATE sets: update() finds the
  /// row only if it has the new value already.
  [[nodiscard]] bool has_fixed_columns() const noexcept { return !fixed_.empty(); }
  /// Throws 0A000 if the values of such columns differ.
  void require_same_fixed(const PublishedRow& old_row, const PublishedRow& row) const;
  [[noreturn]] void refuse_fixed() const;
  /// Finds the row by its key.
  ApplyStatement find() const;
  ApplyStatement remove() const;
  // For a search by all columns, which several rows may match: by a cursor on the first.
  ApplyStatement declare_cursor(const PublishedRow& old_row) const;
  ApplyStatement update_at_cursor(const PublishedRow& row) const;
  ApplyStatement remove_at_cursor() const;
  static constexpr std::string_view kCursor = "swizzle_apply";

  [[nodiscard]] TypeId type_of(std::size_t published) const { return column(published).type; }
  /// "(1, abc)" of the columns, for messages. Values are to be text.
  [[nodiscard]] std::string shown(const PublishedRow& row,
                                  std::span<const std::size_t> columns) const;
  /// "(id)=(1)" or "(1, abc)".
  [[nodiscard]] std::string shown_search(const PublishedRow& row) const;

 private:
  void map_columns();
  void choose_search();
  [[nodiscard]] bool is_of_key(std::size_t published) const;
  [[nodiscard]] std::vector<std::size_t> sent_columns(const PublishedRow& row, KeyChange key) const;
  [[nodiscard]] const Column& column(std::size_t published) const;
  [[nodiscard]] std::string name_of_rows() const;
  [[nodiscard]] std::string quoted(std::size_t published) const;
  void add_parameter(ApplyStatement& statement, std::size_t published) const;
  /// "SET a = $1, …".
  void set_columns(ApplyStatement& statement, const std::vector<std::size_t>& columns) const;
  void add_condition(ApplyStatement& statement, std::size_t published) const;
  void add_key_condition(ApplyStatement& statement) const;

  PublishedRelation published_;
  TablePtr table_;
  std::string name_;
  std::string quoted_name_;
  std::vector<std::size_t> locals_;  ///< by published column: the local column
  std::vector<std::size_t> fixed_;   ///< published columns: GENERATED ALWAYS AS IDENTITY here
  std::optional<Search> search_;
};

}  // namespace swizzle::sql
