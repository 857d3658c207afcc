#include "sql-lite-frontend/plan/access_path.h"

#include <algorithm>
#include <array>

#include "sql-lite-frontend/plan/conditions.h"
#include "sql-lite-frontend/plan/cost.h"
#include "sql-lite-frontend/plan/index_match.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Kind = IndexCondition::Kind;

/// Returns the first text after all those that begin with `prefix`; empty: there is none.
std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

void set_bound(IndexBounds& bounds, Kind kind, ExprPtr value) {
  const bool is_low = kind == Kind::more || kind == Kind::at_least;
  const auto bound = kind == Kind::more || kind == Kind::less ? ScanRange::Bound::exclusive
                                                              : ScanRange::Bound::inclusive;
  (is_low ? bounds.low : bounds.high) = std::move(value);
  (is_low ? bounds.low_bound : bounds.high_bound) = bound;
}

/// Entries of an index that is not unique are ordered by the row's key after its own columns.
enum class OrderedKey : std::uint8_t { column, other, nothing_left };

/// Compares `operand` with column `at` of the row's key, the order of entries with equal columns.
OrderedKey row_key_order(const FromTable& table, const IndexAccess& index, std::size_t at,
                         const Expr& operand) {
  const Table& of = *table.table;
  if (index.index->unique || of.has_row_ids()) return OrderedKey::other;
  if (at >= of.key_positions.size()) return OrderedKey::nothing_left;
  const SlotExpr* column = as_column(operand);
  const auto slot = table.first_slot + static_cast<Slot>(of.key_positions[at]);
  const bool is_ascending = of.key_columns[at].direction == SortDirection::ascending;
  const bool has_order = same_keys(of.key_columns[at].type, operand.type());
  return column != nullptr && column->slot() == slot && is_ascending && has_order
             ? OrderedKey::column
             : OrderedKey::other;
}

}  // namespace

namespace {

/// Ignores the collation.
bool is_column_of_index(const FromTable& table, const IndexAccess& index, std::size_t at,
                        const ExprPtr& expression, const Expr& operand) {
  const auto* collate = dynamic_cast<const CollateExpr*>(&operand);
  const Expr& plain = collate != nullptr ? collate->operand() : operand;
  if (expression) return same_expression(*expression, plain);
  const SlotExpr* column = as_column(plain);
  const auto position = static_cast<Slot>(index.index->columns[at].column - 1);
  return column != nullptr && column->slot() == table.first_slot + position;
}

}  // namespace

bool is_index_column(const FromTable& table, const IndexAccess& index, std::size_t at,
                     const ExprPtr& expression, const Expr& operand) {
  // An index under another collation has another order.
  return (index.is_inverted() || same_keys(index.columns[at].type, operand.type())) &&
         is_column_of_index(table, index, at, expression, operand);
}

std::vector<Slot> table_slots(const FromTable& table) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    slots.push_back(table.first_slot + static_cast<Slot>(i));
  }
  if (table.row_id_slot) slots.push_back(*table.row_id_slot);
  return slots;
}

std::vector<std::size_t> AccessPath::answered() const {
  std::vector<std::size_t> list = equal;
  for (const auto& one : {any_of, alternatives, low, high, not_null}) {
    if (one) list.push_back(*one);
  }
  return list;
}

/// Looking at an expression is not reading its columns.
ExprPtr AccessPaths::bind(const FromTable& table, std::string_view sql, Clause clause) {
  std::vector<Slot> unused = table_slots(table);
  std::erase_if(unused, [&](Slot slot) { return binder_.is_used(slot); });
  ExprPtr expr = binder_.bind_table_expression(sql, *table.table, table.first_slot, clause);
  for (const Slot slot : unused) binder_.mark_unused(slot);
  return expr;
}

const AccessPaths::BoundIndex& AccessPaths::bound(const FromTable& table, const Index& index) {
  const auto [at, is_new] = bound_.try_emplace({table.first_slot, &index});
  BoundIndex& made = at->second;
  if (!is_new) return made;
  try {
    for (const IndexColumn& column : index.columns) {
      made.columns.push_back(column.column != 0
                                 ? nullptr
                                 : bind(table, column.expression_sql, Clause::index_expression));
    }
    if (!index.predicate_sql.empty()) {
      made.predicate.push_back(bind(table, index.predicate_sql, Clause::index_predicate));
      split_conjunctions(made.predicate);
    }
  } catch (const SqlError& error) {
    // A damaged definition disables the index: the table is read without it.
    if (!is_about_definition(error.state())) throw;
    made.is_readable = false;
  }
  return made;
}

bool AccessPaths::is_allowed(std::string_view setting) const {
  return binder_.names().planner_allows(setting);
}

/// True if reading the whole table takes longer than planning the statement again.
bool AccessPaths::is_worth_planning(const FromTable& table) {
  constexpr double kRowsReadMeanwhile = 5000;
  return table.table->expected_rows() >= kRowsReadMeanwhile;
}

/// Matches conditions to the index's columns; nothing when a partial index may lack rows.
std::optional<AccessPath> AccessPaths::path_over(const FromTable& table, const IndexAccess& index,
                                                 std::span<Expr* const> conditions) {
  const BoundIndex& in = bound(table, *index.index);
  if (!in.is_readable) return std::nullopt;
  const std::vector<Slot> own = table_slots(table);
  Follows all = Follows::yes;
  for (const ExprPtr& wanted : in.predicate) {
    all = std::min(all, follows(*wanted, conditions, own, known_));
  }
  if (all != Follows::yes) {
    awaits_values_ |= all == Follows::by_values;
    return std::nullopt;
  }

  AccessPath path;
  path.index = &index;
  path.is_partial = !in.predicate.empty();
  if (index.is_inverted()) {
    match_elements(table, in, conditions, path);
    if (path.of_elements.empty()) return std::nullopt;
    return path;
  }
  if (index.index->method == IndexMethod::ranges) {
    match_range(table, in, conditions, path);
    if (!path.of_range) return std::nullopt;
    return path;
  }
  std::vector<bool> used(conditions.size(), false);
  const auto find = [&](std::size_t column, auto... kinds) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const auto known = used[i] ? std::nullopt : as_index_condition(*conditions[i], own);
      if (known && ((known->kind == kinds) || ...) &&
          is_index_column(table, index, column, in.columns[column], *known->operand)) {
        used[i] = true;
        return i;
      }
    }
    return std::nullopt;
  };
  std::size_t column = 0;
  const std::size_t columns = index.index->columns.size();
  for (; column < columns; ++column) {
    const auto equal = find(column, Kind::equal);
    if (!equal) break;
    path.equal.push_back(*equal);
  }
  if (column == columns) {
    path.one_row = index.index->unique;
    return path;
  }
  path.any_of = find(column, Kind::any_of);
  if (path.any_of && ++column == columns) return path;
  path.low = find(column, Kind::more, Kind::at_least);
  path.high = find(column, Kind::less, Kind::at_most);
  if (path.low || path.high || path.any_of) return path;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (const auto found = as_alternatives(*conditions[i], own)) {
      if (!is_index_column(table, index, column, in.columns[column], *found->operand)) continue;
      path.alternatives = i;
      return path;
    }
    const LikeOperands like = like_operands(*conditions[i]);
    // LIKE compares bytes under any collation.
    if (like.column == nullptr || base_type(like.column->type()) == TypeId::bpchar ||
        !same_keys(index.columns[column].type, TypeId::text) ||
        !is_column_of_index(table, index, column, in.columns[column], *like.column)) {
      continue;
    }
    const auto prefix = like_prefix(*conditions[i], known_);
    if (prefix && !prefix->prefix.empty()) {
      path.prefix = i;
      return path;
    }
    awaits_values_ |= known_.awaits_values(*like.pattern);
  }
  path.not_null = find(column, Kind::not_null);
  return path;
}

namespace {

/// True if the index's keys hold the column's values: keys under a collation may hold other bytes.
bool keeps_values(std::span<const IndexColumn> columns, std::span<const KeyColumn> keys,
                  std::size_t position) {
  const auto number = static_cast<std::int16_t>(position + 1);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].column == number && !key_keeps_value(keys[i].type)) return false;
  }
  return true;
}

}  // namespace

/// True if the index's entries hold every column that the statement reads of the table.
bool AccessPaths::is_covered(const FromTable& table, const IndexAccess& index) const {
  if (!index.tree || !is_allowed("enable_indexonlyscan")) return false;
  if (table.row_id_slot && binder_.is_used(*table.row_id_slot)) return false;
  for (std::size_t i = 0; i < table.table->relation.columns.size(); ++i) {
    if (!binder_.is_used(table.first_slot + static_cast<Slot>(i))) continue;
    const Column& column = table.table->relation.columns[i];
    const Index* key_of_rows = table.table->row_order();
    if (!key_keeps_value(column.type) || !keeps_values(index.index->columns, index.columns, i) ||
        (key_of_rows != nullptr &&
         !keeps_values(key_of_rows->columns, table.table->key_columns, i))) {
      return false;
    }
    const auto number = static_cast<std::int16_t>(i + 1);
    const bool in_index = std::ranges::find(index.index->columns, number, &IndexColumn::column) !=
                          index.index->columns.end();
    const auto& key = table.table->key_positions;
    if (!in_index && std::ranges::find(key, i) == key.end()) return false;
  }
  return true;
}

void AccessPaths::set_cost(const FromTable& table, AccessPath& path,
                           std::span<Expr* const> conditions) {
  const double total = table.table->expected_rows();
  std::vector<Expr*> bounding;
  const std::vector<std::size_t> answered = path.answered();
  for (const std::size_t i : answered) bounding.push_back(conditions[i]);
  if (path.prefix) bounding.push_back(conditions[*path.prefix]);
  for (const AccessPath::OfElements& one : path.of_elements) {
    bounding.push_back(conditions[one.condition]);
  }
  if (path.of_range) bounding.push_back(conditions[*path.of_range]);
  if (path.is_partial) {
    for (const ExprPtr& part : bound(table, *path.index->index).predicate) {
      bounding.push_back(part.get());
    }
  }
  const double share = selectivity(std::span<Expr* const>{bounding}, known_);
  path.rows = std::max(1.0, total * selectivity(conditions, known_));
  path.matched = path.one_row ? 1 : std::max(1.0, total * share);
  if (path.one_row) path.rows = std::min(path.rows, 1.0);
  const double asked = cost::kCondition * static_cast<double>(conditions.size() - answered.size());
  if (!path.is_bounded()) {
    const double rows = std::max(total, cost::kFewRows);
    double each = cost::kRow;
    if (path.index != nullptr && path.index->tree) {
      each = path.only_index ? cost::kIndexOnlyRow : cost::kIndexRow + cost::kLookup;
    }
    path.cost = rows * (each + asked);
    if (path.index == nullptr && !is_allowed("enable_seqscan")) path.cost += cost::kDisabled;
    return;
  }
  double each = cost::kRow;
  double descents = 1;
  if (path.index->tree) {
    each = path.only_index ? cost::kIndexOnlyRow : cost::kIndexRow + cost::kLookup;
  }
  if (path.any_of) {
    const auto* array = dynamic_cast<const ArrayExpr*>(
        dynamic_cast<const ArrayComparisonExpr&>(*conditions[*path.any_of]).operands()[1].get());
    descents = array != nullptr ? static_cast<double>(array->operands().size()) : 10;
  }
  descents += static_cast<double>(path.of_elements.size()) * cost::kElements;
  if (path.of_range) descents += cost::kRangeClasses;
  path.cost = descents * cost::kDescent + path.matched * (each + asked);
  if (!is_allowed("enable_indexscan") && !path.one_row) path.cost += cost::kDisabled;
}

bool AccessPaths::delivers(const FromTable& table, AccessPath& path,
                           const std::vector<SortKey>& keys) {
  if (keys.empty()) return false;
  if (path.one_row) return true;
  if (path.index == nullptr) return false;
  const IndexAccess& index = *path.index;
  const BoundIndex& in = bound(table, *index.index);
  // Columns that equal one value each do not matter for the order.
  const std::size_t fixed = path.equal.size();
  std::size_t at = fixed;
  bool forward = true;
  for (const SortKey& key : keys) {
    bool is_fixed = false;
    for (std::size_t i = 0; i < fixed; ++i) {
      is_fixed |= is_index_column(table, index, i, in.columns[i], *key.expr);
    }
    if (is_fixed) continue;
    if (at >= index.columns.size()) {
      // The whole key of the rows determines the row, so further columns order nothing.
      if (index.index->orders_rows()) break;
      const OrderedKey rest = row_key_order(table, index, at - index.columns.size(), *key.expr);
      if (rest == OrderedKey::nothing_left) break;
      const bool is_forward = key.direction == SortDirection::ascending;
      if (at == fixed) forward = is_forward;
      if (rest == OrderedKey::other || is_forward != forward) return false;
      ++at;
      continue;
    }
    if (!is_index_column(table, index, at, in.columns[at], *key.expr)) return false;
    const bool same = key.direction == index.columns[at].direction;
    const bool nulls_same = key.nulls == index.columns[at].nulls;
    const std::int16_t number = index.index->columns[at].column;
    const bool never_null =
        (number != 0 && static_cast<std::size_t>(number) <= table.table->relation.columns.size() &&
         table.table->relation.columns[static_cast<std::size_t>(number - 1)].never_null()) ||
        (at == fixed && path.not_null);
    if (at == fixed) forward = same;
    if (same != forward || (nulls_same != forward && !never_null)) return false;
    ++at;
  }
  path.direction = forward ? Direction::forward : Direction::backward;
  return true;
}

/// True if the path may find a few rows or nearly all, depending on a parameter's value.
bool AccessPaths::is_guess(const FromTable& table, const AccessPath& path,
                           std::span<Expr* const> conditions) const {
  const bool is_open = path.low.has_value() != path.high.has_value();
  if (!is_open || path.any_of || !path.index->tree || !is_worth_planning(table)) return false;
  Expr& value =
      **as_index_condition(*conditions[path.low ? *path.low : *path.high], table_slots(table))
            ->value;
  bool has_parameter = false;
  walk(value,
       [&](Expr& part) { has_parameter |= dynamic_cast<const ParameterExpr*>(&part) != nullptr; });
  return has_parameter && !known_.foreseen(value);
}

AccessPath AccessPaths::best(const FromTable& table, std::span<Expr* const> conditions,
                             const WantedOrder* order, Identity identity) {
  if (table.partitions) return best_of_partitions(table, conditions, order, identity);
  const bool wants_order = order != nullptr && order->keys != nullptr && !order->keys->empty();
  AccessPath best;
  set_cost(table, best, conditions);
  const double sorting = is_allowed("enable_sort") ? 0 : cost::kDisabled;
  const auto total_cost = [&](const AccessPath& path) {
    if (!wants_order) return path.cost;
    if (!path.ordered) {
      return path.cost + (order->otherwise_each ? path.rows * *order->otherwise_each
                                                : sorting + cost::sort(path.rows, order->rows));
    }
    return path.cost * std::min(1.0, order->rows / std::max(1.0, path.rows)) + cost::kDescent;
  };
  double best_cost = total_cost(best);
  bool passes_over = false;
  awaits_values_ = false;
  const auto consider = [&](const IndexAccess& index) {
    if (!index.index->is_valid()) return;
    std::optional<AccessPath> path = path_over(table, index, conditions);
    // An index built after the snapshot may lack rows that the snapshot shows.
    if (!path || !binder_.names().may_read(index)) return;
    const bool is_ordered = !index.is_inverted() && index.index->method != IndexMethod::ranges;
    path->only_index = is_ordered && identity == Identity::none && is_covered(table, index);
    path->ordered = is_ordered && wants_order && delivers(table, *path, *order->keys);
    // An index as a whole is worth reading where rows are only counted.
    const bool is_of_use =
        path->is_bounded() || path->ordered ||
        (path->only_index && std::ranges::none_of(table_slots(table), [&](Slot slot) {
           return binder_.is_used(slot);
         }));
    if (!is_of_use) return;
    set_cost(table, *path, conditions);
    const double path_cost = total_cost(*path);
    // A row is found by its whole key at once, whatever the table's expected size.
    const bool is_better = best.one_row == path->one_row ? path_cost < best_cost : path->one_row;
    if (!is_better) {
      passes_over = passes_over || is_guess(table, *path, conditions);
      return;
    }
    best_cost = path_cost;
    best = std::move(*path);
  };
  for (const IndexAccess& index : table.table->indexes) consider(index);
  if (table.row_id_slot && binder_.is_used(*table.row_id_slot)) consider(*table.table->row_ids);
  passes_over = passes_over || (awaits_values_ && is_worth_planning(table));
  guesses_parameters_ |= passes_over && !best.one_row;
  return best;
}

AccessPaths::Taken AccessPaths::take(const FromTable& table, const AccessPath& path,
                                     std::vector<ExprPtr>& conditions) {
  Taken taken;
  if (!path.of_elements.empty()) {
    take_elements(table, path, conditions, taken);
    return taken;
  }
  if (path.of_range) {
    take_range(table, path, conditions, taken);
    return taken;
  }
  IndexBounds& bounds = taken.bounds;
  bounds.index = path.index;
  bounds.only_index = path.only_index;
  const std::vector<Slot> own = table_slots(table);
  const std::vector<std::size_t> answered = path.answered();
  for (const std::size_t i : answered) {
    if (!taken.text.empty()) taken.text += " AND ";
    taken.text += describe_at(table.alias, *conditions[i]);
  }
  if (answered.size() > 1) taken.text = "(" + taken.text + ")";
  if (path.prefix) {
    const LikePrefix like = *like_prefix(*conditions[*path.prefix], known_);
    const auto text = [&](const std::string& bytes) {
      return std::make_unique<ConstantExpr>(TypeId::text, kNoTypmod,
                                            make_text(binder_.arena(), bytes));
    };
    const std::string end = after_prefix(like.prefix);
    if (!taken.text.empty()) taken.text += " AND ";
    taken.text += "((" + describe_at(table.alias, *like.column) +
                  " >= " + describe_at(table.alias, *text(like.prefix)) + ") AND (" +
                  describe_at(table.alias, *like.column) + " < " +
                  describe_at(table.alias, *text(end)) + "))";
    set_bound(bounds, Kind::at_least, text(like.prefix));
    if (!end.empty()) set_bound(bounds, Kind::less, text(end));
  }
  for (const std::size_t i : path.equal) {
    bounds.equal.push_back(std::move(*as_index_condition(*conditions[i], own)->value));
  }
  if (path.any_of) {
    bounds.any_of = std::move(*as_index_condition(*conditions[*path.any_of], own)->value);
  }
  for (const auto& bound : {path.low, path.high}) {
    if (!bound) continue;
    const IndexCondition known = *as_index_condition(*conditions[*bound], own);
    set_bound(bounds, known.kind, std::move(*known.value));
  }
  if (path.alternatives) {
    const Alternatives found = *as_alternatives(*conditions[*path.alternatives], own);
    for (const auto& branch : found.branches) {
      IndexBounds::Alternative alternative;
      for (const IndexCondition& part : branch) {
        if (part.kind == Kind::equal) {
          alternative.equal = std::move(*part.value);
          continue;
        }
        IndexBounds one;
        set_bound(one, part.kind, std::move(*part.value));
        if (one.low) {
          alternative.low = std::move(one.low);
          alternative.low_bound = one.low_bound;
        }
        if (one.high) {
          alternative.high = std::move(one.high);
          alternative.high_bound = one.high_bound;
        }
      }
      bounds.alternatives.push_back(std::move(alternative));
    }
  }
  bounds.not_null = path.not_null.has_value();
  std::vector<std::size_t> gone = answered;
  std::ranges::sort(gone, std::greater{});
  for (const std::size_t i : gone) {
    conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return taken;
}

}  // namespace swizzle::sql
