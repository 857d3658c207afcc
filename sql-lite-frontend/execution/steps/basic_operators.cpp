#include "sql-lite-frontend/execution/steps/basic_operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

bool Filter::next(Execution& execution) {
  const Arena::Mark mark = execution.row_arena.mark();
  while (input_->next(execution)) {
    const bool passes = std::ranges::all_of(
        conditions_, [&](const ExprPtr& condition) { return holds(*condition, execution); });
    if (passes) return true;
    ++removed_;
    execution.row_arena.rewind(mark);
  }
  return false;
}

std::vector<PlanMeasure> Filter::measured() const {
  std::vector<PlanMeasure> measures = input_->measured();
  if (removed_ > 0) {
    measures.push_back({"Rows Removed by Filter: " + std::to_string(removed_),
                        {{"Rows Removed by Filter", removed_}}});
  }
  return measures;
}

PlanNote Filter::note(ExprPrinter::Columns columns) const {
  PlanNote note = input_->note(columns);
  const std::string_view relation = input_->scanned_relation();
  note.properties.emplace_back("Filter", relation.empty() ? describe(*conditions_, columns)
                                                          : describe_at(relation, *conditions_));
  return note;
}

bool Project::next(Execution& execution) {
  if (!input_->next(execution)) return false;
  for (const Computed& computed : computed_) {
    execution.slots[computed.slot] = computed.expr->eval(execution);
  }
  return true;
}

std::vector<Slot> Project::output_slots() const {
  std::vector<Slot> slots = input_->output_slots();
  for (const Computed& computed : computed_) slots.push_back(computed.slot);
  return slots;
}

ProjectSet::ProjectSet(PlanPtr input, std::vector<Item> items)
    : input_(std::move(input)), items_(std::move(items)), row_(input_->output_slots()) {}

void ProjectSet::open(Execution& execution) {
  input_->open(execution);
  cursors_.clear();
  in_row_ = false;
}

namespace {

/// The evaluated arguments in memory that outlives the cursor; nullopt when a strict function has
/// a NULL among them and so returns no rows. The function may ask for their types.
std::optional<std::span<const Value>> set_arguments(Execution& execution, const Function& function,
                                                    std::span<const ExprPtr> arguments,
                                                    Arena& arena) {
  auto* values = arena.allocate_array<Value>(arguments.size());
  auto* types = arena.allocate_array<TypeId>(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    types[i] = arguments[i]->type();
    values[i] = arguments[i]->eval(execution).copy_to(arena);
    if (values[i].is_null() && function.strict) return std::nullopt;
  }
  execution.functions.call = {.arguments = {types, arguments.size()}};
  return std::span<const Value>{values, arguments.size()};
}

/// Starts the function. It makes values now that it returns with later rows, so they are put into
/// `arena`, where its arguments are.
std::unique_ptr<SetCursor> start_set(Execution& execution, const Function& function,
                                     const RoutineCallPtr& routine,
                                     std::span<const Value> arguments, Arena& arena) {
  // A function of an extension is called at once.
  if (routine && function.set == nullptr)
    return execution.services.open_routine(execution, *routine, arguments);
  FunctionContext starting{arena, execution.functions.session, execution.functions.call};
  return for_bytes(bytes_of(arguments), [&] { return function.set(starting, arguments); });
}

}  // namespace

bool ProjectSet::next(Execution& execution) {
  for (;;) {
    if (!in_row_) {
      if (!row_.next(execution, [&] { return input_->next(execution); })) return false;
      arguments_arena_.count_in(execution.memory);
      arguments_arena_.reset();
      cursors_.clear();
      for (const Item& item : items_) {
        const auto arguments =
            set_arguments(execution, *item.function, item.arguments, arguments_arena_);
        cursors_.push_back(arguments ? start_set(execution, *item.function, item.routine,
                                                 *arguments, arguments_arena_)
                                     : nullptr);
      }
      in_row_ = true;
    }
    execution.tick();
    bool any = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      std::optional<Value> value;
      if (cursors_[i]) value = cursors_[i]->next(execution.functions);
      if (!value) cursors_[i].reset();
      any |= value.has_value();
      execution.slots[items_[i].slot] = value.value_or(Value::null());
    }
    if (any) return true;
    in_row_ = false;
  }
}

void ProjectSet::close() {
  input_->close();
  cursors_.clear();
  clear_for_next_run(arguments_arena_);
  row_.forget();
}

std::vector<Slot> ProjectSet::output_slots() const {
  std::vector<Slot> slots = input_->output_slots();
  for (const Item& item : items_) slots.push_back(item.slot);
  return slots;
}

namespace {

std::optional<std::uint64_t> row_count(const ExprPtr& expr, Execution& execution, SqlState state,
                                       std::string_view what) {
  if (!expr) return std::nullopt;
  const Value value = expr->eval(execution);
  if (value.is_null()) return std::nullopt;
  if (value.as_int8() < 0) throw_error(state, "{} must not be negative", what);
  return static_cast<std::uint64_t>(value.as_int8());
}

}  // namespace

void Limit::open(Execution& execution) {
  to_skip_ =
      row_count(*offset_, execution, sqlstate::invalid_row_count_in_offset, "OFFSET").value_or(0);
  left_ = row_count(*count_, execution, sqlstate::invalid_row_count_in_limit, "LIMIT");
  last_key_.clear();
  input_->open(execution);
}

std::string Limit::tie_key(Execution& execution) const {
  std::string key;
  for (const ExprPtr& tie : ties_) append_key(key, {tie->type()}, tie->eval(execution));
  return key;
}

bool Limit::is_tie(Execution& execution) {
  return !ties_.empty() && !last_key_.empty() && tie_key(execution) == last_key_;
}

bool Limit::next(Execution& execution) {
  for (; to_skip_ > 0; --to_skip_) {
    const RowScope scope{execution};
    if (!input_->next(execution)) return false;
  }
  if (!left_) return input_->next(execution);
  if (*left_ == 0) return !ties_.empty() && input_->next(execution) && is_tie(execution);
  if (!input_->next(execution)) return false;
  if (--*left_ == 0 && !ties_.empty()) last_key_ = tie_key(execution);
  return true;
}

void Append::open(Execution& execution) {
  current_ = 0;
  branches_[0].input->open(execution);
}

bool Append::next(Execution& execution) {
  for (;;) {
    Branch& branch = branches_[current_];
    if (branch.input->next(execution)) {
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        execution.slots[outputs_[i]] = execution.slots[branch.slots[i]];
      }
      return true;
    }
    if (current_ + 1 == branches_.size()) return false;
    branch.input->close();
    branches_[++current_].input->open(execution);
  }
}

void Append::close() {
  for (Branch& branch : branches_) branch.input->close();
}

std::vector<const PlanOperator*> Append::children() const {
  std::vector<const PlanOperator*> list;
  for (const Branch& branch : branches_) list.push_back(branch.input.get());
  return list;
}

void ValuesScan::open(Execution& execution) {
  current_ = 0;
  if (width_ != 0) given_ = execution.parameters;
}

/// Whether there is one more row of parameters, which are then the execution's.
bool ValuesScan::next_given(Execution& execution) {
  const std::size_t begin = current_ * width_;
  if (begin == given_.size()) {
    execution.parameters = given_;
    return false;
  }
  execution.parameters = given_.subspan(begin, width_);
  return true;
}

bool ValuesScan::next(Execution& execution) {
  if (width_ != 0 ? !next_given(execution) : current_ == rows_.size()) return false;
  execution.tick();
  const std::vector<ExprPtr>& row = rows_[width_ != 0 ? 0 : current_];
  ++current_;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    execution.slots[slots_[i]] = row[i]->eval(execution);
  }
  return true;
}

FunctionScan::FunctionScan(std::vector<Call> calls, std::optional<Slot> ordinality,
                           std::string alias)
    : calls_(std::move(calls)),
      ordinality_(ordinality),
      alias_(std::move(alias)),
      keeps_rows_(calls_.size(), false),
      running_(calls_.size()) {
  if (calls_.size() == 1) return;
  const auto reads_rows = [](const ExprPtr& expr) {
    bool found = false;
    if (expr) {
      walk(*expr, [&](Expr& part) {
        found |= dynamic_cast<const SlotExpr*>(&part) != nullptr ||
                 dynamic_cast<const SubqueryExpr*>(&part) != nullptr;
      });
    }
    return found;
  };
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    keeps_rows_[i] = !reads_rows(call.scalar) && std::ranges::none_of(call.arguments, reads_rows);
  }
  // The step around keeps all rows if no call reads rows outside.
  if (std::ranges::find(keeps_rows_, false) == keeps_rows_.end())
    keeps_rows_.assign(calls_.size(), false);
}

PlanNote FunctionScan::note(ExprPrinter::Columns /*columns*/) const {
  const Function* const function = calls_[0].function;
  // JSON_TABLE and XMLTABLE are no functions of the catalog.
  const bool is_table = function != nullptr && function->oid == 0 && !calls_[0].routine;
  if (!is_table) return {"Function Scan on " + alias_, {}};
  // Keywords, which PostgreSQL quotes.
  std::string title = fmt::format("Table Function Scan on \"{}\"", function->name);
  if (alias_ != function->name) title += " " + quote_identifier(alias_);
  return {std::move(title), {}};
}

void FunctionScan::open(Execution& execution) {
  arguments_arena_.count_in(execution.memory);
  arguments_arena_.reset();
  row_ = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Running& running = running_[i];
    if (!keeps_rows_[i]) {
      start(execution, i);
      continue;
    }
    running.next_kept = 0;
    if (running.kept && running.kept_in_run == execution.run) continue;
    if (!running.kept)
      running.kept = std::make_unique<RowStore>(RowStore::Overflow::to_file_of_run);
    running.kept->clear();
    running.kept->set_slots(calls_[i].slots);
    start(execution, i);
    RowScope scope{execution};
    while (next_new(execution, i)) {
      execution.tick();
      running.kept->keep(execution);
      scope.rewind();
    }
    running.kept_in_run = execution.run;
  }
}

void FunctionScan::start(Execution& execution, std::size_t index) {
  const Call& call = calls_[index];
  Running& running = running_[index];
  running.cursor.reset();
  running.null_pending = false;
  running.scalar_pending = call.function == nullptr;
  if (running.scalar_pending) return;
  const auto arguments = set_arguments(execution, *call.function, call.arguments, arguments_arena_);
  execution.functions.call.row = call.shape.get();
  if (arguments)
    running.cursor =
        start_set(execution, *call.function, call.routine, *arguments, arguments_arena_);
  // One row it is in any case.
  running.null_pending = !arguments && !call.function->returns_set;
}

bool FunctionScan::next_of(Execution& execution, std::size_t index) {
  if (!keeps_rows_[index]) return next_new(execution, index);
  Running& running = running_[index];
  if (running.next_kept < running.kept->size()) {
    running.kept->restore(execution, running.next_kept++);
    return true;
  }
  for (const Slot slot : calls_[index].slots) execution.slots[slot] = Value::null();
  return false;
}

bool FunctionScan::next_new(Execution& execution, std::size_t index) {
  const Call& call = calls_[index];
  Running& running = running_[index];
  std::optional<Value> value;
  if (std::exchange(running.scalar_pending, false)) {
    value = call.scalar->eval(execution);
  } else if (std::exchange(running.null_pending, false)) {
    value = Value::null();
  } else if (running.cursor) {
    execution.functions.call.row = call.shape.get();
    value = running.cursor->next(execution.functions);
    if (!value) running.cursor.reset();
  }
  if (!value || value->is_null() || !call.composite) {
    for (const Slot slot : call.slots) execution.slots[slot] = Value::null();
    if (value && !call.composite) execution.slots[call.slots[0]] = *value;
    return value.has_value();
  }
  const RecordView record{*value};
  for (std::size_t i = 0; i < call.slots.size(); ++i) {
    execution.slots[call.slots[i]] = i < record.size() ? record.field(i) : Value::null();
  }
  return true;
}

bool FunctionScan::next(Execution& execution) {
  execution.tick();
  bool any = false;
  for (std::size_t i = 0; i < calls_.size(); ++i) any |= next_of(execution, i);
  if (any && ordinality_) execution.slots[*ordinality_] = Value::from_int(++row_);
  return any;
}

void FunctionScan::close() {
  for (Running& running : running_) {
    running.cursor.reset();
    running.scalar_pending = running.null_pending = false;
  }
  clear_for_next_run(arguments_arena_);
}

std::vector<Slot> FunctionScan::output_slots() const {
  std::vector<Slot> slots;
  for (const Call& call : calls_) slots.insert(slots.end(), call.slots.begin(), call.slots.end());
  if (ordinality_) slots.push_back(*ordinality_);
  return slots;
}

void Materialize::open(Execution& execution) {
  position_ = 0;
  if (filled_in_run_ == execution.run) return;
  store_.clear();
  store_.set_slots(input_->output_slots());
  input_->open(execution);
  RowScope scope{execution};
  while (input_->next(execution)) {
    store_.keep(execution);
    scope.rewind();
  }
  input_->close();
  filled_in_run_ = execution.run;
}

bool Materialize::next(Execution& execution) {
  if (position_ == store_.size()) return false;
  execution.tick();
  store_.restore(execution, position_++);
  return true;
}

void Materialize::close() {
  // The rows stay until the run ends: an outer loop may open this again.
}

}  // namespace swizzle::sql
