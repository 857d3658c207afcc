#include "sql-lite-frontend/execute/join_operators.h"

#include <algorithm>

namespace swizzle::sql {
namespace {

std::string_view kind_name(JoinKind kind) {
  switch (kind) {
    case JoinKind::inner:
      return "";
    case JoinKind::left:
      return " Left";
    case JoinKind::right:
      return " Right";
    case JoinKind::full:
      return " Full";
    case JoinKind::semi:
      return " Semi";
    case JoinKind::anti:
      return " Anti";
  }
  return "";
}

std::vector<TypeId> types_of(std::span<const ExprPtr> exprs) {
  std::vector<TypeId> types;
  for (const ExprPtr& expr : exprs) types.push_back(expr->type());
  return types;
}

void set_null(Execution& execution, std::span<const Slot> slots) {
  for (const Slot slot : slots) execution.slots[slot] = Value::null();
}

bool all_hold(std::span<const ExprPtr> conditions, Execution& execution) {
  return std::ranges::all_of(
      conditions, [&](const ExprPtr& condition) { return holds(*condition, execution); });
}

std::vector<Slot> joined_slots(const PlanOperator& left, const PlanOperator& right, JoinKind kind) {
  std::vector<Slot> slots = left.output_slots();
  if (kind == JoinKind::semi || kind == JoinKind::anti) return slots;
  const std::vector<Slot> more = right.output_slots();
  slots.insert(slots.end(), more.begin(), more.end());
  return slots;
}

}  // namespace

NestedLoop::NestedLoop(JoinKind kind, PlanPtr outer, PlanPtr inner, std::vector<ExprPtr> conditions)
    : kind_(kind),
      outer_(std::move(outer)),
      inner_(std::move(inner)),
      conditions_(std::move(conditions)),
      inner_slots_(inner_->output_slots()) {}

void NestedLoop::open(Execution& execution) {
  in_outer_row_ = false;
  outer_->open(execution);
}

bool NestedLoop::matches(Execution& execution) const {
  return all_hold(conditions_, execution);
}

bool NestedLoop::next(Execution& execution) {
  for (;;) {
    if (!in_outer_row_) {
      if (!outer_->next(execution)) return false;
      inner_->open(execution);
      in_outer_row_ = true;
      matched_ = false;
    }
    // What inner rows make is dropped when they do not match; the outer row's values lie before.
    const Arena::Mark mark = execution.row_arena.mark();
    while (inner_->next(execution)) {
      if (!matches(execution)) {
        execution.row_arena.rewind(mark);
        continue;
      }
      matched_ = true;
      if (kind_ == JoinKind::anti) break;
      if (kind_ == JoinKind::semi) in_outer_row_ = false;
      return true;
    }
    in_outer_row_ = false;
    if (!matched_ && (kind_ == JoinKind::left || kind_ == JoinKind::anti)) {
      set_null(execution, inner_slots_);
      return true;
    }
  }
}

void NestedLoop::close() {
  outer_->close();
  inner_->close();
}

std::vector<Slot> NestedLoop::output_slots() const {
  return joined_slots(*outer_, *inner_, kind_);
}

PlanNote NestedLoop::note() const {
  PlanNote note{"Nested Loop", {}};
  if (kind_ != JoinKind::inner) note.title += std::string{kind_name(kind_)} + " Join";
  if (!conditions_.empty()) note.properties.emplace_back("Join Filter", describe(conditions_));
  return note;
}

HashJoin::HashJoin(JoinKind kind, PlanPtr probe, PlanPtr build, Keys keys,
                   std::vector<ExprPtr> conditions)
    : kind_(kind),
      probe_(std::move(probe)),
      build_(std::move(build)),
      keys_(std::move(keys)),
      conditions_(std::move(conditions)),
      writer_(types_of(keys_.build)) {}

bool HashJoin::write_key(Execution& execution, std::span<const ExprPtr> exprs) {
  writer_.clear();
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const Value value = exprs[i]->eval(execution);
    if (value.is_null()) return false;
    writer_.add(i, value);
  }
  return true;
}

void HashJoin::fill(Execution& execution) {
  const bool keeps_build = kind_ == JoinKind::right || kind_ == JoinKind::full;
  table_.clear();
  previous_.clear();
  store_.clear();
  store_.set_slots(build_->output_slots());
  build_->open(execution);
  RowScope scope{execution};
  while (build_->next(execution)) {
    const bool has_key = write_key(execution, keys_.build);
    if (has_key || keeps_build) {
      const auto row = static_cast<std::uint32_t>(store_.keep(execution));
      previous_.push_back(kNone);
      if (has_key) {
        std::uint32_t& last = table_[writer_.key()];
        previous_[row] = last == KeyTable::kAbsent ? kNone : last;
        last = row;
      }
    }
    scope.rewind();
  }
  build_->close();
  row_matched_.assign(keeps_build ? store_.size() : 0, false);
}

void HashJoin::open(Execution& execution) {
  fill(execution);
  in_probe_row_ = false;
  probing_ = true;
  unmatched_ = 0;
  probe_->open(execution);
}

bool HashJoin::next_match(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (candidate_ != kNone) {
    const std::uint32_t row = candidate_;
    candidate_ = previous_[row];
    store_.restore(execution, row);
    if (!all_hold(conditions_, execution)) {
      execution.row_arena.rewind(mark);
      continue;
    }
    if (!row_matched_.empty()) row_matched_[row] = true;
    return true;
  }
  return false;
}

bool HashJoin::next_unmatched(Execution& execution) {
  while (unmatched_ < row_matched_.size()) {
    const std::size_t row = unmatched_++;
    if (row_matched_[row]) continue;
    set_null(execution, probe_->output_slots());
    store_.restore(execution, row);
    return true;
  }
  return false;
}

bool HashJoin::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (probing_) {
    if (!in_probe_row_) {
      execution.row_arena.rewind(mark);
      if (!probe_->next(execution)) {
        probing_ = false;
        break;
      }
      candidate_ = kNone;
      if (write_key(execution, keys_.probe)) {
        const std::uint32_t found = table_.find(writer_.key());
        candidate_ = found == KeyTable::kAbsent ? kNone : found;
      }
      in_probe_row_ = true;
      matched_ = false;
    }
    if (next_match(execution)) {
      matched_ = true;
      if (kind_ == JoinKind::anti) {
        in_probe_row_ = false;
        continue;
      }
      if (kind_ == JoinKind::semi) in_probe_row_ = false;
      return true;
    }
    in_probe_row_ = false;
    const bool keeps_probe =
        kind_ == JoinKind::left || kind_ == JoinKind::full || kind_ == JoinKind::anti;
    if (!matched_ && keeps_probe) {
      set_null(execution, store_.slots());
      return true;
    }
  }
  return next_unmatched(execution);
}

void HashJoin::close() {
  probe_->close();
  build_->close();
  store_.clear();
  table_.clear();
}

std::vector<Slot> HashJoin::output_slots() const {
  return joined_slots(*probe_, *build_, kind_);
}

PlanNote HashJoin::note() const {
  PlanNote note{"Hash", {}};
  note.title += std::string{kind_name(kind_)} + " Join";
  std::string keys;
  for (std::size_t i = 0; i < keys_.probe.size(); ++i) {
    if (i > 0) keys += " AND ";
    keys += "(" + describe(*keys_.probe[i]) + " = " + describe(*keys_.build[i]) + ")";
  }
  note.properties.emplace_back("Hash Cond", keys);
  if (!conditions_.empty()) note.properties.emplace_back("Join Filter", describe(conditions_));
  return note;
}

}  // namespace swizzle::sql
