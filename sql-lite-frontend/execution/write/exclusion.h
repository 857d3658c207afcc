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

/// EXCLUDE, and keys WITHOUT OVERLAPS: for no two rows may the operators of all elements be true.
///
/// The first columns of the constraint's index are those compared with =: rows that are equal in
/// them, a group, are adjacent. A writer locks the row's group until the end of its transaction
/// before it adds the row to the index. So another transaction's only uncommitted change in a group
/// can be a removal; a conflicting entry is waited for.
namespace swizzle::sql {

inline constexpr SqlState kExclusionViolation{"23P01"};

enum class ExclusionOperator : std::uint8_t { equal, unequal, overlaps, adjoins };
/// Returns nothing for an operator that is not supported in EXCLUDE.
std::optional<ExclusionOperator> exclusion_operator(std::string_view name) noexcept;

/// The index of one exclusion constraint or key WITHOUT OVERLAPS.
class Exclusion {
 public:
  /// Pre: the entries of the table's index `index` exclude each other.
  Exclusion(TablePtr table, std::size_t index);

  [[nodiscard]] const Index& index() const noexcept { return table_->relation.indexes[number_]; }
  /// Throws 23514 if the range of a key WITHOUT OVERLAPS is empty.
  void require_period(const Value& period) const;
  /// Locks the group of the values. Pre: `values`, here and below, are those of a row in the
  /// index's columns, none of them NULL.
  void lock(Transaction& transaction, std::span<const Value> values) const;
  /// Returns the key of an entry that conflicts with these values, which are not in the index yet.
  /// Pre: their group is locked.
  [[nodiscard]] std::optional<std::string> find(Transaction& transaction,
                                                std::span<const Value> values) const;
  /// Returns the same for a row that is in the index already; nothing also if it has been deleted.
  [[nodiscard]] std::optional<std::string> find_beside(Transaction& transaction,
                                                       std::span<const Value> values) const;
  [[noreturn]] void fail(StatementServices& services, FunctionContext& functions,
                         Transaction& transaction, std::span<const Value> values,
                         std::string_view entry) const;
  /// Returns the table key that an index entry contains.
  [[nodiscard]] std::string row_key_of(std::string_view entry) const;

  /// Checks an index that has just been built: throws 23P01 if two entries conflict.
  void check_all(StatementServices& services, FunctionContext& functions,
                 Transaction& transaction) const;

 private:
  struct Part {
    ExclusionOperator op;
    TypeId type;
  };
  /// Result of examining an entry in `search`.
  enum class Step : std::uint8_t { go_on, stop, found };

  [[nodiscard]] bool conflict(std::span<const Value> a, std::span<const Value> b) const;
  [[nodiscard]] bool is_empty_range(std::span<const Value> values) const;
  [[nodiscard]] std::string group_of(std::span<const Value> values) const;
  [[nodiscard]] std::string key_of(std::span<const Value> values) const;
  /// Decodes the columns' values from an entry and removes them from the key; nothing if one is
  /// NULL.
  bool read_entry(Bytes& key, Arena& arena, std::vector<Value>& values) const;
  /// Returns the values of the whole row if the columns are the table's; else those in the entry.
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
  std::size_t equal_ = 0;  ///< number of leading columns compared with =
  /// True if the remaining column is a range type compared with &&. Ranges of a group never
  /// overlap, so only the neighbours of a new one need to be checked.
  bool is_ordered_ = false;
};

/// The exclusions of one table, for one statement that writes to it.
class Exclusions {
 public:
  explicit Exclusions(const TablePtr& table);

  /// Returns null if entries of the index do not exclude each other.
  [[nodiscard]] const Exclusion* of(std::size_t index) const noexcept {
    return by_index_.empty() ? nullptr : by_index_[index].get();
  }
  void forget_notes() noexcept { notes_.clear(); }
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  /// Records a row for a deferrable constraint, to be checked when the statement has written all
  /// its rows.
  void note(WorkMemory& memory, std::size_t index, std::span<const Value> values);
  /// Throws 23P01, or schedules conflicting rows of a deferred constraint for the check at commit.
  void finish(Execution& execution);

 private:
  TablePtr table_;
  std::vector<std::unique_ptr<const Exclusion>> by_index_;
  RowEvents notes_;  ///< an index's number, and a row's values in it
};

/// Throws 23P01 if the row with these values still conflicts with another.
void check_deferred_exclusion(StatementServices& services, NameSource& names, const TablePtr& table,
                              const DeferredCheck& check);

}  // namespace swizzle::sql
