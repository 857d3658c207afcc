#include "sql-lite-frontend/routines/plpgsql/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/plan/constants.h"
#include "sql-lite-frontend/query/parse/one_value.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/routines/plpgsql/statement_run.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"
#include "storage/held_view.h"

namespace swizzle::sql::plpgsql {
std::optional<BodyVariables::Meaning> FragmentNames::find(std::span<const std::string_view> parts,
                                                          bool must_have_field) {
  const auto found = find_name(names_, parts);
  if (!found) return std::nullopt;
  const Variable& variable = frame_->program.variables[found->variable];
  const std::size_t rest = parts.size() - found->parts;
  if (variable.kind == Variable::Kind::scalar) {
    if (rest > 0) return std::nullopt;
    use(variable.place);
    return Meaning{
        false, false, {{variable.name, variable.place, variable.type_within(), variable.typmod}}};
  }
  if (rest > 1) return std::nullopt;
  const ShapePtr& shape = frame_->records[variable.place].shape;
  if (!shape) {
    if (!must_have_field) return std::nullopt;
    throw sql_error(sqlstate::object_not_in_prerequisite_state, "record \"{}\" is not assigned yet",
                    variable.name)
        .with_detail("The tuple structure of a not-yet-assigned record is indeterminate.");
  }
  const bool is_null = frame_->records[variable.place].is_null;
  const auto known = std::ranges::find(shapes_, variable.place, &Known::record);
  Known& noted = known != shapes_.end() ? *known : shapes_.emplace_back();
  noted = {variable.place, shape, noted.is_whole || rest == 0, is_null};
  Meaning meaning;
  meaning.is_row = rest == 0;
  if (is_composite(variable.type)) meaning.row_type = variable.type;
  meaning.is_null_row = is_null;
  for (std::size_t i = 0; i < shape->fields.size(); ++i) {
    const Shape::Field& field = shape->fields[i];
    if (rest == 1 && field.name != parts.back()) continue;
    const auto before =
        std::ranges::count(std::span{shape->fields}.first(i), field.name, &Shape::Field::name);
    const std::size_t place = frame_->program.place_of_field(variable.place, field.name,
                                                             static_cast<std::size_t>(before));
    use(place);
    meaning.fields.push_back({field.name, place, field.type, field.typmod});
    if (rest == 1) break;
  }
  frame_->make_room();
  if (rest == 1 && meaning.fields.empty()) {
    if (!must_have_field) return std::nullopt;
    throw_error(sqlstate::undefined_column, "record \"{}\" has no field \"{}\"", variable.name,
                parts.back());
  }
  return meaning;
}

void FragmentNames::use(std::size_t place) {
  if (std::ranges::find(used_, place) == used_.end()) used_.push_back(place);
}

BodyVariables::Conflict FragmentNames::conflict() const {
  return frame_->program.conflict;
}

bool FragmentNames::fits(const Frame& frame) const {
  return std::ranges::all_of(shapes_, [&](const Known& known) {
    const Record& record = frame.records[known.record];
    const ShapePtr& shape = record.shape;
    if (known.is_whole && known.is_null != record.is_null) return false;
    return shape == known.shape || (shape && shape->fields == known.shape->fields);
  });
}

void DeleteExpression::operator()(Expression* expression) const noexcept {
  delete expression;
}

Expression::Expression(Kind kind, std::string text, const Name* names)
    : kind_(kind), text_(std::move(text)), names_(names) {}

std::string Expression::sql() const {
  return kind_ == Kind::value ? "SELECT " + text_ : text_;
}

std::size_t Expression::sql_before() const noexcept {
  return kind_ == Kind::value ? std::string_view{"SELECT "}.size() : 0;
}

std::string Expression::context() const {
  if (!target_.empty()) return fmt::format("PL/pgSQL assignment \"{}{}\"", target_, text_);
  // INTO at its end was blanked.
  const std::string_view shown =
      std::string_view{text_}.substr(0, text_.find_last_not_of(" \t\n") + 1);
  return fmt::format("{} \"{}\"", kind_ == Kind::value ? "PL/pgSQL expression" : "SQL statement",
                     shown);
}

bool Expression::is_folded() const {
  if (!plain_ || !names_.used().empty()) return false;
  // An untyped literal is converted to the target type where it is used.
  const bool is_literal = dynamic_cast<const ConstantExpr*>(plain_.get()) != nullptr &&
                          (type_ == TypeId::text || type_ == TypeId::unknown);
  return !is_literal;
}

inline bool Expression::is_ready(const Frame& frame) const {
  if (!is_prepared_) return false;
  if (plain_ && settings_version_ != frame.session.variables.version()) return false;
  if (depends_on_catalog_ && stamp_ != frame.session.catalog.stamp()) return false;
  return names_.fits(frame);
}

/// True if the plan is valid. A new plan may have other columns, which no caller relies on.
bool Expression::has_current_plan(const Frame& frame) const {
  return !statement_->plan || frame.session.inner.is_current(statement_->plan);
}

Value Expression::evaluate(Frame& frame) {
  if (!is_ready(frame) || (statement_ && !has_current_plan(frame))) [[unlikely]]
    prepare(frame);
  if (!plain_) return run_for_value(frame).value_or(Value::null());
  if (frame.values.size() < frame.program.value_count) [[unlikely]]
    frame.make_room();
  // If the value's query has no row, the whole becomes NULL, as in PostgreSQL.
  if (statement_ && !compute_part(frame)) return Value::null();
  return evaluate_plain(frame);
}

Value Expression::evaluate_plain(Frame& frame) {
  frame.execution.parameters = frame.values;
  if (!calls_readers_ || !frame.is_volatile) [[likely]]
    return plain_->eval(frame.execution);
  // Advances the command counter, as for a statement: a routine called in the expression sees the
  // function's changes.
  StatementContext& session = frame.session;
  session.transaction.begin_inner_statement();
  const InnerStatement own{*session.transaction, ReadView::Sees::durable};
  return plain_->eval(frame.execution);
}

ShapePtr Expression::record_shape(Frame& frame) {
  if (sql::shape_of(type_) != sql::Shape::record) return nullptr;
  const auto record = whole_record(frame);
  return record ? frame.records[*record].shape : nullptr;
}

std::optional<std::size_t> Expression::whole_record(Frame& frame) {
  if (!is_ready(frame)) prepare(frame);
  return whole_record_;
}

void Expression::prepare(Frame& frame) {
  is_prepared_ = false;
  whole_record_.reset();
  plain_.reset();
  statement_.reset();
  names_.bind_for(frame);
  names_.forget();
  depends_on_catalog_ = false;
  called_.clear();
  try {
    if (kind_ == Kind::statement || !prepare_plain(frame)) {
      names_.forget();
      prepare_statement(frame);
      if (part_) prepare_computed(frame);
    }
  } catch (SqlError& error) {
    add_sql_context(error, context());
    throw;
  }
  for (const RoutinePtr& called : called_) frame.session.rights.require_execute(*called);
  called_.clear();
  is_prepared_ = true;
}

void Expression::prepare_statement(Frame& frame) {
  body_ = std::make_shared<BodyNames>();
  body_->routine = frame.call != nullptr ? frame.call->callable->routine
                                         : std::make_shared<Routine>(frame.routine);
  body_->parameters.resize(frame.program.argument_count);
  body_->variables = &names_;
  statement_ = frame.session.inner.parse(sql());
  statement_->body = body_;
  for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
    statement_->declared_types.push_back(frame.program.variables[i].type_within());
  }
  if (!is_plannable(statement_->node)) return;
  statement_->plan = frame.session.inner.plan_for(*statement_);
  const std::vector<TypeId>& types = statement_->plan->plan->types;
  if (!target_.empty() && types.size() != 1) {
    throw sql_error(sqlstate::syntax_error, "assignment source returned {} columns", types.size());
  }
  if (!types.empty()) type_ = types[0];
}

/// Binds the whole with its part replaced by the value, which is bound already.
void Expression::bind_part(Binder& binder, Arena& tree) {
  std::string path = part_->around[0];
  for (std::size_t i = 0; i < part_->subscripts.size(); ++i) {
    const AssignedPart::Computed& computed = part_->computed[i];
    path += computed.type == TypeId::none ? part_->subscripts[i]->text()
                                          : fmt::format("${}", *computed.place + 1);
    path += part_->around[i + 1];
  }
  const auto assigned = parse_script(
      tree, fmt::format("UPDATE t SET {}{} = NULL", quote_identifier(part_->name), path));
  const auto& update = ast::as<ast::UpdateStmt>(assigned[0]->stmt);
  const auto read = parse_script(tree, "SELECT " + part_->whole);
  const auto whole = binder.bind_select(ast::as<ast::SelectStmt>(read[0]->stmt), nullptr);
  plain_ = binder.with_part(std::move(whole->targets[0].expr), std::move(plain_),
                            ast::as<ast::ResTarget>(update.target_list[0]));
}

bool Expression::prepare_plain(Frame& frame) {
  StatementContext& session = frame.session;
  Arena tree;
  const auto parsed = parse_script(tree, sql());
  const auto* select = parsed.size() == 1 ? ast::try_as<ast::SelectStmt>(parsed[0]->stmt) : nullptr;
  if (select == nullptr || !selects_one_value(*select)) return false;
  arena_ = std::make_unique<Arena>(256);
  BodyNames names;
  names.parameters.resize(frame.program.argument_count);
  Binder binder{session.names, *arena_};
  enter(frame, binder, names);
  const auto takes_statement = [&] { return !binder.pending().empty() || binder.is_single_use(); };
  const std::unique_ptr<Query> query = binder.bind_select(
      *select, nullptr, part_ ? Binder::OutputTypes::open : Binder::OutputTypes::final);
  if (!query->aggregates.empty() || !query->sets.empty() || !query->windows.empty() ||
      takes_statement() || query->targets.size() != 1 || !query->targets[0].expr) {
    return false;
  }
  Execution scratch{session, session.session_context};
  if (auto failure = constant_failure(*query, scratch)) throw std::move(*failure);
  plain_ = std::move(query->targets[0].expr);
  const auto* column =
      ast::try_as<ast::ColumnRef>(ast::as<ast::ResTarget>(select->target_list[0]).val);
  if (column != nullptr && column->fields.size() == 1) whole_record_ = names_.only_record();
  if (part_) {
    for (AssignedPart::Computed& each : part_->computed) each.type = TypeId::none;
    bind_part(binder, tree);
    if (takes_statement()) {
      plain_.reset();
      return false;
    }
  }
  keep_plain(frame, binder);
  return true;
}

/// Gives the binder the function's variables and parameters.
void Expression::enter(Frame& frame, Binder& binder, BodyNames& names) {
  names.routine = std::make_shared<Routine>(frame.routine);
  names.variables = &names_;
  std::vector<TypeId> types(names.parameters.size(), TypeId::none);
  for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
    types[i] = frame.program.variables[i].type_within();
  }
  if (part_ && statement_) {
    for (const AssignedPart::Computed& each : part_->computed) {
      if (each.type != TypeId::none) types[*each.place] = each.type;
    }
  }
  binder.allow_parameters(types);
  binder.enter_body(names);
  // State that expressions keep for a run is in the frame, for all expressions of the function.
  for (StatePlace i = 0; i < frame.program.state_count; ++i) static_cast<void>(binder.new_state());
}

void Expression::keep_plain(Frame& frame, Binder& binder) {
  StatementContext& session = frame.session;
  called_.assign(binder.routines_called().begin(), binder.routines_called().end());
  calls_readers_ = std::ranges::any_of(
      called_, [](const RoutinePtr& called) { return called->volatility != 'i'; });
  type_ = plain_->type();
  frame.program.state_count = binder.new_state();
  frame.program.slot_count = std::max(frame.program.slot_count, binder.slot_count());
  frame.make_room();
  stamp_ = session.catalog.stamp();
  settings_version_ = session.variables.version();
  depends_on_catalog_ = !binder.routines_called().empty() || binder.looked_up_objects() ||
                        !binder.types_read().empty();
}

void Expression::give_place(Frame& frame, AssignedPart::Computed& to, TypeId type) {
  if (!to.place) to.place = frame.program.value_count++;
  to.type = type;
}

Value Expression::put(Frame& frame, const Value& value, TypeId type) {
  if (!is_ready(frame) || part_->value.type != type) {
    is_prepared_ = false;
    names_.bind_for(frame);
    names_.forget();
    give_place(frame, part_->value, type);
    frame.make_room();
    bind_computed(frame);
    called_.clear();
    is_prepared_ = true;
  }
  if (frame.values.size() < frame.program.value_count) frame.make_room();
  frame.values[*part_->value.place] = value;
  return evaluate_plain(frame);
}

/// Called after prepare_statement(): gives a place to each expression that needs a statement.
void Expression::prepare_computed(Frame& frame) {
  check_stack();
  give_place(frame, part_->value, type_);
  for (std::size_t i = 0; i < part_->subscripts.size(); ++i) {
    Expression& subscript = *part_->subscripts[i];
    subscript.prepare(frame);
    part_->computed[i].type = TypeId::none;
    if (!subscript.plain_) give_place(frame, part_->computed[i], subscript.type());
  }
  frame.make_room();
  bind_computed(frame);
}

void Expression::bind_computed(Frame& frame) {
  Arena tree;
  arena_ = std::make_unique<Arena>(256);
  BodyNames names;
  names.parameters.resize(frame.program.value_count);
  Binder binder{frame.session.names, *arena_};
  enter(frame, binder, names);
  plain_ = std::make_unique<ParameterExpr>(part_->value.type, *part_->value.place);
  bind_part(binder, tree);
  keep_plain(frame, binder);
}

/// Returns false if the value's statement returns no row.
bool Expression::compute_part(Frame& frame) {
  check_stack();
  const std::optional<Value> value = run_for_value(frame);
  if (!value) return false;
  bool has_moved = false;
  for (std::size_t i = 0; i < part_->subscripts.size(); ++i) {
    AssignedPart::Computed& computed = part_->computed[i];
    if (computed.type == TypeId::none) continue;
    frame.values[*computed.place] = part_->subscripts[i]->evaluate(frame);
    // A record that it reads may have other fields now.
    has_moved |= computed.type != part_->subscripts[i]->type();
    computed.type = part_->subscripts[i]->type();
  }
  if (has_moved) bind_computed(frame);
  frame.values[*part_->value.place] = *value;
  return true;
}

const StatementPtr& Expression::statement(Frame& frame) {
  const bool fits = is_prepared_ && statement_ && names_.fits(frame);
  if (!fits || !has_current_plan(frame)) prepare(frame);
  names_.bind_for(frame);
  return statement_;
}

std::optional<Value> Expression::run_for_value(Frame& frame) {
  names_.bind_for(frame);
  const StatementPtr running = statement_;
  StatementRun run{frame, *this, running};
  const auto refuse = [this](SqlState state, std::string message) {
    SqlError error{state, std::move(message)};
    add_context(error, fmt::format("query: {}{}", target_, text_));
    throw error;
  };
  std::optional<Value> value;
  if (run.next()) {
    if (const std::size_t columns = run.plan().types.size(); columns != 1) {
      refuse(sqlstate::syntax_error, fmt::format("query returned {} columns", columns));
    }
    value = run.value(0).copy_to(frame.execution.row_arena);
    if (run.next()) refuse(SqlState{"21000"}, "query returned more than one row");
  }
  run.finish();
  return value;
}

}  // namespace swizzle::sql::plpgsql
