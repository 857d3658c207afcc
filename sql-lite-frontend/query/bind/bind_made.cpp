#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/argument_types.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/extension/extension_operators.h"
#include "sql-lite-frontend/types/polymorphic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// User-defined aggregates, operators and casts, besides the built-in ones.
namespace swizzle::sql {

ExpressionBinder::OperatorName ExpressionBinder::operator_name(ast::NodeList names) {
  OperatorName name;
  name.name = ast::string_of(names.back());
  if (names.size() > 1) name.schema = ast::string_of(names[names.size() - 2]);
  return name;
}

/// Notes a user-defined object, so that a view keeps its meaning and plans are remade when it
/// changes.
void ExpressionBinder::note_made(std::string name, std::string_view schema, Oid object) {
  looked_up_objects_ = true;
  depends_on_types_ = true;
  if (view_depth_ != recorded_depth_) return;
  const bool is_known = std::ranges::any_of(routines_read_, [&](const ViewRoutine& other) {
    return other.routine == object && other.name == name && other.schema == schema;
  });
  if (!is_known) routines_read_.push_back({std::string{schema}, std::move(name), object});
}

ExprPtr ExpressionBinder::call_by_number(Oid function, std::vector<ExprPtr> arguments,
                                         RoutineExpr::Written written, std::int32_t location) {
  const CallablePtr callable = names_.routine(function);
  const Function* const called =
      callable ? &callable->function : find_function(static_cast<std::uint32_t>(function));
  if (called == nullptr) {
    throw sql_error(sqlstate::undefined_function, "function with OID {} does not exist", function)
        .at_position(location + 1);
  }
  const std::vector<TypeId> types = types_of(arguments);
  FunctionCall call{.name = called->name, .argument_types = types};
  const std::span<const Function* const> candidates{&called, 1};
  call.candidates = candidates;
  call.variadic = FunctionCall::Variadic::as_array;
  call.position = location + 1;
  const ResolvedFunction resolved = resolve_function(call);
  std::vector<ExprPtr> placed = place_arguments(resolved, std::move(arguments));
  ExprPtr expr;
  if (callable) {
    if (std::ranges::find(routines_called_, callable->routine) == routines_called_.end()) {
      routines_called_.push_back(callable->routine);
    }
    order_native_call(*callable, placed);
    const RoutineCallPtr made = make_call({callable, resolved}, placed);
    auto routine = std::make_unique<RoutineExpr>(made, new_state(), std::move(placed));
    routine->set_written(std::move(written));
    expr = std::move(routine);
  } else {
    expr = std::make_unique<FunctionExpr>(*called, nullptr, resolved.result, std::move(placed));
  }
  expr->set_location(location);
  return expr;
}

std::vector<NameSource::FoundOperator> ExpressionBinder::operators_found(const OperatorName& name) {
  if (open_view_ == nullptr) return names_.find_operators(name.schema, name.name);
  std::vector<NameSource::FoundOperator> found;
  for (const ViewRoutine& known : open_view_->view_routines) {
    if (known.schema != name.schema || known.name != operator_record(name.name)) continue;
    if (OperatorPtr op = names_.made_operator(known.routine))
      found.push_back({std::move(op), true});
  }
  return found;
}

ExprPtr ExpressionBinder::call_made_operator(const OperatorName& name, ExprPtr& left,
                                             ExprPtr& right, std::int32_t location) {
  const std::vector<NameSource::FoundOperator> found = operators_found(name);
  const bool may_be_builtin = name.schema.empty() || name.schema == "pg_catalog";
  if (found.empty() && may_be_builtin) return nullptr;
  if (!may_be_builtin && !names_.schema_exists(name.schema)) {
    throw sql_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name.schema)
        .at_position(location + 1);
  }
  std::vector<Operator> made;
  made.reserve(found.size());
  std::vector<const Operator*> candidates;
  if (may_be_builtin) {
    candidates = operators_not_of_extensions(name.name);
  }
  for (const NameSource::FoundOperator& one : found) {
    Operator& op = made.emplace_back();
    op.oid = one.op->oid;
    op.name = one.op->name;
    op.left = one.op->left;
    op.right = one.op->right;
    op.result = one.op->result;
    const auto takes_the_same = [&op](const Operator* other) {
      return other->left == op.left && other->right == op.right;
    };
    if (one.before_builtin) std::erase_if(candidates, takes_the_same);
    if (std::ranges::none_of(candidates, takes_the_same)) candidates.push_back(&op);
  }
  OperatorCall call{.name = name.name,
                    .left = left ? left->type() : TypeId::none,
                    .right = right->type(),
                    .position = location + 1};
  call.candidates = candidates;
  call.schema = name.schema;
  call.casts = names_.made_casts();
  std::optional<ResolvedOperator> resolved;
  if (may_be_builtin) {
    try {
      resolved = try_resolve_operator(call);
    } catch (SqlError& error) {
      throw std::move(error).at_position(location + 1);
    }
    if (!resolved) return nullptr;
  } else {
    resolved = resolve_operator(call);
  }
  const auto chosen = std::ranges::find_if(
      found, [&](const auto& one) { return one.op->oid == resolved->op->oid; });
  if (chosen == found.end()) return nullptr;
  note_made(operator_record(name.name), name.schema, chosen->op->oid);
  return call_operator_function(chosen->op, *resolved, std::move(left), std::move(right), location);
}

ExprPtr ExpressionBinder::call_operator_function(const OperatorPtr& op,
                                                 const ResolvedOperator& resolved, ExprPtr left,
                                                 ExprPtr right, std::int32_t location) {
  if (op->function == kNoOid) {
    throw sql_error(sqlstate::undefined_function, "operator is only a shell: {}{}{} {}",
                    left ? format_type(left->type()) : "", left ? " " : "", op->name,
                    format_type(right->type()))
        .at_position(location + 1);
  }
  std::vector<ExprPtr> operands;
  if (left) {
    operands.push_back(coerce(std::move(left), resolved.left, kNoTypmod, Implicitness::implicit));
  }
  operands.push_back(coerce(std::move(right), resolved.right, kNoTypmod, Implicitness::implicit));
  return call_by_number(op->function, std::move(operands), {.op = op}, location);
}

ExprPtr ExpressionBinder::try_made_cast(ExprPtr& expr, TypeId type, std::int32_t typmod,
                                        Implicitness how) {
  const TypeId source = expr->type();
  if (open_view_ != nullptr && !open_view_->view_routines.empty()) {
    // Inside a view, the cast that applied when the view was made.
    const std::string record = cast_record(source, type);
    for (const ViewRoutine& known : open_view_->view_routines) {
      if (known.name != record) continue;
      std::vector<ExprPtr> operands;
      operands.push_back(std::move(expr));
      const std::int32_t location = operands[0]->location();
      return call_by_number(known.routine, std::move(operands), {.op = nullptr, .is_cast = true},
                            location);
    }
  }
  const CastPtr cast = names_.made_cast(source, type);
  if (!cast) return nullptr;
  const bool is_enough = cast->context == 'i' || how == Implicitness::explicit_cast ||
                         (cast->context == 'a' && how == Implicitness::assignment);
  if (!is_enough) return nullptr;
  const CastForm form =
      how == Implicitness::explicit_cast ? CastForm::explicit_cast : CastForm::implicit;
  if (cast->method != UserCastMethod::function) {
    looked_up_objects_ = true;
    depends_on_types_ = true;
    Cast way;
    way.source = source;
    way.target = type;
    way.method =
        cast->method == UserCastMethod::binary ? CastMethod::relabel : CastMethod::text_form;
    return std::make_unique<CastExpr>(way, form, std::move(expr));
  }
  note_made(cast_record(source, type), {}, cast->function);
  const CallablePtr callable = names_.routine(cast->function);
  const Function* const function = callable ? &callable->function : find_function(cast->function);
  const std::size_t wanted = function == nullptr ? 1 : function->arguments.size();
  const std::int32_t location = expr->location();
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(expr));
  if (wanted > 1) operands.push_back(constant(TypeId::int4, Value::from_int(typmod)));
  if (wanted > 2) {
    operands.push_back(
        constant(TypeId::bool_, Value::from_bool(how == Implicitness::explicit_cast)));
  }
  return call_by_number(cast->function, std::move(operands),
                        {.op = nullptr, .is_cast = true, .form = form}, location);
}

ExprPtr ExpressionBinder::bind_stored_call(const ast::FuncCall& node, CallArguments& arguments) {
  const std::string_view name = ast::string_of(node.funcname.back());
  if (!name.starts_with('#')) return nullptr;
  if (const Oid oid = operator_of_stored_name(name); oid != kNoOid) {
    const OperatorPtr op = names_.made_operator(oid);
    if (!op) {
      throw sql_error(sqlstate::undefined_function, "operator with OID {} does not exist", oid)
          .at_position(node.location + 1);
    }
    note_made(operator_record(op->name), {}, oid);
    return call_by_number(op->function, std::move(arguments.values), {.op = op}, node.location);
  }
  const Oid function = cast_of_stored_name(name);
  if (function == kNoOid) return nullptr;
  return call_by_number(function, std::move(arguments.values),
                        {.op = nullptr, .is_cast = true, .form = CastForm::explicit_cast},
                        node.location);
}

AggregateStep ExpressionBinder::aggregate_step(Oid function, std::vector<TypeId> types) {
  AggregateStep step;
  const CallablePtr callable = names_.routine(function);
  step.function = callable ? &callable->function : find_function(function);
  if (step.function == nullptr || (!callable && step.function->scalar == nullptr)) {
    throw_error(sqlstate::feature_not_supported,
                "function with OID {} as part of an aggregate is not supported", function);
  }
  FunctionCall call{.name = step.function->name, .argument_types = types};
  const std::span<const Function* const> candidates{&step.function, 1};
  call.candidates = candidates;
  call.variadic = FunctionCall::Variadic::as_array;
  const ResolvedFunction resolved = resolve_function(call);
  step.result = resolved.result;
  step.place = new_state();
  step.types = std::move(types);
  if (callable) {
    auto made = std::make_shared<RoutineCall>();
    made->callable = callable;
    if (is_native(*callable)) {
      for (TypeId& type : step.types) type = in_database(type, names_.database_collation());
    }
    made->argument_types = step.types;
    made->result = resolved.result;
    made->column_types = callable->column_types;
    step.routine = std::move(made);
    routines_behind_.push_back(callable->routine);
  }
  return step;
}

MadeAggregatePtr ExpressionBinder::made_aggregate(const ResolvedFunction& resolved,
                                                  std::int32_t location) {
  const CallableRoutine& callable = *resolved.function->routine;
  const AggregateDefinition& definition = *callable.routine->aggregate;
  auto made = std::make_shared<MadeAggregate>();
  made->callable = names_.routine(callable.routine->oid);
  std::vector<TypeId> types = resolved.argument_types;
  if (resolved.first_variadic < types.size() && resolved.variadic_element != TypeId::none) {
    types.resize(resolved.first_variadic);
    types.push_back(array_type(resolved.variadic_element));
  }
  const auto bindings = bind_polymorphic(callable.arguments, types);
  made->state_type = bindings ? substitute(definition.state, *bindings) : definition.state;
  const auto with_state = [&](bool with_arguments) {
    std::vector<TypeId> all{made->state_type};
    if (with_arguments) all.insert(all.end(), types.begin(), types.end());
    return all;
  };
  try {
    made->transition = aggregate_step(definition.transition, with_state(true));
    if (definition.final != kNoOid) {
      made->final = aggregate_step(definition.final, with_state(definition.final_extra));
    }
    if (definition.initial) {
      FunctionContext functions{arena_, names_.context(), {}};
      made->initial = input_text(functions, made->state_type, kNoTypmod, *definition.initial);
    }
  } catch (SqlError& error) {
    if (error.fields().position == 0) error.fields().position = location + 1;
    throw;
  }
  return made;
}

ExprPtr ExpressionBinder::bind_made_aggregate(const ast::FuncCall& node,
                                              const ResolvedRoutine& routine,
                                              CallArguments arguments, Scope& scope,
                                              const OuterNotes& notes, CallsBefore before) {
  note_routine(node, routine.callable);
  looked_up_objects_ = true;
  if (node.agg_within_group) {
    // The sort keys are further arguments that the function does not take.
    std::string types;
    for (const TypeId type : arguments.types) types += format_type(type) + ", ";
    for (const ast::Node* item : node.agg_order) {
      types += format_type(bind_expression(ast::as<ast::SortBy>(item).node, scope)->type()) + ", ";
    }
    types.resize(types.size() - 2);
    throw sql_error(sqlstate::undefined_function, "function {}({}) does not exist",
                    ast::string_of(node.funcname.back()), types)
        .with_hint(
            "No function matches the given name and argument types. You might need to add explicit "
            "type casts.")
        .at_position(node.location + 1);
  }
  if (node.over != nullptr) {
    return bind_window_call(node, scope, std::move(arguments.values), routine.resolved, before);
  }
  return bind_any_aggregate(node, scope, routine.resolved, std::move(arguments.values), notes);
}

}  // namespace swizzle::sql
