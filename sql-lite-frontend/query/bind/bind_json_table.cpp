#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/jsonpath/json_table.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// JSON_TABLE: a set-returning function finds the items of its paths, and a query around it
/// computes the columns from them.
namespace swizzle::sql {
namespace {

/// Returns true for types whose values are built from parts of JSON, as by JSON_QUERY.
bool is_made_of_parts(TypeId type) {
  const TypeId base = base_type(type);
  return base == TypeId::json || without_collation(base) == TypeId::jsonb ||
         base == TypeId::record || is_array(base) || is_composite(base);
}

bool has_json_format(const ast::Link<ast::JsonFormat>& format) {
  return format != nullptr && format->format_type == ast::JsonFormatType::json;
}

}  // namespace

/// Slots of the items that each path finds.
struct QueryBinder::JsonTableRows {
  std::int64_t parent = -1;
  Slot ordinality = 0;
  Slot item = 0;
};

struct QueryBinder::JsonTableScope {
  struct Variable {
    std::string name;
    TypeId type = TypeId::none;
    std::int32_t typmod = kNoTypmod;
    Slot slot = 0;
  };
  Scope& scope;
  Query& query;
  std::vector<JsonTableRows> rows = {};
  std::vector<ExprPtr> paths = {};
  std::vector<Variable> variables = {};
  std::set<std::string, std::less<>> names = {};  ///< of columns and paths

  void add_name(std::string_view name, std::int32_t location) {
    if (names.emplace(name).second) return;
    throw sql_error(SqlState{"42712"}, "duplicate JSON_TABLE column or path name: {}", name)
        .at_position(location + 1);
  }
  void add_names(ast::NodeList columns) {
    check_stack();
    for (const ast::Node* item : columns) {
      const auto& column = ast::as<ast::JsonTableColumn>(item);
      if (column.coltype != ast::JsonTableColumnType::nested) {
        add_name(column.name, column.location);
        continue;
      }
      if (!column.pathspec->name.empty()) {
        add_name(column.pathspec->name, column.pathspec->name_location);
      }
      add_names(column.columns);
    }
  }
};

void QueryBinder::add_json_rows(const ast::JsonTablePathSpec& path, std::int64_t parent,
                                JsonTableScope& table) {
  table.paths.push_back(bind_json_path(path.string, table.scope));
  const Slot first = new_slots(2);
  table.rows.push_back({parent, first, first + 1});
}

void QueryBinder::add_json_column(const ast::JsonTableColumn& node, std::size_t level,
                                  JsonTableScope& table) {
  using Kind = JsonPathExpr::Kind;
  const JsonTableRows& rows = table.rows[level];
  OutputTarget target;
  target.name = node.name;
  target.slot = new_slot();
  if (node.coltype == ast::JsonTableColumnType::for_ordinality) {
    mark_used(rows.ordinality);
    target.type = TypeId::int4;
    target.expr =
        std::make_unique<SlotExpr>(TypeId::int4, kNoTypmod, rows.ordinality, SlotExpr::Origin{});
    table.query.targets.push_back(std::move(target));
    return;
  }
  const TypeReference type = bind_type(*node.type_name);
  JsonPathExpr::Words words;
  words.column = node.name;
  const bool has_words_of_query =
      (node.wrapper != ast::JsonWrapper::unspec && node.wrapper != ast::JsonWrapper::undefined) ||
      (node.quotes != ast::JsonQuotes::unspec && node.quotes != ast::JsonQuotes::undefined);
  const bool is_query = node.coltype == ast::JsonTableColumnType::formatted || has_words_of_query ||
                        is_made_of_parts(type.type);
  words.kind = node.coltype == ast::JsonTableColumnType::exists ? Kind::exists
               : is_query                                       ? Kind::query
                                                                : Kind::value;
  const bool wraps = node.wrapper == ast::JsonWrapper::conditional ||
                     node.wrapper == ast::JsonWrapper::unconditional;
  if (words.kind == Kind::query && node.quotes == ast::JsonQuotes::omit && wraps) {
    throw SqlError{sqlstate::syntax_error,
                   "SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used"}
        .at_position(node.location + 1);
  }
  const bool is_text = value_type(without_collation(base_type(type.type))).category == 'S' ||
                       type.type == TypeId::bytea || type.type == TypeId::json ||
                       without_collation(type.type) == TypeId::jsonb;
  if (has_json_format(node.format) && words.kind == Kind::query && !is_text) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot use JSON format with non-string output types"}
        .at_position(node.format->location + 1);
  }
  require_json_behavior(node.on_empty.raw(), words.kind, "ON EMPTY", words.column);
  require_json_behavior(node.on_error.raw(), words.kind, "ON ERROR", words.column);
  words.wrapper = !wraps ? JsonPathExpr::Wrapper::none
                  : node.wrapper == ast::JsonWrapper::conditional
                      ? JsonPathExpr::Wrapper::conditional
                      : JsonPathExpr::Wrapper::always;
  words.quotes = words.kind == Kind::value || node.quotes == ast::JsonQuotes::omit
                     ? JsonQuotes::omitted
                     : JsonQuotes::kept;
  std::vector<ExprPtr> operands;
  mark_used(rows.item);
  operands.push_back(
      std::make_unique<SlotExpr>(TypeId::jsonb, kNoTypmod, rows.item, SlotExpr::Origin{}));
  if (node.pathspec != nullptr) {
    operands.push_back(bind_json_path(node.pathspec->string, table.scope));
  } else {
    std::string path = "$.";
    append_json_string(node.name, path);
    FunctionContext functions{arena_, names_.context(), {}};
    operands.push_back(constant(builtin_id::jsonpath,
                                input_text(functions, builtin_id::jsonpath, kNoTypmod, path)));
  }
  for (const JsonTableScope::Variable& variable : table.variables) {
    words.variables.push_back(variable.name);
    mark_used(variable.slot);
    operands.push_back(std::make_unique<SlotExpr>(variable.type, variable.typmod, variable.slot,
                                                  SlotExpr::Origin{}));
  }
  const JsonReturning returning{type.type, type.typmod, {}};
  using Usual = JsonPathExpr::Behavior::Kind;
  const auto usual = words.kind == Kind::exists ? Usual::false_ : Usual::null;
  words.on_empty = bind_json_behavior(node.on_empty.raw(), usual, returning, table.scope, operands);
  words.on_error = bind_json_behavior(node.on_error.raw(), usual, returning, table.scope, operands);
  target.type = type.type;
  target.typmod = type.typmod;
  target.expr =
      std::make_unique<JsonPathExpr>(type.type, type.typmod, std::move(words), std::move(operands));
  table.query.targets.push_back(std::move(target));
}

/// Binds the columns of one path: they come before those of the paths nested in it.
void QueryBinder::bind_json_table_level(ast::NodeList columns, std::size_t level,
                                        JsonTableScope& table) {
  check_stack();
  bool has_ordinality = false;
  for (const ast::Node* item : columns) {
    const auto& column = ast::as<ast::JsonTableColumn>(item);
    if (column.coltype == ast::JsonTableColumnType::nested) continue;
    if (column.coltype == ast::JsonTableColumnType::for_ordinality &&
        std::exchange(has_ordinality, true)) {
      throw SqlError{sqlstate::syntax_error, "only one FOR ORDINALITY column is allowed"}
          .at_position(column.location + 1);
    }
    add_json_column(column, level, table);
  }
  for (const ast::Node* item : columns) {
    const auto& column = ast::as<ast::JsonTableColumn>(item);
    if (column.coltype != ast::JsonTableColumnType::nested) continue;
    const std::size_t nested = table.rows.size();
    add_json_rows(*column.pathspec, static_cast<std::int64_t>(level), table);
    bind_json_table_level(column.columns, nested, table);
  }
}

FromPtr QueryBinder::bind_json_table(const ast::JsonTable& node, Scope& scope) {
  using ast::JsonBehaviorType;
  const ast::JsonBehavior* const on_error = node.on_error.raw();
  const bool throws = on_error != nullptr && on_error->btype == JsonBehaviorType::error;
  if (on_error != nullptr && !throws && on_error->btype != JsonBehaviorType::empty &&
      on_error->btype != JsonBehaviorType::empty_array) {
    throw SqlError{sqlstate::syntax_error, "invalid ON ERROR behavior"}
        .with_detail("Only EMPTY [ ARRAY ] or ERROR is allowed in the top-level ON ERROR clause.")
        .at_position(on_error->location + 1);
  }
  const ClauseScope clause{scope, Clause::from_function};
  auto query = std::make_unique<Query>();
  query->computes_first = true;
  JsonTableScope table{scope, *query};
  if (!node.pathspec->name.empty()) {
    table.add_name(node.pathspec->name, node.pathspec->name_location);
  }
  table.add_names(node.columns);
  FromCall call;
  call.function = &json_table_rows();
  call.composite = true;
  call.shape = std::make_unique<RowShape>();
  ExprPtr document = bind_json_value(*node.context_item, scope, JsonInput::json, TypeId::jsonb);
  add_json_rows(*node.pathspec, -1, table);
  JsonPathExpr::Words variables;
  std::vector<ExprPtr> values;
  bind_json_variables(node.passing, scope, variables, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    table.variables.push_back({variables.variables[i], without_collation(values[i]->type()),
                               values[i]->typmod(), new_slot()});
  }
  bind_json_table_level(node.columns, 0, table);

  const auto add_field = [&](std::string name, TypeId type, Slot slot) {
    call.shape->names.push_back(std::move(name));
    call.shape->types.push_back(type);
    call.shape->typmods.push_back(kNoTypmod);
    call.slots.push_back(slot);
  };
  std::string parents = throws ? "e" : "";
  for (const JsonTableRows& rows : table.rows) {
    if (&rows != table.rows.data()) parents += ',';
    parents += std::to_string(rows.parent);
    add_field("ordinality", TypeId::int4, rows.ordinality);
    add_field("item", TypeId::jsonb, rows.item);
  }
  call.arguments.push_back(std::move(document));
  call.arguments.push_back(constant(TypeId::text, Value::from_text(parents)));
  std::ranges::move(table.paths, std::back_inserter(call.arguments));
  for (std::size_t i = 0; i < values.size(); ++i) {
    add_field(table.variables[i].name, table.variables[i].type, table.variables[i].slot);
    call.arguments.push_back(std::move(values[i]));
  }
  for (const ExprPtr& argument : call.arguments) add_slots_read(*argument, query->outer_slots);
  remove_repeats(query->outer_slots);

  ScopeItem item;
  item.alias = node.alias != nullptr ? node.alias->aliasname : std::string_view{"json_table"};
  for (OutputTarget& target : query->targets) {
    mark_used(target.slot);
    const SlotExpr::Origin origin{kNoOid, 0, item.alias, target.name};
    item.columns.push_back({target.name, target.type, target.typmod, target.slot, origin});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  FromFunctions functions;
  functions.calls.push_back(std::move(call));
  functions.alias = item.alias;
  query->from.push_back(from_node(std::move(functions)));
  item.show_all();
  apply_alias(item, node.alias.raw());
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(FromSubquery{std::move(query), std::move(alias)});
}

}  // namespace swizzle::sql
