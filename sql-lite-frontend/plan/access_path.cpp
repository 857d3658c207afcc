#include <algorithm>

#include "sql-lite-frontend/execute/computed_scan.h"
#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/planner.h"

/// How a single table is read: by key, by a range of an index, or whole.
namespace swizzle::sql {
namespace {

/// What one condition says about one column of the table.
struct ColumnCondition {
  std::size_t position;
  std::string_view op;  ///< "any" for = ANY (array)
  ExprPtr* value;
};

std::string_view commuted(std::string_view op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op;
}

std::vector<Slot> table_slots(const FromTable& table) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    slots.push_back(table.first_slot + static_cast<Slot>(i));
  }
  return slots;
}

std::optional<ColumnCondition> read_condition(const FromTable& table, Expr& condition) {
  const std::vector<Slot> own = table_slots(table);
  const auto position_of = [&](const Expr& expr) -> std::optional<std::size_t> {
    const SlotExpr* column = as_column(expr);
    if (column == nullptr || std::ranges::find(own, column->slot()) == own.end()) {
      return std::nullopt;
    }
    return column->slot() - table.first_slot;
  };
  if (auto* any = dynamic_cast<ArrayComparisonExpr*>(&condition)) {
    const Operator& op = any->op();
    if (any->kind() != ArrayComparisonExpr::Kind::any || op.name != "=" || op.left != op.right) {
      return std::nullopt;
    }
    auto& operands = any->mutable_operands();
    const auto position = position_of(*operands[0]);
    if (!position || reads_any(*operands[1], own) || is_volatile(*operands[1])) return std::nullopt;
    return ColumnCondition{*position, "any", &operands[1]};
  }
  const std::string_view op = ordering_operator(condition);
  if (op.empty()) return std::nullopt;
  auto& operands = dynamic_cast<FunctionExpr&>(condition).mutable_operands();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const auto position = position_of(*operands[side]);
    ExprPtr& value = operands[1 - side];
    if (!position || reads_any(*value, own) || is_volatile(*value)) continue;
    return ColumnCondition{*position, side == 0 ? op : commuted(op), &value};
  }
  return std::nullopt;
}

bool is_plain(const Index& index) {
  return index.predicate_sql.empty() &&
         std::ranges::all_of(index.columns,
                             [](const IndexColumn& column) { return column.column != 0; });
}

constexpr double kEqualityShare = 0.005;
constexpr double kRangeShare = 0.25;

}  // namespace

Planner::AccessChoice Planner::match_index(const FromTable& table, const IndexAccess& index,
                                           const Conditions& conditions) {
  AccessChoice choice;
  choice.bounds.index = &index;
  choice.rows = table.table->expected_rows();
  std::vector<std::optional<ColumnCondition>> known;
  for (const ExprPtr& condition : conditions) known.push_back(read_condition(table, *condition));
  const auto find = [&](std::size_t position, std::string_view op) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] && known[i]->position == position && known[i]->op == op &&
          std::ranges::find(choice.consumed, i) == choice.consumed.end()) {
        return i;
      }
    }
    return std::nullopt;
  };
  std::size_t column = 0;
  for (; column < index.index->columns.size(); ++column) {
    const auto position = static_cast<std::size_t>(index.index->columns[column].column - 1);
    const auto equal = find(position, "=");
    if (!equal) break;
    choice.consumed.push_back(*equal);
    choice.score += 10;
    choice.rows *= kEqualityShare;
  }
  const std::size_t equal_columns = choice.consumed.size();
  if (equal_columns == index.index->columns.size() && index.index->unique) {
    choice.one_row = true;
    choice.rows = 1;
    choice.score += 100;
  } else if (column < index.index->columns.size()) {
    const auto position = static_cast<std::size_t>(index.index->columns[column].column - 1);
    if (const auto any = find(position, "any")) {
      choice.consumed.push_back(*any);
      choice.score += 8;
      choice.rows *= kEqualityShare * 10;
    } else {
      for (const auto& ops : {std::array<std::string_view, 2>{">=", ">"},
                              std::array<std::string_view, 2>{"<=", "<"}}) {
        for (const std::string_view op : ops) {
          if (const auto bound = find(position, op)) {
            choice.consumed.push_back(*bound);
            choice.score += 3;
            choice.rows *= kRangeShare;
            break;
          }
        }
      }
    }
  }
  choice.rows = std::max(1.0, choice.rows);
  // The table's own order costs no second lookup.
  if (choice.score > 0 && index.index->primary) choice.score += 1;
  return choice;
}

Planner::AccessChoice Planner::choose_access(const FromTable& table, const Conditions& conditions) {
  AccessChoice best;
  best.rows = table.table->expected_rows();
  for (const IndexAccess& index : table.table->indexes) {
    if (!is_plain(*index.index)) continue;
    AccessChoice choice = match_index(table, index, conditions);
    if (choice.score > best.score) best = std::move(choice);
  }
  return best;
}

bool Planner::delivers_order(const FromTable& table, const AccessChoice& choice,
                             const std::vector<SortKey>& keys, Direction& direction) const {
  if (choice.bounds.index == nullptr || keys.empty()) return false;
  const IndexAccess& index = *choice.bounds.index;
  // Columns that equal one value each do not matter for the order.
  std::size_t column = 0;
  while (column < choice.consumed.size() && column < index.columns.size()) ++column;
  if (choice.score > 0 && choice.consumed.size() > index.columns.size()) return false;
  std::size_t start = choice.one_row ? index.columns.size() : 0;
  if (!choice.one_row) {
    start = static_cast<std::size_t>(choice.score / 10);
    if (start > index.columns.size()) return false;
  }
  bool forward = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t at = start + i;
    if (at >= index.columns.size()) return choice.one_row;
    const auto* slot = dynamic_cast<const SlotExpr*>(keys[i].expr.get());
    const auto position = static_cast<Slot>(index.index->columns[at].column - 1);
    if (slot == nullptr || slot->slot() != table.first_slot + position) return false;
    const bool same = keys[i].direction == index.columns[at].direction;
    const bool nulls_same = keys[i].nulls == index.columns[at].nulls;
    const bool never_null = table.table->relation.columns[position].not_null;
    if (i == 0) forward = same;
    if (same != forward || (nulls_same != forward && !never_null)) return false;
  }
  direction = forward ? Direction::forward : Direction::backward;
  return true;
}

PlanPtr Planner::plan_table(FromTable& table, Conditions& conditions, WantedOrder* order) {
  AccessChoice choice = choose_access(table, conditions);
  Direction direction = Direction::forward;
  if (order != nullptr && order->keys != nullptr) {
    // A scan of everything may as well follow an index that has the order.
    if (choice.bounds.index == nullptr) {
      for (const IndexAccess& index : table.table->indexes) {
        AccessChoice whole;
        whole.bounds.index = &index;
        whole.rows = choice.rows;
        if (!index.index->primary || !delivers_order(table, whole, *order->keys, direction)) {
          continue;
        }
        choice = std::move(whole);
        order->satisfied = true;
        break;
      }
    } else {
      order->satisfied = delivers_order(table, choice, *order->keys, direction);
    }
  }

  std::string text;
  IndexBounds& bounds = choice.bounds;
  for (const std::size_t i : choice.consumed) {
    if (!text.empty()) text += " AND ";
    text += describe(*conditions[i]);
    const auto known = read_condition(table, *conditions[i]);
    ExprPtr value = std::move(*known->value);
    if (known->op == "=") {
      bounds.equal.push_back(std::move(value));
    } else if (known->op == "any") {
      bounds.any_of = std::move(value);
    } else if (known->op == ">" || known->op == ">=") {
      bounds.low = std::move(value);
      bounds.low_bound =
          known->op == ">" ? ScanRange::Bound::exclusive : ScanRange::Bound::inclusive;
    } else {
      bounds.high = std::move(value);
      bounds.high_bound =
          known->op == "<" ? ScanRange::Bound::exclusive : ScanRange::Bound::inclusive;
    }
  }
  std::vector<std::size_t> consumed = choice.consumed;
  std::ranges::sort(consumed, std::greater{});
  for (const std::size_t i : consumed) {
    conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
  }

  std::vector<TableAccess::Wanted> wanted;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    const Slot slot = table.first_slot + static_cast<Slot>(i);
    if (binder_.is_used(slot)) wanted.push_back({i, slot});
  }
  std::unique_ptr<TableAccess> access;
  if (choice.one_row) {
    access = std::make_unique<PointAccess>(table.table, table.alias, std::move(wanted),
                                           std::move(bounds), ReadMode::snapshot);
  } else {
    access = std::make_unique<RangeAccess>(table.table, table.alias, std::move(wanted),
                                           std::move(bounds), direction);
  }
  access->condition_text = choice.consumed.size() > 1 ? "(" + text + ")" : text;
  access->expected_rows = choice.rows;
  accesses_.emplace_back(table.first_slot, access.get());
  if (std::ranges::find(identified_, table.first_slot) != identified_.end()) {
    const Slot key_slot = binder_.new_slots(2);
    access->keep_identity(key_slot, key_slot + 1);
  }
  return access;
}

}  // namespace swizzle::sql
