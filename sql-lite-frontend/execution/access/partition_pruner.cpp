#include "sql-lite-frontend/execution/access/partition_pruner.h"

#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"

namespace swizzle::sql {
namespace {

using Condition = PartitionPruner::Condition;
using Test = PartitionPruner::Test;

/// Adds the bounds of one more condition.
class Restrict {
 public:
  Restrict(KeyRestriction& restriction, const std::vector<TypeId>& types)
      : restriction_(restriction), types_(types) {}

  void add(const Condition& condition, const PartitionPruner::Evaluate& evaluate) {
    KeyRestriction::Column& column = restriction_.columns[condition.column];
    if (condition.test == Test::is_null) {
      column.is_null = true;
      return;
    }
    if (condition.test == Test::not_null) {
      column.not_null = true;
      return;
    }
    const std::optional<Value> value = evaluate(*condition.value);
    if (!value) return;
    if (value->is_null()) {
      restriction_.is_impossible = true;
      return;
    }
    const TypeId type = types_[condition.column];
    switch (condition.test) {
      case Test::equal:
        return set_equal(column, type, *value);
      case Test::any_of:
        return set_any_of(column, *value);
      case Test::less:
      case Test::at_most:
        return set_high(column, type, *value, condition.test == Test::less);
      default:
        return set_low(column, type, *value, condition.test == Test::more);
    }
  }

  /// Detects contradictions.
  void finish() {
    for (std::size_t i = 0; i < restriction_.columns.size(); ++i) {
      KeyRestriction::Column& column = restriction_.columns[i];
      const bool has_value =
          column.equal || column.any_of || column.low || column.high || column.not_null;
      if (column.is_null && has_value) restriction_.is_impossible = true;
      if (column.low && column.high) {
        const int order = compare_values(types_[i], *column.low, *column.high);
        if (order > 0 || (order == 0 && (column.low_open || column.high_open))) {
          restriction_.is_impossible = true;
        }
      }
      if (!column.equal) continue;
      if (column.low) {
        const int order = compare_values(types_[i], *column.equal, *column.low);
        if (order < 0 || (order == 0 && column.low_open)) restriction_.is_impossible = true;
      }
      if (column.high) {
        const int order = compare_values(types_[i], *column.equal, *column.high);
        if (order > 0 || (order == 0 && column.high_open)) restriction_.is_impossible = true;
      }
    }
  }

 private:
  void set_equal(KeyRestriction::Column& column, TypeId type, const Value& value) {
    if (column.equal && compare_values(type, *column.equal, value) != 0) {
      restriction_.is_impossible = true;
    }
    column.equal = value;
  }
  static void set_any_of(KeyRestriction::Column& column, const Value& value) {
    // One list of the column is enough for pruning; a second one is ignored.
    if (column.any_of) return;
    const ArrayView array{value};
    std::vector<Value>& values = column.any_of.emplace();
    for (std::size_t i = 0; i < array.size(); ++i) values.push_back(array.element(i));
  }
  static void set_low(KeyRestriction::Column& column, TypeId type, const Value& value, bool open) {
    const int order = column.low ? compare_values(type, value, *column.low) : 1;
    if (order < 0 || (order == 0 && !open)) return;
    column.low = value;
    column.low_open = open;
  }
  static void set_high(KeyRestriction::Column& column, TypeId type, const Value& value, bool open) {
    const int order = column.high ? compare_values(type, value, *column.high) : -1;
    if (order > 0 || (order == 0 && !open)) return;
    column.high = value;
    column.high_open = open;
  }

  KeyRestriction& restriction_;
  const std::vector<TypeId>& types_;
};

std::vector<const Condition*> pointers(std::span<const Condition> conditions) {
  std::vector<const Condition*> list;
  for (const Condition& condition : conditions) list.push_back(&condition);
  return list;
}

std::vector<bool> selected(const PartitionMap& map, std::span<const Condition* const> conditions,
                           const PartitionPruner::Evaluate& evaluate) {
  KeyRestriction restriction;
  restriction.columns.resize(map.types().size());
  Restrict restrict {restriction, map.types()};
  for (const Condition* condition : conditions) restrict.add(*condition, evaluate);
  restrict.finish();
  return map.select(restriction);
}

}  // namespace

std::vector<bool> PartitionPruner::children_of(std::size_t node, const Evaluate& evaluate) const {
  const PartitionMap& map = *tree_->nodes[node].map;
  const Conditions& conditions = conditions_[node];
  std::vector<bool> wanted = selected(map, pointers(conditions.all), evaluate);
  for (const auto& branches : conditions.either) {
    std::vector<bool> any(wanted.size(), false);
    for (const std::vector<Condition>& branch : branches) {
      // Together with the common conditions of all rows, for a key of several columns.
      std::vector<const Condition*> asked = pointers(conditions.all);
      for (const Condition& condition : branch) asked.push_back(&condition);
      const std::vector<bool> of_branch = selected(map, asked, evaluate);
      for (std::size_t i = 0; i < any.size(); ++i) any[i] = any[i] || of_branch[i];
    }
    for (std::size_t i = 0; i < any.size(); ++i) wanted[i] = wanted[i] && any[i];
  }
  return wanted;
}

void PartitionPruner::add_leaves(std::size_t node, const Evaluate& evaluate,
                                 std::vector<bool>& leaves) const {
  check_stack();
  const PartitionTree::Node& at = tree_->nodes[node];
  if (at.leaf != PartitionTree::kNone) {
    leaves[at.leaf] = true;
    return;
  }
  if (!at.map) return;
  const std::vector<bool> wanted = children_of(node, evaluate);
  for (std::size_t place = 0; place < at.children.size(); ++place) {
    if (wanted[place]) add_leaves(at.children[place], evaluate, leaves);
  }
}

std::vector<bool> PartitionPruner::leaves(const Evaluate& evaluate) const {
  std::vector<bool> leaves(tree_->leaves.size(), false);
  add_leaves(0, evaluate, leaves);
  return leaves;
}

bool PartitionPruner::awaits_values(const Evaluate& evaluate) const {
  const auto awaits = [&](const Condition& condition) {
    return condition.value && !evaluate(*condition.value);
  };
  return std::ranges::any_of(conditions_, [&](const Conditions& of_node) {
    return std::ranges::any_of(of_node.all, awaits) ||
           std::ranges::any_of(of_node.either, [&](const auto& branches) {
             return std::ranges::any_of(
                 branches, [&](const auto& branch) { return std::ranges::any_of(branch, awaits); });
           });
  });
}

void PartitionPruner::for_each_expression(const std::function<void(ExprPtr&)>& visit) {
  const auto each = [&](std::vector<Condition>& list) {
    for (Condition& condition : list) {
      if (condition.value) visit(condition.value);
    }
  };
  for (Conditions& of_node : conditions_) {
    each(of_node.all);
    for (auto& branches : of_node.either) {
      for (auto& branch : branches) each(branch);
    }
  }
}

}  // namespace swizzle::sql
