#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Functions in FROM.
namespace swizzle::sql {

QueryBinder::RowFields QueryBinder::fields_of(TypeId row, std::size_t count) {
  RowFields fields{.count = count, .numbers = {}, .type = names_.user_type(row)};
  if (fields.type) {
    const auto& attributes = fields.type->attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      if (!attributes[i].dropped) fields.numbers.push_back(static_cast<std::int16_t>(i + 1));
    }
    if (fields.numbers.size() == count) {
      fields.count = attributes.size();
      return fields;
    }
  }
  fields.type = nullptr;
  fields.numbers.clear();
  for (std::size_t i = 0; i < count; ++i)
    fields.numbers.push_back(static_cast<std::int16_t>(i + 1));
  return fields;
}

/// Notes the row type of a function in FROM. Inside a view, keeps the fields that existed when the
/// view was made, under the names of that time: the view's text does not mean later attributes.
void QueryBinder::keep_known_fields(ScopeItem& item, std::size_t before, TypeId row,
                                    const RowFields& fields, Slot first) {
  const bool is_of_relation = fields.type && fields.type->is_of_relation();
  const Oid relation = is_of_relation ? fields.type->relation : raw(row);
  if (open_view_ != nullptr) {
    const auto known = std::ranges::find_if(open_view_->view_names, [&](const ViewName& name) {
      return name.name.empty() && name.relation == relation;
    });
    if (known != open_view_->view_names.end()) {
      std::vector<ScopeColumn> kept;
      for (const ViewColumn& wanted : known->columns) {
        const auto at = std::ranges::find(fields.numbers, wanted.number);
        if (at == fields.numbers.end()) continue;  // dropped
        const auto place = static_cast<std::size_t>(at - fields.numbers.begin());
        ScopeColumn& column = kept.emplace_back(item.columns[before + place]);
        column.name = column.origin.name = wanted.name;
      }
      // A reference to the whole row has the present type.
      if (kept.size() != fields.numbers.size()) item.whole_row = item.columns;
      item.columns.resize(before);
      std::ranges::move(kept, std::back_inserter(item.columns));
    }
  }
  if (!fields.type || view_depth_ != recorded_depth_) return;
  if (is_of_relation) {
    if (TablePtr table = names_.table(relation)) {
      read_.push_back({{}, {}, std::move(table), true, first});
    }
    return;
  }
  ViewName& noted = rows_read_.emplace_back(ViewName{{}, {}, relation, {}});
  for (const std::int16_t number : fields.numbers) {
    const auto place = static_cast<std::size_t>(number - 1);
    noted.columns.push_back({number, fields.type->attributes[place].name});
  }
}

/// Binds one function of FROM and appends its columns to `item`.
FromCall QueryBinder::bind_from_call(const ast::Node* node, ast::NodeList definitions, Scope& scope,
                                     ScopeItem& item, std::string_view alias) {
  FromCall call;
  std::string name;
  const auto add_column_in = [&](Slot slot, std::string_view column, TypeId type,
                                 std::int32_t typmod) {
    call.slots.push_back(slot);
    scope.from_slots.emplace_back(slot, slot + 1);
    item.columns.push_back(
        {std::string{column}, type, typmod, slot, {kNoOid, 0, item.alias, std::string{column}}});
  };
  const auto add_column = [&](std::string_view column, TypeId type, std::int32_t typmod) {
    add_column_in(new_slot(), column, type, typmod);
  };
  const auto add_fields = [&](TypeId row, const RowShape& shape) {
    call.composite = true;
    item.row_type = row;
    const std::size_t before = item.columns.size();
    const RowFields fields = fields_of(row, shape.names.size());
    const Slot first = new_slots(fields.count);
    for (std::size_t i = 0; i < shape.names.size(); ++i) {
      const Slot slot = first + static_cast<Slot>(fields.numbers[i] - 1);
      add_column_in(slot, shape.names[i], shape.types[i], shape.typmods[i]);
    }
    keep_known_fields(item, before, row, fields, first);
  };
  const auto* function_node = ast::try_as<ast::FuncCall>(node);
  name =
      function_node != nullptr ? ast::string_of(function_node->funcname.back()) : target_name(node);
  std::optional<ResolvedFunction> resolved;
  std::optional<ResolvedRoutine> routine;
  std::vector<ExprPtr> arguments;
  if (function_node != nullptr) {
    if (function_node->over != nullptr) {
      throw sql_error(SqlState{"42P20"}, "window functions are not allowed in functions in FROM")
          .at_position(function_node->location + 1);
    }
    CallArguments given = bind_arguments(*function_node, scope);
    const std::vector<TypeId>& types = given.types;
    routine = find_routine(*function_node, given, RoutineKind::function);
    arguments = std::move(given.values);
    if (routine) {
      refuse_aggregate_syntax(*function_node, name);
      const TypeId result = routine->callable->routine->result;
      if (result == TypeId::trigger || result == TypeId::event_trigger) {
        throw sql_error(sqlstate::datatype_mismatch,
                        "function \"{}\" in FROM has unsupported return type {}", name,
                        format_type(result))
            .at_position(function_node->location + 1);
      }
      resolved = routine->resolved;
    } else {
      FunctionCall request{.name = name, .argument_types = types, .argument_names = given.names};
      if (function_node->func_variadic) request.variadic = FunctionCall::Variadic::as_array;
      request.position = function_node->location + 1;
      resolved = try_resolve_function(request);
      if (!resolved && find_built_in_type(name) == nullptr) resolved = resolve_function(request);
      if (resolved && resolved->function->kind == FunctionKind::aggregate) {
        throw sql_error(sqlstate::grouping_error,
                        "aggregate functions are not allowed in functions in FROM")
            .at_position(function_node->location + 1);
      }
    }
  }
  // A function that returns one value in one column needs no row type.
  if (resolved && (resolved->function->set != nullptr || routine)) {
    const Function& function = *resolved->function;
    call.function = &function;
    call.arguments = place_arguments(*resolved, std::move(arguments));
    if (routine) note_routine(*function_node, routine->callable);
    if (!definitions.empty()) {
      if (!function.column_names.empty()) {
        throw SqlError{sqlstate::syntax_error,
                       "a column definition list is redundant for a function with OUT parameters"}
            .at_position(ast::as<ast::ColumnDef>(definitions[0]).location + 1);
      }
      if (resolved->result != TypeId::record) {
        throw SqlError{sqlstate::syntax_error,
                       "a column definition list is only allowed for functions returning "
                       "\"record\""}
            .at_position(ast::as<ast::ColumnDef>(definitions[0]).location + 1);
      }
      call.composite = true;
      call.shape = std::make_unique<RowShape>();
      for (const ast::Node* definition : definitions) {
        const auto& column = ast::as<ast::ColumnDef>(definition);
        const TypeReference type = bind_type(*column.type_name);
        add_column(column.colname, type.type, type.typmod);
        call.shape->names.emplace_back(column.colname);
        call.shape->types.push_back(type.type);
        call.shape->typmods.push_back(type.typmod);
      }
      if (routine) {
        auto made = *make_call(*routine, call.arguments);
        made.column_types = call.shape->types;
        made.column_typmods = call.shape->typmods;
        call.routine = std::make_shared<const RoutineCall>(std::move(made));
      }
    } else if (!function.column_names.empty()) {
      call.composite = resolved->result == TypeId::record;
      for (std::size_t i = 0; i < function.column_names.size(); ++i) {
        add_column(function.column_names[i], function.column_types[i], kNoTypmod);
      }
    } else if (const auto shape = row_shape(base_type(resolved->result))) {
      add_fields(base_type(resolved->result), *shape);
    } else if (resolved->result == TypeId::record) {
      throw SqlError{sqlstate::syntax_error,
                     "a column definition list is required for functions returning \"record\""}
          .at_position(function_node->location + 1);
    } else {
      std::string_view column = alias.empty() ? std::string_view{name} : alias;
      // The column takes the name of the only OUT parameter, if that has one.
      if (routine) {
        for (const RoutineParameter& parameter : routine->callable->routine->parameters) {
          if (parameter.is_output() && !parameter.name.empty()) column = parameter.name;
        }
      }
      add_column(column, with_derived(resolved->result, merge_collations(names_, call.arguments)),
                 kNoTypmod);
    }
    if (routine && !call.routine) call.routine = make_call(*routine, call.arguments);
    return call;
  }
  call.scalar = bind_expression(node, scope);
  if (call.scalar->type() == TypeId::unknown) {
    call.scalar = coerce(std::move(call.scalar), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  if (!definitions.empty() && call.scalar->type() != TypeId::record) {
    throw SqlError{sqlstate::syntax_error,
                   "a column definition list is only allowed for functions returning \"record\""}
        .at_position(ast::as<ast::ColumnDef>(definitions[0]).location + 1);
  }
  if (const Function* const called = function_called(*call.scalar);
      called != nullptr && called->result == TypeId::record && !called->column_names.empty()) {
    call.composite = true;
    for (std::size_t i = 0; i < called->column_names.size(); ++i)
      add_column(called->column_names[i], called->column_types[i], kNoTypmod);
    return call;
  }
  if (const auto shape = row_shape(base_type(call.scalar->type()))) {
    add_fields(base_type(call.scalar->type()), *shape);
    return call;
  }
  add_column(alias.empty() ? std::string_view{name} : alias, call.scalar->type(),
             call.scalar->typmod());
  return call;
}

FromPtr QueryBinder::bind_range_function(const ast::RangeFunction& node, Scope& scope) {
  FromFunctions functions;
  ScopeItem item;
  const std::string_view alias = node.alias != nullptr ? node.alias->aliasname : std::string_view{};
  item.alias = alias;
  const ClauseScope clause{scope, Clause::from_function};
  for (const ast::Node* entry : node.functions) {
    const auto& pair = ast::as<ast::List>(entry);
    ast::NodeList definitions = node.coldeflist;
    if (pair.items.size() > 1 && ast::is<ast::List>(pair.items[1])) {
      definitions = ast::as<ast::List>(pair.items[1]).items;
    }
    const auto* call = ast::try_as<ast::FuncCall>(pair.items[0]);
    const std::string_view name =
        call != nullptr ? ast::string_of(call->funcname.back()) : std::string_view{};
    if (item.alias.empty()) item.alias = name.empty() ? target_name(pair.items[0]) : name;
    if (name == "unnest" && call->args.size() > 1) {
      // unnest(a, b) is ROWS FROM (unnest(a), unnest(b)).
      for (const ast::Node* const& arg : call->args) {
        ast::FuncCall one = *call;
        one.args = {&arg, 1};
        functions.calls.push_back(bind_from_call(&one, {}, scope, item, {}));
      }
      continue;
    }
    const bool only = node.functions.size() == 1;
    functions.calls.push_back(
        bind_from_call(pair.items[0], definitions, scope, item, only ? alias : std::string_view{}));
  }
  if (node.ordinality) {
    functions.ordinality = new_slot();
    scope.from_slots.emplace_back(*functions.ordinality, *functions.ordinality + 1);
    item.columns.push_back({"ordinality",
                            TypeId::int8,
                            kNoTypmod,
                            *functions.ordinality,
                            {kNoOid, 0, item.alias, "ordinality"}});
  }
  if (functions.calls.size() > 1 || functions.ordinality) {
    item.row_type = TypeId::none;
    item.whole_row.clear();
  } else {
    item.is_value = !functions.calls[0].composite;
  }
  item.show_all();
  apply_alias(item, node.alias);
  functions.alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(std::move(functions));
}

}  // namespace swizzle::sql
