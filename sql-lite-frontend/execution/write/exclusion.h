#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

/// EXCLUDE: for no two rows may the operators of all elements be true.
///
/// The constraint's index is a tree whose first columns are those that are to be equal: rows that
/// agree in them, a group, lie together. A writer locks a row's group until its transaction ends
/// before it adds the row to the index. So the only uncommitted change of another transaction in a
/// group can be a removal, and a conflicting entry that is found is waited for.
namespace swizzle::sql {

inline constexpr SqlState kExclusionViolation{"23P01"};

enum class ExclusionOperator : std::uint8_t { equal, unequal, overlaps, adjoins };
/// Nothing for an operator that no constraint can have.
std::optional<ExclusionOperator> exclusion_operator(std::string_view name) noexcept;

/// The index of one exclusion constraint.
class Exclusion {
 public:
  /// Pre: the table's index of that number excludes.
  Exclusion(TablePtr table, std::size_t index);

  [[nodiscard]] const Index& index() const noexcept { return table_->relation.indexes[number_]; }
  /// Pre: `values`, here and below, are a row's in the index's columns, none of them NULL.
  void lock(Transaction& transaction, std::span<const Value> values) const;
  /// The key of an entry beside which there may be none with these values, which are not in the
  /// index yet. Pre: their group is locked.
  [[nodiscard]] std::optional<std::string> find(Transaction& transaction,
                                                std::span<const Value> values) const;
  /// The same where a row with the values has been written: nothing also if it is gone again.
  [[nodiscard]] std::optional<std::string> find_beside(Transaction& transaction,
                                                       std::span<const Value> values) const;
  [[noreturn]] void fail(StatementServices& services, FunctionContext& functions,
                         Transaction& transaction, std::span<const Value> values,
                         std::string_view entry) const;
  /// The row's key of an entry.
  [[nodiscard]] std::string row_key_of(std::string_view entry) const;

  /// Checks an index that has just been built: 23P01 if two of its entries conflict.
  void check_all(StatementServices& services, FunctionContext& functions,
                 Transaction& transaction) const;

 private:
  struct Part {
    ExclusionOperator op;
    TypeId type;
  };
  /// Result of looking at an entry in `search`.
  enum class Step : std::uint8_t { go_on, stop, found };

  [[nodiscard]] bool conflict(std::span<const Value> a, std::span<const Value> b) const;
  [[nodiscard]] bool is_empty_range(std::span<const Value> values) const;
  [[nodiscard]] std::string group_of(std::span<const Value> values) const;
  [[nodiscard]] std::string key_of(std::span<const Value> values) const;
  /// The columns' values of an entry, or nothing where one is NULL; takes them off the key.
  bool read_entry(Bytes& key, Arena& arena, std::vector<Value>& values) const;
  /// Returns the values of a whole row, if the columns are the table's; else those in the entry.
  std::vector<Value> shown_values(Transaction& transaction, Arena& arena,
                                  std::string_view entry) const;
  [[nodiscard]] std::string described(FunctionContext& functions,
                                      std::span<const Value> values) const;
  [[nodiscard]] bool is_still_there(Transaction& transaction, const std::string& entry) const;
  std::optional<std::string> search(Transaction& transaction, std::span<const Value> values,
                                    const ScanRange& range, Direction direction) const;

  TablePtr table_;
  std::size_t number_;
  std::vector<Part> parts_;
  std::size_t equal_ = 0;  ///< so many columns are to be equal; they come first
  /// True if the remaining column is one of ranges that must not overlap. A group's ranges never
  /// do, so only the neighbours of a new one need to be checked.
  bool is_ordered_ = false;
};

/// The exclusion constraints of one table, for one statement that writes to it.
class Exclusions {
 public:
  explicit Exclusions(const TablePtr& table);

  /// Null where the index belongs to none.
  [[nodiscard]] const Exclusion* of(std::size_t index) const noexcept {
    return by_index_.empty() ? nullptr : by_index_[index].get();
  }
  void forget_notes() noexcept { notes_.clear(); }
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  /// Notes a row for a deferrable constraint, to be checked when the statement has written all its
  /// rows.
  void note(WorkMemory& memory, std::size_t index, std::span<const Value> values);
  /// Throws 23P01, or leaves the rows in conflict to the transaction's end.
  void finish(Execution& execution);

 private:
  TablePtr table_;
  std::vector<std::unique_ptr<const Exclusion>> by_index_;
  RowEvents notes_;  ///< an index's number, and a row's values in it
};

/// A row that was written with these values in the index has no other beside it.
void check_deferred_exclusion(StatementServices& services, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check);

}  // namespace swizzle::sql
