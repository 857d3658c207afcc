#include "sql-lite-frontend/execution/grouping/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sql-lite-frontend/execution/steps/step_copies.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

Window::Window(PlanPtr input, std::vector<SortKey> partition, std::vector<SortKey> order,
               WindowFrame frame, std::vector<WindowCall> calls)
    : input_(std::move(input)),
      partition_keys_(std::move(partition)),
      order_keys_(std::move(order)),
      frame_(std::move(frame)),
      calls_(std::move(calls)),
      partition_comparison_(*partition_keys_),
      order_comparison_(*order_keys_) {}

Window::Window(const Window& of, StepCopies& copies)
    : input_(copies.copy(of.input_)),
      partition_keys_(of.partition_keys_),
      order_keys_(of.order_keys_),
      frame_(of.frame_),
      calls_(of.calls_),
      partition_comparison_(of.partition_comparison_),
      order_comparison_(of.order_comparison_) {}

void Window::open(Execution& execution) {
  count_in(range_keys_, execution.memory);
  count_in(results_, execution.memory);
  results_arena_.count_in(execution.memory);
  keys_arena_.count_in(execution.memory);
  groups_.count_in(execution.memory);
  const std::vector<Slot> slots = input_->output_slots();
  store_.set_slots(slots);
  ahead_.set_slots(slots);
  close();
  checked_offsets_ = false;
  input_->open(execution);
}

bool Window::next_input(Execution& execution) {
  if (!std::exchange(has_ahead_, false)) return input_->next(execution);
  ahead_.restore(execution, 0);
  return true;
}

Window::Row Window::classify(Execution& execution, bool is_first) {
  new_keys_.clear();
  for (const auto* list : {&partition_keys_, &order_keys_}) {
    for (const SortKey& key : *list) new_keys_.push_back(key.expr->eval(execution));
  }
  const std::size_t skip = partition_keys_.size();
  const bool is_same_partition =
      !is_first && partition_comparison_(keys_.data(), new_keys_.data()) == 0;
  if (is_same_partition && order_comparison_(keys_.data() + skip, new_keys_.data() + skip) == 0) {
    return Row::peer;
  }
  keys_arena_.reset();
  keys_.clear();
  for (const Value& key : new_keys_) keys_.push_back(key.copy_to(keys_arena_));
  return is_same_partition ? Row::first_of_peers : Row::first_of_partition;
}

bool Window::next_partition(Execution& execution) {
  store_.clear();
  range_keys_.clear();
  results_arena_.reset();
  position_ = 0;
  groups_.begin(0);
  {
    RowScope scope{execution};
    while (next_input(execution)) {
      const Row row = classify(execution, store_.size() == 0);
      if (row == Row::first_of_partition && store_.size() > 0) {
        ahead_.clear();
        ahead_.keep(execution);
        has_ahead_ = true;
        break;
      }
      groups_.add(row == Row::peer);
      if (frame_->range) {
        range_keys_.push_back(frame_->range->key->eval(execution).copy_to(store_.arena(execution)));
      }
      store_.keep(execution);
      scope.rewind();
    }
  }
  results_.assign(store_.size() * calls_.size(), Value{});
  if (store_.size() == 0) return false;
  if (!std::exchange(checked_offsets_, true)) check_range_offsets(execution);
  find_range_keys();
  compute_partition(execution, {0, store_.size()});
  return true;
}

void Window::find_range_keys() {
  if (!frame_->range) return;
  with_range_key_ = {0, store_.size()};
  Places& keyed = with_range_key_;
  while (keyed.begin < keyed.end && range_keys_[keyed.begin].is_null()) ++keyed.begin;
  while (keyed.begin < keyed.end && range_keys_[keyed.end - 1].is_null()) --keyed.end;
}

namespace {

/// True if the result depends on more than the row's position among its peers.
bool reads_row(WindowFunctionKind kind) noexcept {
  switch (kind) {
    case WindowFunctionKind::row_number:
    case WindowFunctionKind::rank:
    case WindowFunctionKind::dense_rank:
    case WindowFunctionKind::percent_rank:
    case WindowFunctionKind::cume_dist:
      return false;
    default:
      return true;
  }
}

}  // namespace

void Window::compute_partition(Execution& execution, Places partition) {
  RowScope scope{execution};
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    if (calls_[call].kind == WindowFunctionKind::aggregate) {
      compute_aggregate(execution, partition, call);
      continue;
    }
    for (std::size_t place = partition.begin; place < partition.end; ++place) {
      execution.tick();
      if (reads_row(calls_[call].kind)) store_.restore(execution, place);
      results_[place * calls_.size() + call] =
          compute(execution, partition, place, calls_[call]).copy_to(results_arena_);
      scope.rewind();
    }
  }
}

namespace {

std::size_t frame_offset(Execution& execution, const ExprPtr& expr, std::string_view which) {
  const Value value = expr->eval(execution);
  if (value.is_null()) {
    throw_error(sqlstate::null_value_not_allowed, "frame {} offset must not be null", which);
  }
  if (value.as_int8() < 0) {
    throw_error(SqlState{"22013"}, "frame {} offset must not be negative", which);
  }
  return static_cast<std::size_t>(value.as_int8());
}

}  // namespace

namespace {

bool is_nan(TypeId type, const Value& value) {
  if (type == TypeId::float8) return std::isnan(value.as_float8());
  if (type == TypeId::float4) return std::isnan(value.as_float4());
  return type == TypeId::numeric && numeric_is_nan(value);
}

Value infinity_of(Execution& execution, TypeId type, int sign) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (type == TypeId::float8) return Value::from_float8(sign * kInfinity);
  if (type == TypeId::float4) return Value::from_float4(static_cast<float>(sign * kInfinity));
  return numeric_infinity(execution.row_arena, sign);
}

}  // namespace

/// Returns the first row position within a RANGE bound, or, for the frame's end, the first one
/// after it. Rows with a NULL key are peers only of each other.
std::size_t Window::find_in_range(Execution& execution, const Expr& bound, std::size_t place,
                                  bool is_end) const {
  if (range_keys_[place].is_null()) {
    const Places peers = groups_.peers_of(place);
    return is_end ? peers.end : peers.begin;
  }
  Value limit = bound.eval(execution);
  const TypeId type = frame_->range->key->type();
  const bool descends = order_keys_[0].direction == SortDirection::descending;
  // Infinity minus infinity: every number is within such a bound.
  if (is_nan(type, limit) && !is_nan(type, range_keys_[place])) {
    limit = infinity_of(execution, type, is_end == descends ? -1 : 1);
  }
  std::size_t low = with_range_key_.begin;
  std::size_t high = with_range_key_.end;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    int order = compare_values(type, range_keys_[middle], limit);
    if (descends) order = -order;
    const bool is_before = is_end ? order <= 0 : order < 0;
    if (is_before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t Window::frame_begin(Execution& execution, Places partition, std::size_t place) const {
  using Bound = WindowFrame::Bound;
  const bool rows = frame_->unit == WindowFrame::Unit::rows;
  switch (frame_->start) {
    case Bound::unbounded_preceding:
    case Bound::unbounded_following:
      return partition.begin;
    case Bound::current_row:
      return rows ? place : groups_.peers_of(place).begin;
    case Bound::preceding:
    case Bound::following:
      break;
  }
  if (frame_->unit == WindowFrame::Unit::range) {
    return find_in_range(execution, *frame_->range->start, place, false);
  }
  const bool back = frame_->start == Bound::preceding;
  const std::size_t offset = frame_offset(execution, frame_->start_offset, "starting");
  if (rows) {
    if (back) return place - partition.begin > offset ? place - offset : partition.begin;
    return partition.end - place > offset ? place + offset : partition.end;
  }
  const std::size_t group = groups_.of(place);
  if (back) return groups_.places(group > offset ? group - offset : 0).begin;
  return groups_.count() - group > offset ? groups_.places(group + offset).begin : partition.end;
}

std::size_t Window::frame_end(Execution& execution, Places partition, std::size_t place) const {
  using Bound = WindowFrame::Bound;
  const bool rows = frame_->unit == WindowFrame::Unit::rows;
  switch (frame_->end) {
    case Bound::unbounded_preceding:
    case Bound::unbounded_following:
      return partition.end;
    case Bound::current_row:
      return rows ? place + 1 : groups_.peers_of(place).end;
    case Bound::preceding:
    case Bound::following:
      break;
  }
  if (frame_->unit == WindowFrame::Unit::range) {
    return find_in_range(execution, *frame_->range->end, place, true);
  }
  const bool back = frame_->end == Bound::preceding;
  const std::size_t offset = frame_offset(execution, frame_->end_offset, "ending");
  if (rows) {
    if (back) return place + 1 - partition.begin > offset ? place + 1 - offset : partition.begin;
    return partition.end - place > offset ? place + 1 + offset : partition.end;
  }
  const std::size_t group = groups_.of(place);
  if (back) return group >= offset ? groups_.places(group - offset).end : partition.begin;
  return groups_.count() - group > offset ? groups_.places(group + offset).end : partition.end;
}

FrameRows Window::frame_of(Execution& execution, Places partition, std::size_t place) const {
  FrameRows frame;
  frame.whole.begin = frame_begin(execution, partition, place);
  frame.whole.end = std::max(frame.whole.begin, frame_end(execution, partition, place));
  switch (frame_->exclusion) {
    case WindowFrame::Exclusion::nothing:
      break;
    case WindowFrame::Exclusion::current_row:
      frame.hole = {place, place + 1};
      break;
    case WindowFrame::Exclusion::ties:
      frame.kept = place;
      [[fallthrough]];
    case WindowFrame::Exclusion::group:
      frame.hole = groups_.peers_of(place);
      break;
  }
  return frame;
}

void Window::check_range_offsets(Execution& execution) const {
  if (!frame_->range) return;
  const auto check = [&](const ExprPtr& offset, const ExprPtr& is_negative,
                         std::string_view which) {
    if (!is_negative) return;
    if (offset->eval(execution).is_null()) {
      throw_error(sqlstate::null_value_not_allowed, "frame {} offset must not be null", which);
    }
    if (is_negative->eval(execution).as_bool()) {
      throw SqlError{SqlState{"22013"}, "invalid preceding or following size in window function"};
    }
  };
  check(frame_->start_offset, frame_->range->start_is_negative, "starting");
  check(frame_->end_offset, frame_->range->end_is_negative, "ending");
}

/// Reuses the aggregate state as long as the frame only grows at its end; otherwise aggregates
/// anew.
void Window::compute_aggregate(Execution& execution, Places partition, std::size_t index) {
  const AggregateCall& call = calls_[index].aggregate;
  AggregateStates states{call};
  states.count_in(execution.memory);
  std::size_t state = states.add();
  Places done{partition.begin, partition.begin};
  RowScope scope{execution};
  for (std::size_t place = partition.begin; place < partition.end; ++place) {
    store_.restore(execution, place);
    const FrameRows frame = frame_of(execution, partition, place);
    const bool goes_on = frame.whole.begin == done.begin && frame.whole.end >= done.end &&
                         frame_->exclusion == WindowFrame::Exclusion::nothing;
    if (!goes_on) {
      states.clear();
      state = states.add();
      done = {frame.whole.begin, frame.whole.begin};
    }
    for (; done.end < frame.whole.end; ++done.end) {
      execution.tick();
      if (!frame.has(done.end)) continue;
      store_.restore(execution, done.end);
      if (!call.filter || holds(*call.filter, execution)) states.step(execution, state);
      scope.rewind();
    }
    results_[place * calls_.size() + index] =
        states.finish(execution, state).copy_to(results_arena_);
    scope.rewind();
  }
}

/// lag and lead.
Value Window::shifted(Execution& execution, Places partition, std::size_t place,
                      const WindowCall& call) {
  std::int64_t offset = 1;
  if (call.arguments.size() > 1) {
    const Value value = call.arguments[1]->eval(execution);
    if (value.is_null()) return value;
    offset = value.as_int4();
  }
  if (call.kind == WindowFunctionKind::lag) offset = -offset;
  const std::int64_t target = static_cast<std::int64_t>(place) + offset;
  if (target < static_cast<std::int64_t>(partition.begin) ||
      target >= static_cast<std::int64_t>(partition.end)) {
    return call.arguments.size() > 2 ? call.arguments[2]->eval(execution) : Value::null();
  }
  store_.restore(execution, static_cast<std::size_t>(target));
  return call.arguments[0]->eval(execution);
}

Value Window::compute(Execution& execution, Places partition, std::size_t place,
                      const WindowCall& call) {
  const auto rows = static_cast<std::int64_t>(partition.end - partition.begin);
  const auto number = static_cast<std::int64_t>(place - partition.begin) + 1;
  switch (call.kind) {
    case WindowFunctionKind::row_number:
      return Value::from_int(number);
    case WindowFunctionKind::rank:
      return Value::from_int(
          static_cast<std::int64_t>(groups_.peers_of(place).begin - partition.begin) + 1);
    case WindowFunctionKind::dense_rank:
      return Value::from_int(static_cast<std::int64_t>(groups_.of(place)) + 1);
    case WindowFunctionKind::percent_rank: {
      if (rows == 1) return Value::from_float8(0);
      const auto rank = static_cast<double>(groups_.peers_of(place).begin - partition.begin);
      return Value::from_float8(rank / static_cast<double>(rows - 1));
    }
    case WindowFunctionKind::cume_dist:
      return Value::from_float8(static_cast<double>(groups_.peers_of(place).end - partition.begin) /
                                static_cast<double>(rows));
    case WindowFunctionKind::ntile: {
      const Value value = call.arguments[0]->eval(execution);
      if (value.is_null()) return value;
      const std::int64_t buckets = value.as_int4();
      if (buckets <= 0) {
        throw_error(SqlState{"22014"}, "argument of ntile must be greater than zero");
      }
      const std::int64_t small = rows / buckets;
      const std::int64_t larger = rows % buckets;
      const std::int64_t in_larger = larger * (small + 1);
      if (number <= in_larger) return Value::from_int((number - 1) / (small + 1) + 1);
      return Value::from_int(larger + (number - 1 - in_larger) / std::max<std::int64_t>(small, 1) +
                             1);
    }
    case WindowFunctionKind::lag:
    case WindowFunctionKind::lead:
      return shifted(execution, partition, place, call);
    case WindowFunctionKind::first_value:
    case WindowFunctionKind::last_value:
    case WindowFunctionKind::nth_value: {
      const FrameRows frame = frame_of(execution, partition, place);
      std::optional<std::size_t> target;
      if (call.kind == WindowFunctionKind::nth_value) {
        const Value nth = call.arguments[1]->eval(execution);
        if (nth.is_null()) return nth;
        if (nth.as_int4() <= 0) {
          throw_error(SqlState{"22016"}, "argument of nth_value must be greater than zero");
        }
        target = frame.nth(static_cast<std::size_t>(nth.as_int4()) - 1);
      } else {
        target = call.kind == WindowFunctionKind::last_value ? frame.last() : frame.nth(0);
      }
      if (!target) return Value::null();
      store_.restore(execution, *target);
      return call.arguments[0]->eval(execution);
    }
    case WindowFunctionKind::aggregate:
      break;
  }
  return Value::null();
}

bool Window::next(Execution& execution) {
  if (position_ == store_.size() && !next_partition(execution)) return false;
  execution.tick();
  store_.restore(execution, position_);
  for (std::size_t call = 0; call < calls_.size(); ++call) {
    execution.slots[calls_[call].slot] = results_[position_ * calls_.size() + call];
  }
  ++position_;
  return true;
}

void Window::close() {
  input_->close();
  store_.clear();
  ahead_.clear();
  has_ahead_ = false;
  clear_for_next_run(range_keys_);
  clear_for_next_run(results_);
  clear_for_next_run(results_arena_);
  groups_.release();
  position_ = 0;
}

std::vector<Slot> Window::output_slots() const {
  std::vector<Slot> slots = input_->output_slots();
  for (const WindowCall& call : calls_) slots.push_back(call.slot);
  return slots;
}

}  // namespace swizzle::sql
