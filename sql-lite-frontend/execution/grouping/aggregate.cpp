#include "sql-lite-frontend/execution/grouping/aggregate.h"

#include <algorithm>
#include <numeric>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/key_codec.h"

namespace swizzle::sql {

AggregateStates::AggregateStates(const AggregateCall& call)
    : call_(call), function_(call.function->aggregate), comparison_(call.order) {
  for (const ExprPtr& argument : call.arguments) argument_types_.push_back(argument->type());
  if (call.quantifier == AggregateCall::Quantifier::distinct) {
    distinct_ = std::make_unique<KeyWriter>(argument_types_);
  }
}

void AggregateStates::count_in(MemoryAccount* account) {
  sql::count_in(states_, account);
  sql::count_in(collected_, account);
  made_.count_in(account);
  arena_.count_in(account);
}

void AggregateStates::clear() {
  clear_for_next_run(states_);
  clear_for_next_run(collected_);
  made_.clear();
  clear_for_next_run(arena_);
  collected_bytes_ = 0;
}

void AggregateStates::release() {
  sql::release(states_);
  sql::release(collected_);
  made_.release();
  arena_.release();
  collected_bytes_ = 0;
}

std::size_t AggregateStates::add() {
  std::byte* state = nullptr;
  if (function_ != nullptr) {
    state = arena_.allocate(function_->state_bytes, 16);
    function_->init(state);
  } else {
    made_.add(*call_.made);
  }
  states_.push_back(state);
  if (distinct_ || !call_.order.empty()) collected_.emplace_back(arena_.account());
  return states_.size() - 1;
}

/// False when the row does not count because an argument is NULL.
bool AggregateStates::take_arguments(Execution& execution, std::vector<Value>& values) const {
  values.clear();
  for (const ExprPtr& argument : call_.arguments) {
    values.push_back(argument->eval(execution));
    if (values.back().is_null() && skips_nulls()) return false;
  }
  return true;
}

void AggregateStates::apply(Execution& execution, std::size_t state,
                            std::span<const Value> arguments) {
  if (function_ == nullptr) return made_.step(*call_.made, execution, state, arguments);
  execution.functions.call = {argument_types_, call_.result};
  function_->step(execution.functions, arena_, states_[state], arguments);
}

void AggregateStates::step(Execution& execution, std::size_t state) {
  if (!take_arguments(execution, arguments_)) return;
  if (collected_.empty()) {
    apply(execution, state, arguments_);
  } else {
    collect(execution, state, arguments_);
  }
}

void AggregateStates::collect(Execution& execution, std::size_t state,
                              std::span<const Value> arguments) {
  Collected& collected = collected_[state];
  const std::size_t held_before = collected.held_bytes();
  if (distinct_) {
    distinct_->clear();
    for (std::size_t i = 0; i < arguments.size(); ++i) distinct_->add(i, arguments[i]);
    std::uint32_t& seen = collected.seen[distinct_->key()];
    if (seen != KeyTable::kAbsent) return;
    seen = 1;
  }
  for (const Value& value : arguments) collected.values.push_back(value.copy_to(collected.arena));
  for (const SortKey& key : call_.order) {
    collected.values.push_back(key.expr->eval(execution).copy_to(collected.arena));
  }
  ++collected.rows;
  collected_bytes_ += collected.held_bytes() - held_before;
}

/// True if the result shows the order of distinct values. They are then sorted, since PostgreSQL
/// finds them by sorting.
bool AggregateStates::shows_order() const noexcept {
  const std::string_view name = call_.function->name;
  if (call_.made) return distinct_ != nullptr;
  return distinct_ && name != "count" && name != "min" && name != "max";
}

constexpr std::size_t kWorkOfPair = 10;

/// Rows as they are collected: arguments, then sort keys, which decide first.
bool AggregateStates::is_before(const Value* left, const Value* right) const {
  yield_point(kWorkOfPair);
  const std::size_t arguments = argument_types_.size();
  const int order = comparison_(left + arguments, right + arguments);
  if (order != 0 || !distinct_) return order < 0;
  for (std::size_t i = 0; i < arguments; ++i) {
    if (left[i].is_null() || right[i].is_null()) {
      if (left[i].is_null() != right[i].is_null()) return right[i].is_null();
      continue;
    }
    const int by_value = compare_values(argument_types_[i], left[i], right[i]);
    if (by_value != 0) return by_value < 0;
  }
  return false;
}

Value AggregateStates::finish(Execution& execution, std::size_t state) {
  execution.functions.call = {argument_types_, call_.result};
  if (!collected_.empty()) {
    Collected& collected = collected_[state];
    const std::size_t arguments = call_.arguments.size();
    const std::size_t width = arguments + call_.order.size();
    std::vector<std::uint32_t> order(collected.rows);
    std::iota(order.begin(), order.end(), 0U);
    const Value* values = collected.values.data();
    if (!call_.order.empty() || shows_order()) {
      std::ranges::stable_sort(order, [&](std::uint32_t left, std::uint32_t right) {
        return is_before(values + left * width, values + right * width);
      });
    }
    for (const std::uint32_t row : order) {
      execution.tick();
      apply(execution, state, {values + row * width, arguments});
    }
    collected.rows = 0;
  }
  if (function_ == nullptr) return made_.finish(*call_.made, execution, state);
  return function_->final(execution.functions, states_[state]);
}

namespace {

/// Returns the types of a group's key in the hash table: with several sets, the set's number, then
/// the keys.
std::vector<TypeId> key_types(std::span<const Aggregate::Key> keys, const GroupingSets& sets) {
  std::vector<TypeId> types;
  if (!sets.sets.empty()) types.push_back(TypeId::int4);
  for (const Aggregate::Key& key : keys) types.push_back(key.expr->type());
  return types;
}

}  // namespace

Aggregate::Aggregate(PlanPtr input, std::vector<Key> keys, std::vector<Slot> carried,
                     std::vector<AggregateCall> calls, Rows rows, GroupingSets sets)
    : input_(std::move(input)),
      input_slots_(input_->output_slots()),
      keys_(std::move(keys)),
      carried_(std::move(carried)),
      calls_(std::move(calls)),
      sets_(std::move(sets)),
      table_(key_types(*keys_, *sets_)),
      rows_(rows) {
  begin_states();
}

Aggregate::Aggregate(const Aggregate& of, StepCopies& copies)
    : input_(copies.copy(of.input_)),
      input_slots_(of.input_slots_),
      keys_(of.keys_),
      carried_(of.carried_),
      calls_(of.calls_),
      sets_(of.sets_),
      table_(key_types(*keys_, *sets_)),
      rows_(of.rows_) {
  begin_states();
}

void Aggregate::begin_states() {
  for (const Key& key : keys_) compare_.push_back(compare_function(key.expr->type()));
  first_of_next_.set_slots(input_slots_);
  states_.reserve(calls_.size());
  for (const AggregateCall& call : calls_) states_.emplace_back(call);
  std::vector<Slot> slots = carried_;
  for (const Key& key : keys_) slots.push_back(key.slot);
  later_slots_ = input_slots_;
  if (has_sets()) {
    slots.push_back(sets_->number);
    later_slots_.push_back(sets_->number);
  }
  groups_.set_slots(std::move(slots));
  for (const auto& set : sets_->sets) {
    std::vector<bool>& is_in = is_in_set_.emplace_back(keys_.size(), false);
    for (const std::uint32_t key : set) is_in[key] = true;
  }
  auto* scan = dynamic_cast<RangeAccess*>(input_.get());
  if (scan != nullptr && scan->reads_nothing() && only_counts()) counting_ = scan;
}

bool Aggregate::only_counts() const noexcept {
  return keys_.empty() && !has_sets() && carried_.empty() && !calls_.empty() &&
         std::ranges::all_of(calls_, [](const AggregateCall& call) {
           return !call.made && call.function->name == "count" && call.arguments.empty() &&
                  !call.filter;
         });
}

void Aggregate::add_group(Execution& execution) {
  groups_.keep(execution);
  for (AggregateStates& states : states_) states.add();
}

std::size_t Aggregate::held_bytes() const noexcept {
  std::size_t bytes = groups_.held_bytes() + table_.held_bytes();
  for (const AggregateStates& states : states_) bytes += states.held_bytes();
  return bytes;
}

bool Aggregate::is_full(const Execution& execution) const noexcept {
  const WorkMemory* memory = execution.memory;
  return memory->files != nullptr && groups_.size() > 0 && held_bytes() > memory->hash_bytes();
}

std::uint32_t Aggregate::group_of(Execution& execution, unsigned depth) {
  table_.start();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Value value = keys_[i].expr->eval(execution);
    execution.slots[keys_[i].slot] = value;
    table_.add(i, value);
  }
  const std::uint32_t known = table_.find();
  if (known != ValueTable::kAbsent) return known;
  if (is_full(execution)) {
    later_.add(execution, input_slots_, table_.key(), depth);
    return ValueTable::kAbsent;
  }
  const auto group = static_cast<std::uint32_t>(groups_.size());
  table_.place() = group;
  add_group(execution);
  return group;
}

std::uint32_t Aggregate::group_in_set(Execution& execution, std::size_t set, unsigned depth) {
  const std::vector<bool>& is_in = is_in_set_[set];
  const Value number = Value::from_int(static_cast<std::int64_t>(set));
  table_.start();
  table_.add(0, number);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    table_.add(i + 1, is_in[i] ? row_keys_[i] : Value::null());
  }
  const std::uint32_t known = table_.find();
  if (known != ValueTable::kAbsent) return known;
  execution.slots[sets_->number] = number;
  if (is_full(execution)) {
    later_.add(execution, later_slots_, table_.key(), depth);
    return ValueTable::kAbsent;
  }
  const auto group = static_cast<std::uint32_t>(groups_.size());
  table_.place() = group;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!is_in[i]) execution.slots[keys_[i].slot] = Value::null();
  }
  add_group(execution);
  for (std::size_t i = 0; i < keys_.size(); ++i) execution.slots[keys_[i].slot] = row_keys_[i];
  return group;
}

void Aggregate::take_into_sets(Execution& execution, const RowPartitions::Part* part) {
  // The slot is written below.
  const std::size_t only =
      part == nullptr ? 0 : static_cast<std::size_t>(execution.slots[sets_->number].as_int8());
  row_keys_.clear();
  for (const Key& key : keys_) {
    row_keys_.push_back(key.expr->eval(execution));
    execution.slots[key.slot] = row_keys_.back();
  }
  const std::size_t end = part == nullptr ? is_in_set_.size() : only + 1;
  const unsigned depth = part == nullptr ? 0 : part->depth + 1;
  for (std::size_t set = only; set < end; ++set) {
    execution.tick();
    const std::uint32_t group = group_in_set(execution, set, depth);
    if (group != ValueTable::kAbsent) step_all(execution, group);
  }
}

void Aggregate::add_groups_without_rows(Execution& execution) {
  for (const Key& key : keys_) execution.slots[key.slot] = Value::null();
  for (std::size_t set = 0; set < sets_->sets.size(); ++set) {
    if (!sets_->sets[set].empty()) continue;
    const Value number = Value::from_int(static_cast<std::int64_t>(set));
    table_.start();
    table_.add(0, number);
    for (std::size_t i = 0; i < keys_.size(); ++i) table_.add(i + 1, Value::null());
    table_.place() = static_cast<std::uint32_t>(groups_.size());
    execution.slots[sets_->number] = number;
    add_group(execution);
  }
}

void Aggregate::forget_groups() {
  table_.clear();
  groups_.clear();
  position_ = 0;
  for (AggregateStates& states : states_) states.clear();
}

/// Releases the groups with their memory. Otherwise it would be charged to the next groups, and
/// each of them would be spilled.
void Aggregate::release_groups() {
  table_.release();
  groups_.release();
  position_ = 0;
  for (AggregateStates& states : states_) states.release();
}

void Aggregate::consume(Execution& execution, RowPartitions::Part* part) {
  const unsigned depth = part == nullptr ? 0 : part->depth + 1;
  RowScope scope{execution};
  const std::vector<Slot>& slots = has_sets() ? later_slots_ : input_slots_;
  while (part == nullptr ? input_->next(execution) : part->reader.next(execution, slots)) {
    if (has_sets()) {
      take_into_sets(execution, part);
    } else {
      const std::uint32_t group = keys_.empty() ? 0 : group_of(execution, depth);
      if (group != ValueTable::kAbsent) step_all(execution, group);
    }
    if (part != nullptr) execution.tick();
    scope.rewind();
  }
  usage_.note_memory(held_bytes());
}

void Aggregate::step_all(Execution& execution, std::size_t group) {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].filter && !holds(*calls_[i].filter, execution)) continue;
    states_[i].step(execution, group);
  }
}

bool Aggregate::is_in_last_group(Execution& execution) {
  bool is_same = groups_.size() > 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Value value = keys_[i].expr->eval(execution);
    execution.slots[keys_[i].slot] = value;
    if (!is_same) continue;
    const Value& last = last_key_[i];
    is_same = value.is_null() || last.is_null() ? value.is_null() == last.is_null()
                                                : compare_[i](value, last) == 0;
  }
  if (is_same) return true;
  last_key_arena_.reset();
  last_key_.clear();
  for (const Key& key : keys_) {
    last_key_.push_back(execution.slots[key.slot].copy_to(last_key_arena_));
  }
  return false;
}

void Aggregate::consume_some(Execution& execution) {
  forget_groups();
  RowScope scope{execution};
  while (!at_end_) {
    const bool was_met = first_of_next_.size() > 0;
    if (was_met) {
      first_of_next_.restore(execution, 0);
    } else if (!input_->next(execution)) {
      at_end_ = true;
      return;
    }
    if (!is_in_last_group(execution)) {
      if (groups_.size() == kTogether) {
        first_of_next_.keep(execution);
        return;
      }
      add_group(execution);
    }
    step_all(execution, groups_.size() - 1);
    if (was_met) first_of_next_.clear();
    scope.rewind();
  }
}

void Aggregate::open(Execution& execution) {
  forget_groups();
  table_.count_in(execution.memory);
  last_key_arena_.count_in(execution.memory);
  for (AggregateStates& states : states_) states.count_in(execution.memory);
  later_.clear();
  usage_ = {};
  if (has_sets()) {
    for (const Slot slot : carried_) execution.slots[slot] = Value::null();
    add_groups_without_rows(execution);
  } else if (keys_.empty()) {
    // Without GROUP BY there is always one group; its carried columns are never read.
    for (const Slot slot : carried_) execution.slots[slot] = Value::null();
    add_group(execution);
  }
  if (counting_ != nullptr && counting_ == input_.get()) return;
  input_->open(execution);
  if (rows_ == Rows::by_group) {
    first_of_next_.clear();
    at_end_ = false;
    return;
  }
  consume(execution, nullptr);
  input_->close();
}

bool Aggregate::next(Execution& execution) {
  if (counting_ != nullptr && counting_ == input_.get()) {
    if (position_ > 0) return false;
    position_ = 1;
    input_->open(execution);
    const auto rows = static_cast<std::int64_t>(counting_->count_rest(execution));
    input_->close();
    for (const AggregateCall& call : calls_) execution.slots[call.slot] = Value::from_int(rows);
    return true;
  }
  if (rows_ == Rows::by_group && position_ == groups_.size()) {
    consume_some(execution);
    if (groups_.size() == 0) return false;
  }
  while (position_ == groups_.size()) {
    std::optional<RowPartitions::Part> part = later_.take();
    if (!part) return false;
    usage_.note_part(part->file->bytes());
    release_groups();
    consume(execution, &*part);
  }
  execution.tick();
  groups_.restore(execution, position_);
  for (const GroupingSets::Call& call : sets_->calls) {
    const auto set =
        has_sets() ? static_cast<std::size_t>(execution.slots[sets_->number].as_int8()) : 0;
    execution.slots[call.slot] = Value::from_int(call.value_of_set[set]);
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    execution.slots[calls_[i].slot] = states_[i].finish(execution, position_);
  }
  ++position_;
  return true;
}

void Aggregate::close() {
  input_->close();
  first_of_next_.clear();
  clear_for_next_run(last_key_arena_);
  forget_groups();
  later_.clear();
}

std::vector<PlanMeasure> Aggregate::measured() const {
  if ((keys_.empty() && !has_sets()) || rows_ == Rows::by_group) return {};
  return {usage_.measure()};
}

std::vector<Slot> Aggregate::output_slots() const {
  std::vector<Slot> slots = groups_.slots();
  for (const AggregateCall& call : calls_) slots.push_back(call.slot);
  for (const GroupingSets::Call& call : sets_->calls) slots.push_back(call.slot);
  return slots;
}

PlanNote Aggregate::note(ExprPrinter::Columns columns) const {
  const auto listed = [&](auto is_shown) {
    std::string keys;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!is_shown(i)) continue;
      if (!keys.empty()) keys += ", ";
      keys += describe(*keys_[i].expr, columns);
    }
    return keys;
  };
  if (has_sets()) {
    PlanNote note{"Aggregate", {}};
    std::size_t hashed = 0;
    for (std::size_t set = 0; set < is_in_set_.size(); ++set) {
      if (sets_->sets[set].empty()) continue;
      ++hashed;
      note.properties.emplace_back("Hash Key",
                                   listed([&](std::size_t key) { return is_in_set_[set][key]; }));
    }
    for (std::size_t i = hashed; i < is_in_set_.size(); ++i) {
      note.properties.emplace_back("Group Key", "()");
    }
    if (hashed > 0) {
      note.title = hashed == is_in_set_.size() ? "HashAggregate" : "MixedAggregate";
    }
    return note;
  }
  if (keys_.empty()) return {"Aggregate", {}};
  const std::string keys = listed([](std::size_t) { return true; });
  return {rows_ == Rows::by_group ? "GroupAggregate" : "HashAggregate", {{"Group Key", keys}}};
}

}  // namespace swizzle::sql
