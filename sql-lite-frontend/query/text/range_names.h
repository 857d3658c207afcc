#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bind/binding_notes.h"

namespace swizzle::sql {

/// Throws SqlError 0A000: the text of a query cannot show this.
[[noreturn]] void throw_unprintable(std::string_view what);

/// A relation, function, subquery or named join in FROM under the name that a printed query gives
/// it.
struct RangeName {
  struct Column {
    std::string name;   ///< in the text
    std::string bound;  ///< as the binder knew it
    Slot slot = 0;
  };
  const FromNode* node = nullptr;
  const ast::Node* syntax = nullptr;
  std::string name;
  std::vector<Column> columns;
  bool shows_name = false;     ///< the alias is written
  bool shows_columns = false;  ///< and names for its columns
  bool is_join = false;
  bool is_lockable = false;  ///< a relation or a subquery
};

/// Names of one query in a text. As in PostgreSQL, no relation has the name of another one in the
/// same query or in a query around it: "t" becomes "t_1".
class RangeNames {
 public:
  /// `around`: the names of the enclosing queries, outermost first.
  RangeNames(const BindingNotes& notes, const std::vector<const RangeNames*>& around)
      : notes_(notes), around_(around) {}

  /// Keeps a name from being given to a relation.
  void reserve(std::string name) { taken_.push_back(std::move(name)); }
  void add(const FromNode& node);
  void add_values(const Query& query);
  /// Adds a table outside of every query, whose row is in slots from `first_slot` on.
  void add_table(const Table& table, Slot first_slot);

  [[nodiscard]] const std::vector<RangeName>& all() const noexcept { return names_; }
  [[nodiscard]] const RangeName* find(const FromNode& node) const;
  /// Column of one of the relations, or one that a join has merged, whose relation has no name.
  struct Found {
    const RangeName* range = nullptr;
    const std::string* column = nullptr;
  };
  [[nodiscard]] std::optional<Found> find(const SlotExpr& slot) const;
  /// Names of the columns of JOIN … USING or NATURAL JOIN.
  static std::vector<std::string> using_names(const FromJoin& join, const ast::JoinExpr& syntax);

 private:
  void add_join(const FromNode& node, const FromJoin& join, const BindingNotes::OfItem& note);
  void add_relation(const Table& table, const BindingNotes::OfItem& note, RangeName& range);
  void give_name(RangeName& range, std::string wanted);
  [[nodiscard]] bool is_taken(const std::string& name) const;

  const BindingNotes& notes_;
  const std::vector<const RangeNames*>& around_;
  std::vector<RangeName> names_;
  std::vector<std::string> taken_;
  std::map<std::string, int> repeats_;
  std::map<Slot, std::string> merged_;
};

}  // namespace swizzle::sql
