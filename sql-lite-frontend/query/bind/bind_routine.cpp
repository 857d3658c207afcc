#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/range/range_makers.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Calls of user-defined routines, and the choice between them and the built-in functions of the
/// same name.
namespace swizzle::sql {
namespace {

std::string_view schema_of(const ast::FuncCall& node) {
  return node.funcname.size() > 1 ? ast::string_of(node.funcname[node.funcname.size() - 2])
                                  : std::string_view{};
}

std::string shown_signature(std::string_view name, std::span<const TypeId> types) {
  std::string text = std::string{name} + "(";
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) text += ", ";
    text += format_type(types[i]);
  }
  return text + ")";
}

bool takes_the_same(const Function& left, const Function& right) {
  return std::ranges::equal(left.arguments, right.arguments);
}

/// Returns the parameter types for the given arguments; nothing if a variadic parameter takes
/// several of them.
std::optional<std::vector<TypeId>> filled_by(const ResolvedFunction& resolved, std::size_t given) {
  if (resolved.variadic_element != TypeId::none) return std::nullopt;
  std::vector<TypeId> types(given, TypeId::none);
  for (std::size_t i = 0; i < resolved.argument_order.size(); ++i) {
    const int argument = resolved.argument_order[i];
    if (argument >= 0) types[static_cast<std::size_t>(argument)] = resolved.function->arguments[i];
  }
  return types;
}

/// Throws 42725 if another function of the same schema takes these arguments in the same way, which
/// defaults make possible.
void refuse_twin(FunctionCall call, const ResolvedFunction& resolved,
                 const NameSource::FoundRoutine& chosen,
                 std::span<const NameSource::FoundRoutine> all) {
  if (all.size() == 1) return;
  const auto filled = filled_by(resolved, call.argument_types.size());
  if (!filled) return;
  for (const NameSource::FoundRoutine& other : all) {
    const Function& function = other.callable->function;
    const bool may_be_twin =
        &function != resolved.function &&
        other.callable->routine->schema == chosen.callable->routine->schema &&
        !(function.argument_defaults.empty() && resolved.function->argument_defaults.empty());
    if (!may_be_twin) continue;
    const Function* const alone[] = {&function};
    call.candidates = alone;
    const auto as_other = try_resolve_function(call);
    if (!as_other || filled_by(*as_other, call.argument_types.size()) != filled) continue;
    throw sql_error(sqlstate::ambiguous_function, "function {} is not unique",
                    shown_signature(call.name, call.argument_types))
        .with_hint(
            "Could not choose a best candidate function. You might need to add explicit type "
            "casts.")
        .at_position(call.position);
  }
}

}  // namespace

void ExpressionBinder::enter_body(const BodyNames& names) {
  body_ = &names;
  open_view_ = names.meanings.get();
}

ExprPtr ExpressionBinder::named_parameter(std::string_view name, std::int32_t location) {
  // A view's text or a stored expression must not see the parameters of the body that uses it.
  if (body_ == nullptr || open_view_ != body_->meanings.get()) return nullptr;
  for (std::size_t i = 0; i < body_->parameters.size(); ++i) {
    if (body_->parameters[i] != name || name.empty()) continue;
    auto expr = std::make_unique<ParameterExpr>(parameters_[i], i);
    expr->set_location(location);
    return expr;
  }
  return nullptr;
}

std::vector<NameSource::FoundRoutine> ExpressionBinder::routines_named(std::string_view schema,
                                                                       std::string_view name) {
  if (schema.empty()) {
    if (const Oid stored = routine_of_stored_name(name); stored != kNoOid) {
      CallablePtr known = names_.routine(stored);
      if (known) return {{std::move(known), true}};
      return {};
    }
  }
  // A view calls the routine that it called when it was made, whatever has been created since.
  if (open_view_ != nullptr) {
    std::vector<NameSource::FoundRoutine> found;
    for (const ViewRoutine& known : open_view_->view_routines) {
      if (known.name != name || known.schema != schema) continue;
      if (CallablePtr callable = names_.routine(known.routine)) {
        found.push_back({std::move(callable), true});
      }
    }
    return found;
  }
  std::vector<NameSource::FoundRoutine> found = names_.find_routines(schema, name);
  // A better match may be created later, or the name may mean none of these.
  looked_up_objects_ |= !found.empty();
  return found;
}

ExpressionBinder::CallArguments ExpressionBinder::bind_arguments(const ast::FuncCall& node,
                                                                 Scope& scope) {
  CallArguments given;
  bool any_named = false;
  for (const ast::Node* arg : node.args) {
    const auto* named = ast::try_as<ast::NamedArgExpr>(arg);
    const std::string_view name = named != nullptr ? named->name : std::string_view{};
    if (named != nullptr && std::ranges::find(given.names, name) != given.names.end()) {
      throw sql_error(sqlstate::syntax_error, "argument name \"{}\" used more than once", name)
          .at_position(named->location + 1);
    }
    any_named |= named != nullptr;
    given.names.push_back(name);
    given.values.push_back(bind_expression(named != nullptr ? named->arg.raw() : arg, scope));
    given.types.push_back(given.values.back()->type());
    if (any_named && named == nullptr) {
      throw SqlError{sqlstate::syntax_error, "positional argument cannot follow named argument"}
          .at_position(given.values.back()->location() + 1);
    }
  }
  if (!any_named) given.names.clear();
  return given;
}

std::optional<ExpressionBinder::ResolvedRoutine> ExpressionBinder::find_routine(
    const ast::FuncCall& node, const CallArguments& arguments, RoutineKind wanted) {
  const std::string_view schema = schema_of(node);
  const std::string_view name = ast::string_of(node.funcname.back());
  const bool is_system =
      schema == "pg_catalog" || (schema == "information_schema" && name.starts_with("_pg_"));
  if (!schema.empty() && !is_system && !names_.schema_exists(schema)) {
    throw sql_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema)
        .at_position(node.location + 1);
  }
  if (is_system) return std::nullopt;
  const std::vector<NameSource::FoundRoutine> found = routines_named(schema, name);
  const bool may_be_builtin = schema.empty();
  if (found.empty() && may_be_builtin) return std::nullopt;
  if (found.empty()) {
    ast::TypeName range;
    range.names = node.funcname;
    if (!range_makers(bind_user_type(range)).empty()) return std::nullopt;
  }

  std::vector<const Function*> builtin;
  if (may_be_builtin) {
    std::ranges::copy(functions_named(name), std::back_inserter(builtin));
    for (const Function& function : unsupported_functions(name)) builtin.push_back(&function);
  }
  std::vector<const Function*> candidates;
  for (const NameSource::FoundRoutine& one : found) {
    const auto is_same = [&](const Function* other) {
      return takes_the_same(*other, one.callable->function);
    };
    if (one.before_builtin) std::erase_if(builtin, is_same);
    if (std::ranges::none_of(builtin, is_same)) candidates.push_back(&one.callable->function);
  }
  candidates.insert(candidates.end(), builtin.begin(), builtin.end());

  FunctionCall call{.name = name, .argument_types = arguments.types};
  call.argument_names = arguments.names;
  const bool is_stored = name.starts_with('#') && schema.empty();
  if (node.func_variadic || is_stored) call.variadic = FunctionCall::Variadic::as_array;
  call.position = node.location + 1;
  call.candidates = candidates;
  call.schema = schema;
  call.casts = names_.made_casts();
  std::optional<ResolvedFunction> resolved = try_resolve_function(call);
  if (!resolved && !may_be_builtin) {
    if (wanted == RoutineKind::procedure) return std::nullopt;
    resolved = resolve_function(call);
  }
  if (!resolved || resolved->function->routine == nullptr) return std::nullopt;
  const auto chosen = std::ranges::find_if(found, [&](const NameSource::FoundRoutine& one) {
    return &one.callable->function == resolved->function;
  });
  // A stored query keeps its meaning, so it cannot become ambiguous.
  if (open_view_ == nullptr) refuse_twin(call, *resolved, *chosen, found);
  const Routine& routine = *chosen->callable->routine;
  const bool is_aggregate = routine.kind == RoutineKind::aggregate;
  if (routine.kind != wanted && !(is_aggregate && wanted == RoutineKind::function)) {
    const bool is_procedure = routine.kind == RoutineKind::procedure;
    // Unlike a function call, CALL has arguments for OUT parameters.
    if (!is_procedure && std::ranges::any_of(routine.parameters, &RoutineParameter::is_output)) {
      return std::nullopt;
    }
    throw sql_error(sqlstate::wrong_object_type, "{} is {}", shown_signature(name, arguments.types),
                    is_procedure ? "a procedure" : "not a procedure")
        .with_hint(is_procedure ? "To call a procedure, use CALL."
                                : "To call a function, use SELECT.")
        .at_position(node.location + 1);
  }
  return ResolvedRoutine{chosen->callable, *resolved};
}

void ExpressionBinder::note_routine(const ast::FuncCall& node, const CallablePtr& callable) {
  const RoutinePtr& routine = callable->routine;
  if (std::ranges::find(routines_called_, routine) == routines_called_.end()) {
    routines_called_.push_back(routine);
  }
  if (view_depth_ != recorded_depth_) return;
  ViewRoutine read{std::string{schema_of(node)}, std::string{ast::string_of(node.funcname.back())},
                   routine->oid};
  const bool is_known = std::ranges::any_of(routines_read_, [&](const ViewRoutine& other) {
    return other.routine == read.routine && other.name == read.name && other.schema == read.schema;
  });
  if (!is_known) routines_read_.push_back(std::move(read));
}

Oid ExpressionBinder::collation_inside(const DerivedCollation& collation) {
  using Strength = DerivedCollation::Strength;
  const bool says_nothing = !collation.matters || collation.strength == Strength::none ||
                            collation.strength == Strength::conflict;
  // A collation that says nothing, or the database's, is the usual one inside the body as well.
  return says_nothing || collation.collation == names_.database_collation() ? kNoOid
                                                                            : collation.collation;
}

bool ExpressionBinder::is_native(const CallableRoutine& callable) noexcept {
  return callable.function.scalar != nullptr;
}

void ExpressionBinder::order_native_call(const CallableRoutine& callable,
                                         std::span<const ExprPtr> operands) {
  if (is_native(callable)) order_as_database(operands);
}

RoutineCallPtr ExpressionBinder::make_call(const ResolvedRoutine& routine,
                                           std::span<const ExprPtr> placed) {
  auto call = std::make_shared<RoutineCall>();
  call->callable = routine.callable;
  const bool has_code = is_native(*routine.callable);
  for (const ExprPtr& argument : placed) {
    const bool tells_order = has_code && follows_database(argument->type());
    call->argument_types.push_back(tells_order ? argument->type()
                                               : without_collation(argument->type()));
    // The names of a row's fields are known only here.
    if (auto* const row = dynamic_cast<RowExpr*>(argument.get()); row != nullptr && has_code) {
      row->tells_names = true;
    }
  }
  call->result = routine.resolved.result;
  call->column_types = routine.callable->column_types;
  if (!has_code) call->collation = collation_inside(merge_collations(names_, placed));
  return call;
}

void ExpressionBinder::refuse_aggregate_syntax(const ast::FuncCall& node, std::string_view name) {
  const auto not_aggregate = [&](std::string_view what) {
    throw sql_error(sqlstate::wrong_object_type,
                    "{} specified, but {} is not an aggregate function", what, name)
        .at_position(node.location + 1);
  };
  if (node.agg_star) {
    throw sql_error(sqlstate::wrong_object_type,
                    "{}(*) specified, but {} is not an aggregate function", name, name)
        .at_position(node.location + 1);
  }
  if (node.agg_distinct) not_aggregate("DISTINCT");
  if (node.agg_within_group) not_aggregate("WITHIN GROUP");
  if (!node.agg_order.empty()) not_aggregate("ORDER BY");
  if (node.agg_filter != nullptr) not_aggregate("FILTER");
  if (node.over != nullptr) {
    throw sql_error(sqlstate::wrong_object_type,
                    "OVER specified, but {} is not a window function nor an aggregate function",
                    name)
        .at_position(node.location + 1);
  }
}

ExprPtr ExpressionBinder::bind_routine(const ast::FuncCall& node, const ResolvedRoutine& routine,
                                       CallArguments arguments, Scope& scope) {
  const CallableRoutine& callable = *routine.callable;
  refuse_aggregate_syntax(node, ast::string_of(node.funcname.back()));
  note_routine(node, routine.callable);
  if (callable.routine->result == TypeId::trigger ||
      callable.routine->result == TypeId::event_trigger) {
    SqlError error{sqlstate::feature_not_supported,
                   "trigger functions can only be called as triggers"};
    if (callable.routine->language == "plpgsql") {
      error.fields().where = fmt::format("compilation of PL/pgSQL function \"{}\" near line 1",
                                         callable.routine->name);
    }
    throw std::move(error);
  }
  std::vector<ExprPtr> placed = place_arguments(routine.resolved, std::move(arguments.values));
  order_native_call(callable, placed);
  const RoutineCallPtr call = make_call(routine, placed);
  const DerivedCollation collation = merge_collations(names_, placed);
  if (callable.routine->returns_set) {
    return bind_set_call(callable.function, call, with_derived(routine.resolved.result, collation),
                         arguments.types, std::move(placed), scope, node.location);
  }
  auto expr = std::make_unique<RoutineExpr>(call, new_state(), std::move(placed));
  apply_collation(*expr, collation);
  expr->set_location(node.location);
  return expr;
}

ExpressionBinder::ProcedureCall ExpressionBinder::bind_procedure_call(const ast::FuncCall& node) {
  Scope scope;
  scope.clause = Clause::call_argument;
  CallArguments given = bind_arguments(node, scope);
  const auto routine = find_routine(node, given, RoutineKind::procedure);
  if (!routine) {
    std::string list;
    for (const TypeId type : given.types) list += (list.empty() ? "" : ", ") + format_type(type);
    const std::string_view schema = schema_of(node);
    throw sql_error(sqlstate::undefined_function, "procedure {}{}{}({}) does not exist", schema,
                    schema.empty() ? "" : ".", ast::string_of(node.funcname.back()), list)
        .with_hint(
            "No procedure matches the given name and argument types. You might need to add "
            "explicit type casts.")
        .at_position(node.location + 1);
  }
  note_routine(node, routine->callable);
  ProcedureCall call;
  call.arguments = place_arguments(routine->resolved, std::move(given.values));
  call.call = make_call(*routine, call.arguments);
  return call;
}

}  // namespace swizzle::sql
