#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/query/bind/binding_notes.h"

namespace swizzle::sql {

/// Throws SqlError 0A000: a query with `what` cannot be printed.
[[noreturn]] void throw_unprintable(std::string_view what);

/// A relation, function, subquery or named join of FROM, with its name in the printed query.
struct RangeName {
  struct Column {
    std::string name;   ///< in the printed text
    std::string bound;  ///< as the binder bound it
    Slot slot = 0;
  };
  const FromNode* node = nullptr;
  const ast::Node* syntax = nullptr;
  std::string name;
  std::vector<Column> columns;
  bool shows_name = false;     ///< the alias is written
  bool shows_columns = false;  ///< the column aliases are written as well
  bool is_join = false;
  bool is_lockable = false;  ///< a relation or a subquery
};

/// Names of one query's relations in a printed text. As in PostgreSQL, a name is unique within the
/// query and its enclosing queries: a second "t" becomes "t_1".
class RangeNames {
 public:
  /// `around`: the names of the enclosing queries, outermost first.
  RangeNames(const BindingNotes& notes, const std::vector<const RangeNames*>& around)
      : notes_(notes), around_(around) {}

  void add(const FromNode& node);
  void add_values(const Query& query);
  /// Adds a table outside of every query, whose row is in slots from `first_slot` on.
  void add_table(const Table& table, Slot first_slot);

  [[nodiscard]] const std::vector<RangeName>& all() const noexcept { return names_; }
  [[nodiscard]] const RangeName* find(const FromNode& node) const;
  /// Column of a relation; or a column merged by a join, without a relation.
  struct Found {
    const RangeName* range = nullptr;
    const std::string* column = nullptr;
  };
  [[nodiscard]] std::optional<Found> find(const SlotExpr& slot) const;
  /// Returns the relation, and no join, whose column the slot holds, or which the slot's qualifier
  /// means; null: neither.
  [[nodiscard]] const RangeName* relation_of(const SlotExpr& slot) const;
  /// Returns the column names of JOIN … USING or NATURAL JOIN.
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
