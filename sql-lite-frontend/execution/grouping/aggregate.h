#pragma once

#include <memory>

#include "sql-lite-frontend/execution/access/range_access.h"
#include "sql-lite-frontend/execution/grouping/made_aggregate.h"
#include "sql-lite-frontend/execution/rows/row_partitions.h"
#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/execution/sorting/sort_operators.h"
#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/query/bound/query_parts.h"
#include "sql-lite-frontend/query/bound/value_table.h"
#include "sql-lite-frontend/types/compare.h"

namespace swizzle::sql {

/// The states of one call for many groups.
class AggregateStates {
 public:
  explicit AggregateStates(const AggregateCall& call);

  /// Charges its memory to the account. Pre: it holds nothing, or is charged there already.
  void count_in(MemoryAccount* account);
  /// Clears the states; keeps little of the memory.
  void clear();
  /// Gives the memory back as well.
  void release();
  /// Returns the number of a new, empty state.
  std::size_t add();
  /// Takes the row that stands in the slots. Pre: the filter, if any, holds.
  void step(Execution& execution, std::size_t state);
  /// The result over all rows taken so far. With ORDER BY or DISTINCT only once per state.
  Value finish(Execution& execution, std::size_t state);
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return arena_.reserved_bytes() + states_.capacity() * sizeof(std::byte*) +
           collected_.capacity() * sizeof(Collected) + collected_bytes_ + made_.held_bytes();
  }

 private:
  /// Input of an aggregate that has to be sorted, or compared with all others, first.
  struct Collected {
    explicit Collected(MemoryAccount* account) : values(CountedAllocator<Value>{account}) {
      seen.count_in(account);
      arena.count_in(account);
    }
    CountedVector<Value> values;  ///< per row: arguments, then sort keys
    std::size_t rows = 0;
    KeyTable seen;
    Arena arena{kFirstBytes};

    static constexpr std::size_t kFirstBytes = 256;  // a group may be small
    [[nodiscard]] std::size_t held_bytes() const noexcept {
      return arena.reserved_bytes() + values.capacity() * sizeof(Value) + seen.held_bytes();
    }
  };
  [[nodiscard]] bool skips_nulls() const noexcept {
    return function_ != nullptr ? function_->skips_nulls : call_.made->skips_nulls();
  }
  bool take_arguments(Execution& execution, std::vector<Value>& values) const;
  void apply(Execution& execution, std::size_t state, std::span<const Value> arguments);
  void collect(Execution& execution, std::size_t state, std::span<const Value> arguments);
  [[nodiscard]] bool shows_order() const noexcept;
  [[nodiscard]] bool is_before(const Value* left, const Value* right) const;

  const AggregateCall& call_;
  const AggregateFunction* function_;  ///< null: a user made it
  std::vector<TypeId> argument_types_;
  CountedVector<std::byte*> states_;
  MadeStates made_;
  CountedVector<Collected> collected_;
  RowComparison comparison_;
  std::unique_ptr<KeyWriter> distinct_;
  std::vector<Value> arguments_;
  Arena arena_;
  std::size_t collected_bytes_ = 0;  ///< of all that is in collected_
};

/// Groups by hashing, or, where each group's rows come together, by comparing each row's keys with
/// those of the row before. A group's keys stand in `key_slots` afterwards; `carried` are further
/// input slots that have one value per group (they depend on a primary key among the keys).
///
/// With several grouping sets a row is in a group of each. Keys that are not in a group's set are
/// NULL in its row; a set without keys has a group without rows, too.
///
/// Once the groups take the memory that hashing may use, rows of further groups go to temporary
/// files; they are grouped when the groups before have been handed out.
class Aggregate final : public PlanOperator {
 public:
  using Key = GroupKey;
  enum class Rows : std::uint8_t { anyhow, by_group };
  Aggregate(PlanPtr input, std::vector<Key> keys, std::vector<Slot> carried,
            std::vector<AggregateCall> calls, Rows rows = Rows::anyhow, GroupingSets sets = {});
  Aggregate(const Aggregate& of, StepCopies& copies);
  [[nodiscard]] PlanPtr copy_for_run(StepCopies& copies) const override {
    return std::make_unique<Aggregate>(*this, copies);
  }
  void open(Execution& execution) override;
  bool next(Execution& execution) override;
  void close() override;
  [[nodiscard]] std::vector<Slot> output_slots() const override;
  [[nodiscard]] PlanNote note(ExprPrinter::Columns columns) const override;
  [[nodiscard]] std::vector<const PlanOperator*> children() const override {
    return {input_.get()};
  }
  [[nodiscard]] std::vector<PlanMeasure> measured() const override;
  void for_each_input(const std::function<void(PlanPtr&)>& visit) override { visit(input_); }
  void for_each_expression(const std::function<void(ExprPtr&)>& visit) override {
    for (Key& key : keys_.change()) visit(key.expr);
    for (AggregateCall& call : calls_.change()) call.for_each_expression(visit);
  }

 private:
  [[nodiscard]] bool has_sets() const noexcept { return !sets_->sets.empty(); }
  void begin_states();
  void forget_groups();
  void release_groups();
  /// Groups the rows of the input, or of a part.
  void consume(Execution& execution, RowPartitions::Part* part);
  /// The next groups of an input that has them together.
  void consume_some(Execution& execution);
  /// Whether the row has the keys of the row before; takes them.
  bool is_in_last_group(Execution& execution);
  void step_all(Execution& execution, std::size_t group);
  /// kAbsent: the row was put aside.
  std::uint32_t group_of(Execution& execution, unsigned depth);
  /// The same for the row's group in one of the sets. Pre: the keys' values are in the slots and in
  /// `row_keys_`.
  std::uint32_t group_in_set(Execution& execution, std::size_t set, unsigned depth);
  /// Takes the row into its groups: of all sets, or of the one for which it was put aside.
  void take_into_sets(Execution& execution, const RowPartitions::Part* part);
  void add_groups_without_rows(Execution& execution);
  void add_group(Execution& execution);
  [[nodiscard]] bool is_full(const Execution& execution) const noexcept;
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// True if all calls are count(*).
  [[nodiscard]] bool only_counts() const noexcept;

  PlanPtr input_;
  std::vector<Slot> input_slots_;
  Planned<std::vector<Key>> keys_;
  std::vector<Slot> carried_;
  Planned<std::vector<AggregateCall>> calls_;
  Planned<GroupingSets> sets_;
  std::vector<std::vector<bool>> is_in_set_;  ///< by set and key
  std::vector<Value> row_keys_;
  std::vector<AggregateStates> states_;
  ValueTable table_;
  RowStore groups_;
  /// The input when only its rows are counted, and it can do so without looking at them.
  RangeAccess* counting_ = nullptr;
  RowPartitions later_;
  std::vector<Slot> later_slots_;  ///< those of the input and the set's
  HashUsage usage_;
  std::size_t position_ = 0;

  /// Number of groups finished before they are handed out.
  static constexpr std::size_t kTogether = 256;
  Rows rows_;
  std::vector<CompareFunction> compare_;
  std::vector<Value> last_key_;
  Arena last_key_arena_;
  RowStore first_of_next_;  ///< of the group behind those, if it was met
  bool at_end_ = false;
};

}  // namespace swizzle::sql
