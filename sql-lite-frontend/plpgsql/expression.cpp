#include "sql-lite-frontend/plpgsql/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/parse/one_value.h"
#include "sql-lite-frontend/parse/parser.h"
#include "sql-lite-frontend/plan/constants.h"
#include "sql-lite-frontend/plpgsql/context.h"
#include "sql-lite-frontend/plpgsql/frame.h"
#include "sql-lite-frontend/plpgsql/statement_run.h"
#include "sql-lite-frontend/types/sql_error.h"

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
  meaning.is_null_row = is_null;
  for (const Shape::Field& field : shape->fields) {
    if (rest == 1 && field.name != parts.back()) continue;
    const std::size_t place = frame_->program.place_of_field(variable.place, field.name);
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
  return fmt::format("SQL {} \"{}\"", kind_ == Kind::value ? "expression" : "statement", shown);
}

bool Expression::is_folded() const {
  if (!plain_ || !names_.used().empty()) return false;
  // A literal becomes what is wanted where it is read.
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

Value Expression::evaluate(Frame& frame) {
  if (!is_ready(frame)) [[unlikely]]
    prepare(frame);
  if (!plain_) return run_for_value(frame);
  if (frame.values.size() < frame.program.value_count) [[unlikely]]
    frame.make_room();
  frame.execution.parameters = frame.values;
  return plain_->eval(frame.execution);
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
  try {
    if (kind_ == Kind::value && prepare_plain(frame)) {
      is_prepared_ = true;
      return;
    }
    names_.forget();
    body_ = std::make_shared<BodyNames>();
    body_->routine = frame.call != nullptr ? frame.call->callable->routine
                                           : std::make_shared<Routine>(frame.routine);
    body_->parameters.resize(frame.program.argument_count);
    body_->variables = &names_;
    statement_ = frame.session.plans.parse(sql(), {});
    statement_->body = body_;
    for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
      statement_->declared_types.push_back(frame.program.variables[i].type_within());
    }
    if (is_plannable(statement_->node)) {
      statement_->plan = frame.session.plans.plan_for(*statement_, {});
      if (!statement_->plan->plan->types.empty()) type_ = statement_->plan->plan->types[0];
    }
  } catch (SqlError& error) {
    add_sql_context(error, context());
    throw;
  }
  depends_on_catalog_ = false;
  is_prepared_ = true;
}

void Expression::make_whole(Binder& binder, Arena& tree) {
  const std::string name = whole_.substr(whole_.rfind('.') + 1);
  const auto assigned = parse_script(tree, fmt::format("UPDATE t SET {}{} = NULL", name, path_));
  const auto& update = ast::as<ast::UpdateStmt>(assigned[0]->stmt);
  const auto read = parse_script(tree, "SELECT " + whole_);
  const auto whole = binder.bind_select(ast::as<ast::SelectStmt>(read[0]->stmt), nullptr);
  plain_ = binder.with_part(std::move(whole->targets[0].expr), std::move(plain_),
                            ast::as<ast::ResTarget>(update.target_list[0]));
}

bool Expression::prepare_plain(Frame& frame) {
  Session::State& session = frame.session;
  Arena tree;
  const auto parsed = parse_script(tree, sql());
  const auto* select = parsed.size() == 1 ? ast::try_as<ast::SelectStmt>(parsed[0]->stmt) : nullptr;
  if (select == nullptr || !selects_one_value(*select)) return false;
  arena_ = std::make_unique<Arena>(256);
  BodyNames names;
  names.routine = std::make_shared<Routine>(frame.routine);
  names.parameters.resize(frame.program.argument_count);
  names.variables = &names_;
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < frame.program.argument_count; ++i) {
    types.push_back(frame.program.variables[i].type_within());
  }
  Binder binder{session.names, *arena_};
  binder.allow_parameters(types);
  binder.enter_body(names);
  // What expressions remember of a run is the frame's, for all of the function's.
  for (StatePlace i = 0; i < frame.program.state_count; ++i) static_cast<void>(binder.new_state());
  const std::unique_ptr<Query> query = binder.bind_select(
      *select, nullptr, path_.empty() ? Binder::OutputTypes::final : Binder::OutputTypes::open);
  const bool takes_statement = !query->aggregates.empty() || !query->sets.empty() ||
                               !query->windows.empty() || !binder.pending().empty() ||
                               binder.is_single_use() || query->targets.size() != 1 ||
                               !query->targets[0].expr;
  if (takes_statement && !path_.empty()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "assignment of a query's value to a part of a part is not supported"};
  }
  if (takes_statement) return false;
  Execution scratch{session, session.session_context};
  if (auto failure = constant_failure(*query, scratch)) throw std::move(*failure);
  for (const RoutinePtr& called : binder.routines_called()) session.rights.require_execute(*called);
  plain_ = std::move(query->targets[0].expr);
  const auto* column =
      ast::try_as<ast::ColumnRef>(ast::as<ast::ResTarget>(select->target_list[0]).val);
  if (column != nullptr && column->fields.size() == 1) whole_record_ = names_.only_record();
  if (!path_.empty()) make_whole(binder, tree);
  type_ = plain_->type();
  frame.program.state_count = binder.new_state();
  frame.program.slot_count = std::max(frame.program.slot_count, binder.slot_count());
  frame.make_room();
  stamp_ = session.catalog.stamp();
  settings_version_ = session.variables.version();
  depends_on_catalog_ = !binder.routines_called().empty() || binder.looked_up_objects() ||
                        !binder.types_read().empty();
  return true;
}

const StatementPtr& Expression::statement(Frame& frame) {
  const bool fits = is_prepared_ && statement_ && names_.fits(frame);
  if (!fits) {
    prepare(frame);
  } else if (statement_->plan && !frame.session.plans.is_current(statement_->plan)) {
    // Its columns may be others now; nobody was promised that they stay.
    prepare(frame);
  }
  names_.bind_for(frame);
  return statement_;
}

Value Expression::run_for_value(Frame& frame) {
  const StatementPtr running = statement(frame);
  StatementRun run{frame, *this, running};
  Value value = Value::null();
  if (run.next()) {
    if (run.plan().types.size() != 1) {
      throw sql_error(sqlstate::syntax_error, "query \"{}\" returned {} columns", text_,
                      run.plan().types.size());
    }
    value = run.value(0).copy_to(frame.execution.row_arena);
    if (run.next()) {
      throw sql_error(SqlState{"21000"}, "query \"{}\" returned more than one row", text_);
    }
  }
  run.finish();
  return value;
}

}  // namespace swizzle::sql::plpgsql
