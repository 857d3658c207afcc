#include "sql-lite-frontend/plan/partition_conditions.h"

#include <algorithm>

#include "sql-lite-frontend/plan/access_path.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/index_match.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/key_codec.h"

namespace swizzle::sql {
namespace {

using Condition = PartitionPruner::Condition;
using Test = PartitionPruner::Test;

/// The key of one table in a tree.
struct Key {
  std::span<const ExprPtr> columns;
  const std::vector<TypeId>& types;
};

std::optional<std::size_t> column_of(const Key& key, const Expr& operand) {
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    if (!same_keys(key.types[i], operand.type())) continue;
    const SlotExpr* own = as_column(*key.columns[i]);
    const SlotExpr* column = as_column(operand);
    if (own != nullptr && column != nullptr ? own->slot() == column->slot()
                                            : same_expression(*key.columns[i], operand)) {
      return i;
    }
  }
  return std::nullopt;
}

Test test_of(IndexCondition::Kind kind) {
  using Kind = IndexCondition::Kind;
  switch (kind) {
    case Kind::less:
      return Test::less;
    case Kind::at_most:
      return Test::at_most;
    case Kind::more:
      return Test::more;
    case Kind::at_least:
      return Test::at_least;
    case Kind::any_of:
      return Test::any_of;
    case Kind::not_null:
      return Test::not_null;
    default:
      return Test::equal;
  }
}

/// `key IN (…)`: each of the values is a branch.
bool add_listed(std::size_t column, const Expr& values, PartitionPruner::Conditions& found) {
  const auto* const array = dynamic_cast<const ArrayExpr*>(&values);
  if (array == nullptr || array->kind() != ArrayExpr::Kind::elements) return false;
  std::vector<std::vector<Condition>> branches;
  for (const ExprPtr& operand : array->operands()) {
    ExprPtr value = copy_expression(*operand);
    if (!value) return false;
    branches.emplace_back().push_back({column, Test::equal, std::move(value)});
  }
  found.either.push_back(std::move(branches));
  return true;
}

/// A key that is itself a condition: true, false.
bool add_truth(const Key& key, const Expr& operand, bool value,
               PartitionPruner::Conditions& found) {
  const auto column = operand.type() == TypeId::bool_ ? column_of(key, operand) : std::nullopt;
  if (!column) return false;
  found.all.push_back(
      {*column, Test::equal,
       std::make_unique<ConstantExpr>(TypeId::bool_, kNoTypmod, Value::from_bool(value))});
  return true;
}

bool add_truth(const Key& key, const Expr& condition, PartitionPruner::Conditions& found) {
  if (const auto* test = dynamic_cast<const TestExpr*>(&condition)) {
    const bool is_true = test->kind() == TestExpr::Kind::is_true;
    if (!is_true && test->kind() != TestExpr::Kind::is_false) return false;
    return add_truth(key, *test->operands()[0], is_true, found);
  }
  if (const auto* boolean = dynamic_cast<const BooleanExpr*>(&condition)) {
    return boolean->kind() == BooleanExpr::Kind::negation &&
           add_truth(key, *boolean->operands()[0], false, found);
  }
  return add_truth(key, condition, true, found);
}

void add_plain(const Key& key, Expr& condition, std::span<const Slot> own,
               PartitionPruner::Conditions& found) {
  if (const auto* test = dynamic_cast<const TestExpr*>(&condition);
      test != nullptr && test->kind() == TestExpr::Kind::is_null) {
    if (const auto column = column_of(key, *test->operands()[0])) {
      found.all.push_back({*column, Test::is_null, nullptr});
    }
    return;
  }
  const auto known = as_index_condition(condition, own);
  if (!known) return;
  const auto column = column_of(key, *known->operand);
  if (!column) return;
  if (known->kind == IndexCondition::Kind::any_of && add_listed(*column, **known->value, found)) {
    return;
  }
  ExprPtr value;
  if (known->value != nullptr) {
    value = copy_expression(**known->value);
    if (!value) return;
  }
  found.all.push_back({*column, test_of(known->kind), std::move(value)});
}

void add_conjunction(const Key& key, Expr& condition, std::span<const Slot> own,
                     PartitionPruner::Conditions& found);

/// Returns one branch of OR: the conditions of its ANDs.
std::vector<Condition> branch_of(const Key& key, Expr& condition, std::span<const Slot> own) {
  PartitionPruner::Conditions inside;
  add_conjunction(key, condition, own, inside);
  return std::move(inside.all);
}

void add_conjunction(const Key& key, Expr& condition, std::span<const Slot> own,
                     PartitionPruner::Conditions& found) {
  check_stack();
  if (add_truth(key, condition, found)) return;
  auto* boolean = dynamic_cast<BooleanExpr*>(&condition);
  if (boolean == nullptr) return add_plain(key, condition, own, found);
  if (boolean->kind() == BooleanExpr::Kind::conjunction) {
    for (const ExprPtr& part : boolean->operands()) add_conjunction(key, *part, own, found);
    return;
  }
  if (boolean->kind() != BooleanExpr::Kind::disjunction) return;
  std::vector<std::vector<Condition>> branches;
  for (const ExprPtr& part : boolean->operands()) {
    branches.push_back(branch_of(key, *part, own));
    if (branches.back().empty()) return;
  }
  found.either.push_back(std::move(branches));
}

}  // namespace

std::unique_ptr<PartitionPruner> pruner_of(Binder& binder, const FromTable& table,
                                           std::span<Expr* const> conditions) {
  if (!binder.names().planner_allows("enable_partition_pruning")) return nullptr;
  const PartitionTree& tree = *table.partitions;
  const std::vector<Slot> own = table_slots(table);
  std::vector<Slot> unused = own;
  std::erase_if(unused, [&](Slot slot) { return binder.is_used(slot); });
  const auto keys = binder.bind_partition_keys(tree, table.first_slot);
  for (const Slot slot : unused) binder.mark_unused(slot);
  std::vector<PartitionPruner::Conditions> by_node(tree.nodes.size());
  bool any = false;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!tree.nodes[i].map) continue;
    const Key key{keys[i], tree.nodes[i].map->types()};
    for (Expr* const condition : conditions) add_conjunction(key, *condition, own, by_node[i]);
    any = any || !by_node[i].empty();
  }
  if (!any) return nullptr;
  return std::make_unique<PartitionPruner>(table.partitions, std::move(by_node));
}

ExprPtr copy_for_leaf(const Expr& condition, const LeafColumns& columns, const std::string& alias) {
  return copy_expression(condition, [&](const SlotExpr& slot) -> ExprPtr {
    if (slot.slot() == columns.from + columns.count && columns.table != nullptr) {
      return std::make_unique<ConstantExpr>(TypeId::oid, kNoTypmod,
                                            Value::from_oid(columns.table->relation.oid));
    }
    if (slot.slot() < columns.from || slot.slot() - columns.from >= columns.count) return nullptr;
    SlotExpr::Origin origin = slot.origin();
    origin.qualifier = alias;
    return std::make_unique<SlotExpr>(
        slot.type(), slot.typmod(), columns.slot_of(slot.slot() - columns.from), std::move(origin));
  });
}

ExprPtr copy_for_root(const Expr& condition, const LeafColumns& columns) {
  return copy_expression(condition, [&](const SlotExpr& slot) -> ExprPtr {
    for (std::size_t i = 0; i < columns.count; ++i) {
      if ((*columns.places)[i] == PartitionTree::kNone || columns.slot_of(i) != slot.slot()) {
        continue;
      }
      return std::make_unique<SlotExpr>(slot.type(), slot.typmod(),
                                        columns.from + static_cast<Slot>(i), slot.origin());
    }
    return nullptr;
  });
}

}  // namespace swizzle::sql
