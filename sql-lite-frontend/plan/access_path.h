#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/access/inverted_access.h"
#include "sql-lite-frontend/execution/access/partition_pruner.h"
#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/plan/selectivity.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// An order that would save a sort.
struct WantedOrder {
  const std::vector<SortKey>* keys = nullptr;
  /// Number of rows that are needed.
  double rows = std::numeric_limits<double>::infinity();
  bool satisfied = false;
  /// Cost per row if they do not come in that order; absent: they are sorted.
  std::optional<double> otherwise_each = {};
};

/// One way to read a table. Numbers are positions in the list of conditions it was chosen for.
struct AccessPath {
  const IndexAccess* index = nullptr;  ///< null: the whole table
  std::vector<std::size_t> equal;      ///< for the first columns, one after the other
  std::optional<std::size_t> any_of;
  std::optional<std::size_t> alternatives;  ///< a disjunction over one column
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
  std::optional<std::size_t> prefix;  ///< LIKE; stays to be asked
  std::optional<std::size_t> not_null;
  /// Columns of an inverted index and the conditions over them, which must be checked again on the
  /// rows.
  struct OfElements {
    std::size_t column;
    std::size_t condition;
  };
  std::vector<OfElements> of_elements;
  /// Condition over the column of an index of ranges, which must be checked again on the rows.
  std::optional<std::size_t> of_range;
  bool one_row = false;
  bool is_partial = false;  ///< the index has only some of the rows
  bool only_index = false;
  bool ordered = false;  ///< as wanted
  Direction direction = Direction::forward;

  double matched = 0;  ///< rows that the bounds find
  double rows = 0;     ///< and of these, those that all conditions let through
  double cost = 0;

  [[nodiscard]] bool is_bounded() const noexcept {
    return is_partial || !of_elements.empty() || of_range || !equal.empty() || any_of ||
           alternatives || low || high || prefix || not_null;
  }
  /// Returns the conditions that need not be checked again, in the order of the index's columns.
  [[nodiscard]] std::vector<std::size_t> answered() const;
};

/// Finds ways to read single tables: by key, by ranges of an index, from an index alone, or whole.
class AccessPaths {
 public:
  AccessPaths(Binder& binder, const ColumnKnowledge& known) : binder_(binder), known_(known) {}
  AccessPaths(const AccessPaths&) = delete;
  AccessPaths& operator=(const AccessPaths&) = delete;

  /// Need for the rows' identity besides their columns, to write or lock them.
  enum class Identity : std::uint8_t { none, needed };
  /// Returns the cheapest path. `order` may be null.
  AccessPath best(const FromTable& table, std::span<Expr* const> conditions,
                  const WantedOrder* order, Identity identity);
  /// Removes the conditions that the path answers from `conditions`, the list that it was chosen
  /// for.
  struct Taken {
    IndexBounds bounds;
    std::optional<InvertedBounds> inverted;  ///< instead of `bounds`
    std::string text;                        ///< of the conditions, for EXPLAIN
  };
  /// Returns the first slot of a partition's columns while its indexes are considered: the table's,
  /// or, if they have another order, that of slots of its own.
  Slot slot_of_leaf(const FromTable& table, std::size_t leaf);
  /// Returns the leaves that remain after pruning by the values known now.
  std::vector<std::size_t> leaves_of(const FromTable& table, const PartitionPruner* pruner) const;
  Taken take(const FromTable& table, const AccessPath& path, std::vector<ExprPtr>& conditions);
  /// True if best() has rejected an index of a large table because a parameter is unknown.
  [[nodiscard]] bool guesses_parameters() const noexcept { return guesses_parameters_; }

 private:
  AccessPath best_of_partitions(const FromTable& table, std::span<Expr* const> conditions,
                                const WantedOrder* order, Identity identity);
  /// Index expressions and predicates over a table's slots.
  struct BoundIndex {
    std::vector<ExprPtr> columns;  ///< null for plain ones
    std::vector<ExprPtr> predicate;
    bool is_readable = true;
  };
  const BoundIndex& bound(const FromTable& table, const Index& index);
  ExprPtr bind(const FromTable& table, std::string_view sql, Clause clause);
  std::optional<AccessPath> path_over(const FromTable& table, const IndexAccess& index,
                                      std::span<Expr* const> conditions);
  [[nodiscard]] bool is_covered(const FromTable& table, const IndexAccess& index) const;
  static void match_elements(const FromTable& table, const BoundIndex& in,
                             std::span<Expr* const> conditions, AccessPath& path);
  static void match_range(const FromTable& table, const BoundIndex& in,
                          std::span<Expr* const> conditions, AccessPath& path);
  void take_range(const FromTable& table, const AccessPath& path, std::vector<ExprPtr>& conditions,
                  Taken& taken) const;
  void take_elements(const FromTable& table, const AccessPath& path,
                     std::vector<ExprPtr>& conditions, Taken& taken) const;
  void set_cost(const FromTable& table, AccessPath& path, std::span<Expr* const> conditions);
  [[nodiscard]] bool delivers(const FromTable& table, AccessPath& path,
                              const std::vector<SortKey>& keys);
  [[nodiscard]] bool is_allowed(std::string_view setting) const;
  [[nodiscard]] static bool is_worth_planning(const FromTable& table);
  [[nodiscard]] bool is_guess(const FromTable& table, const AccessPath& path,
                              std::span<Expr* const> conditions) const;

  Binder& binder_;
  const ColumnKnowledge& known_;
  bool guesses_parameters_ = false;
  /// True if an index of the table in best() would serve some values of the parameters.
  bool awaits_values_ = false;
  std::map<std::pair<Slot, const Index*>, BoundIndex> bound_;
  std::map<std::pair<Slot, std::size_t>, Slot> leaf_slots_;
};

/// Returns the number of rows, as far as known.
inline double expected_rows_of(const FromTable& table) noexcept {
  return table.partitions ? table.partitions->expected_rows() : table.table->expected_rows();
}

std::vector<Slot> table_slots(const FromTable& table);
/// True if `operand` is column `at` of the index: `expression`, or a plain column if that is null.
bool is_index_column(const FromTable& table, const IndexAccess& index, std::size_t at,
                     const ExprPtr& expression, const Expr& operand);

}  // namespace swizzle::sql
