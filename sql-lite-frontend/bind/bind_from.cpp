#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDuplicateAlias{"42712"};
constexpr SqlState kAmbiguousColumn{"42702"};
constexpr SqlState kInvalidColumnReference{"42P10"};
constexpr SqlState kInvalidRecursion{"42P19"};

std::string qualified(const ast::RangeVar& range) {
  if (range.schemaname.empty()) return std::string{range.relname};
  return fmt::format("{}.{}", range.schemaname, range.relname);
}

template <class Node>
FromPtr from(Node node) {
  auto result = std::make_unique<FromNode>();
  result->node = std::move(node);
  return result;
}

std::shared_ptr<Cte> find_cte(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (auto cte = at->ctes.rbegin(); cte != at->ctes.rend(); ++cte) {
      if ((*cte)->name == name) return *cte;
    }
  }
  return nullptr;
}

/// Makes a part of the scope's items unreachable while it lives.
class Unreachable {
 public:
  Unreachable(Scope& scope, std::size_t begin, std::size_t end) : scope_(scope) {
    for (std::size_t i = begin; i < end; ++i) {
      if (scope.items[i].reachable) hidden_.push_back(i);
      scope.items[i].reachable = false;
    }
  }
  Unreachable(const Unreachable&) = delete;
  Unreachable& operator=(const Unreachable&) = delete;
  ~Unreachable() {
    for (const std::size_t i : hidden_) scope_.items[i].reachable = true;
  }

 private:
  Scope& scope_;
  std::vector<std::size_t> hidden_;
};

}  // namespace

TablePtr Binder::find_table(const ast::RangeVar& range) {
  if (!range.catalogname.empty() && range.catalogname != names_.current_database()) {
    throw sql_error(sqlstate::feature_not_supported,
                    "cross-database references are not implemented: \"{}.{}.{}\"",
                    range.catalogname, range.schemaname, range.relname)
        .at_position(range.location + 1);
  }
  if (const ViewName* known = view_name(range)) return names_.table(known->relation);
  return names_.find_table(range.schemaname, range.relname);
}

/// Inside a view, what it knows about a name of its text.
const ViewName* Binder::view_name(const ast::RangeVar& range) const {
  if (view_names_ == nullptr) return nullptr;
  for (const ViewName& known : *view_names_) {
    if (known.name == range.relname && known.schema == range.schemaname) return &known;
  }
  return nullptr;
}

/// Leaves an item the columns that the view knew, under the names that it knew.
void Binder::restrict_to_view(ScopeItem& item, const ViewName& known) {
  std::vector<ScopeColumn> columns;
  for (const ViewColumn& wanted : known.columns) {
    for (ScopeColumn& column : item.columns) {
      if (column.origin.column != wanted.number) continue;
      column.name = column.origin.name = wanted.name;
      columns.push_back(column);
      break;
    }
  }
  item.columns = std::move(columns);
  item.show_all();
}

TablePtr Binder::require_table(const ast::RangeVar& range) {
  TablePtr table = find_table(range);
  if (!table) {
    throw sql_error(sqlstate::undefined_table, "relation \"{}\" does not exist", qualified(range))
        .at_position(range.location + 1);
  }
  return table;
}

TablePtr Binder::require_relation(const ast::RangeVar& range) {
  try {
    return require_table(range);
  } catch (SqlError& error) {
    error.fields().position = 0;
    throw;
  }
}

void Binder::add_item(Scope& scope, ScopeItem item) {
  if (!item.alias.empty()) {
    for (const ScopeItem& other : scope.items) {
      if (other.named && other.alias == item.alias && other.schema == item.schema) {
        throw_error(kDuplicateAlias, "table name \"{}\" specified more than once", item.alias);
      }
    }
  }
  scope.items.push_back(std::move(item));
}

void Binder::apply_alias(ScopeItem& item, const ast::Alias* alias) {
  if (alias == nullptr) return;
  item.alias = alias->aliasname;
  item.schema.clear();
  if (alias->colnames.size() > item.columns.size()) {
    throw_error(kInvalidColumnReference,
                "table \"{}\" has {} columns available but {} columns "
                "specified",
                item.alias, item.columns.size(), alias->colnames.size());
  }
  for (std::size_t i = 0; i < alias->colnames.size(); ++i) {
    item.columns[i].name = ast::string_of(alias->colnames[i]);
  }
  for (ScopeColumn& column : item.columns) column.origin.qualifier = item.alias;
}

Scope Binder::table_scope(const TablePtr& table, std::string_view alias, Slot first_slot) {
  ScopeItem item;
  item.alias = alias;
  if (alias == table->relation.name) item.schema = names_.schema_name(table->relation.schema);
  item.table = table;
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
    const Column& column = table->relation.columns[i];
    if (column.dropped) continue;
    item.columns.push_back(
        {column.name,
         column.type,
         column.typmod,
         first_slot + static_cast<Slot>(i),
         {table->relation.oid, static_cast<std::int16_t>(i + 1), std::string{alias}, column.name}});
  }
  item.show_all();
  Scope scope;
  scope.from_slots.emplace_back(first_slot,
                                first_slot + static_cast<Slot>(table->relation.columns.size()));
  scope.items.push_back(std::move(item));
  return scope;
}

FromPtr Binder::bind_from_item(const ast::Node* node, Scope& scope) {
  switch (node->node_kind) {
    case ast::NodeKind::range_var:
      return bind_range_var(ast::as<ast::RangeVar>(node), scope);
    case ast::NodeKind::range_subselect:
      return bind_range_subselect(ast::as<ast::RangeSubselect>(node), scope);
    case ast::NodeKind::range_function:
      return bind_range_function(ast::as<ast::RangeFunction>(node), scope);
    case ast::NodeKind::join_expr:
      return bind_join(ast::as<ast::JoinExpr>(node), scope);
    case ast::NodeKind::range_table_sample:
      unsupported("TABLESAMPLE");
    case ast::NodeKind::range_table_func:
      unsupported("XMLTABLE");
    default:
      unsupported(ast::node_name(node->node_kind));
  }
}

FromPtr Binder::bind_range_var(const ast::RangeVar& range, Scope& scope) {
  if (range.schemaname.empty()) {
    if (const auto cte = find_cte(scope, range.relname)) {
      return bind_cte_reference(cte, range, scope);
    }
  }
  const TablePtr table = require_table(range);
  depend_on(table);
  if (names_.expands(*table)) {
    if (view_depth_ == recorded_depth_) {
      read_.push_back({std::string{range.schemaname}, std::string{range.relname}, table, false, 0});
    }
    return bind_view(table, range, scope);
  }
  if (table->relation.kind == RelationKind::sequence) return bind_sequence(table, range, scope);

  const std::size_t columns = table->relation.columns.size();
  const Slot first_slot = new_slots(columns);
  Scope own = table_scope(table, table->relation.name, first_slot);
  ScopeItem item = std::move(own.items[0]);
  if (view_depth_ == recorded_depth_) {
    read_.push_back(
        {std::string{range.schemaname}, std::string{range.relname}, table, true, first_slot});
  }
  if (const ViewName* known = view_name(range)) {
    item.alias = known->name;
    if (!known->schema.empty()) item.schema = known->schema;
    restrict_to_view(item, *known);
  }
  apply_alias(item, range.alias);
  const std::string alias = item.alias;
  scope.from_slots.push_back(own.from_slots[0]);
  add_item(scope, std::move(item));
  if (table->relation.kind == RelationKind::computed) {
    return from(FromComputed{table, alias, first_slot});
  }
  return from(FromTable{table, alias, first_slot});
}

std::unique_ptr<Query> Binder::bind_view_query(const Table& view) {
  Arena parse_arena;
  const auto statements = parse_script(parse_arena, view.relation.view_sql);
  const auto* const around = std::exchange(view_names_, &view.relation.view_names);
  ++view_depth_;
  std::unique_ptr<Query> query;
  try {
    query = bind_select(ast::as<ast::SelectStmt>(statements[0]->stmt), nullptr);
  } catch (SqlError& error) {
    // The position would point into the view's text.
    error.fields().position = 0;
    view_names_ = around;
    --view_depth_;
    throw;
  }
  view_names_ = around;
  --view_depth_;
  return query;
}

void Binder::read_view(const Table& view) {
  recorded_depth_ = view_depth_ + 1;
  bind_view_query(view);
}

/// A sequence has one row: where it stands.
FromPtr Binder::bind_sequence(const TablePtr& sequence, const ast::RangeVar& range, Scope& scope) {
  Arena parse_arena;
  const std::string text = fmt::format(
      "SELECT pg_catalog.swizzle_sequence_value({0}) AS last_value, 0::int8 AS log_cnt, "
      "pg_catalog.swizzle_sequence_is_called({0}) AS is_called",
      sequence->relation.oid);
  const auto statements = parse_script(parse_arena, text);
  auto query = bind_select(ast::as<ast::SelectStmt>(statements[0]->stmt), nullptr);
  ScopeItem item;
  item.alias = sequence->relation.name;
  item.schema = names_.schema_name(sequence->relation.schema);
  for (const OutputTarget& target : query->targets) {
    mark_used(target.slot);
    item.columns.push_back({target.name,
                            target.type,
                            target.typmod,
                            target.slot,
                            {kNoOid, 0, item.alias, target.name}});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  item.show_all();
  apply_alias(item, range.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from(FromSubquery{std::move(query), std::move(alias)});
}

FromPtr Binder::bind_view(const TablePtr& view, const ast::RangeVar& range, Scope& scope) {
  std::unique_ptr<Query> query = bind_view_query(*view);
  ScopeItem item;
  item.alias = view->relation.name;
  item.schema = names_.schema_name(view->relation.schema);
  for (std::size_t i = 0; i < query->targets.size(); ++i) {
    const OutputTarget& target = query->targets[i];
    const Column& column = view->relation.columns[i];
    mark_used(target.slot);
    item.columns.push_back(
        {column.name,
         column.type,
         column.typmod,
         target.slot,
         {view->relation.oid, static_cast<std::int16_t>(i + 1), item.alias, column.name}});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  item.show_all();
  if (const ViewName* known = view_name(range)) {
    item.alias = known->name;
    if (!known->schema.empty()) item.schema = known->schema;
    restrict_to_view(item, *known);
  }
  apply_alias(item, range.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from(FromSubquery{std::move(query), std::move(alias)});
}

FromPtr Binder::bind_range_subselect(const ast::RangeSubselect& node, Scope& scope) {
  if (node.alias == nullptr) {
    throw SqlError{sqlstate::syntax_error, "subquery in FROM must have an alias"}.with_hint(
        "For example, FROM (SELECT ...) [AS] foo.");
  }
  std::unique_ptr<Query> query;
  {
    const Unreachable hidden{scope, 0, node.lateral ? 0 : scope.items.size()};
    const ClauseScope clause{scope, Clause::from_function};
    query = bind_select(ast::as<ast::SelectStmt>(node.subquery), &scope);
  }
  ScopeItem item;
  item.alias = node.alias->aliasname;
  for (const OutputTarget& target : query->targets) {
    mark_used(target.slot);
    SlotExpr::Origin origin = target.origin;
    origin.qualifier = item.alias;
    origin.name = target.name;
    item.columns.push_back({target.name, target.type, target.typmod, target.slot, origin});
    scope.from_slots.emplace_back(target.slot, target.slot + 1);
  }
  item.show_all();
  apply_alias(item, node.alias);
  std::string alias = item.alias;
  add_item(scope, std::move(item));
  return from(FromSubquery{std::move(query), std::move(alias)});
}

/// One function of FROM; its columns are appended to `item`.
FunctionScan::Call Binder::bind_from_call(const ast::Node* node, ast::NodeList definitions,
                                          Scope& scope, ScopeItem& item, std::string_view alias) {
  FunctionScan::Call call;
  std::string name;
  const auto add_column = [&](std::string_view column, TypeId type, std::int32_t typmod) {
    const Slot slot = new_slot();
    call.slots.push_back(slot);
    scope.from_slots.emplace_back(slot, slot + 1);
    item.columns.push_back(
        {std::string{column}, type, typmod, slot, {kNoOid, 0, item.alias, std::string{column}}});
  };
  const auto* function_node = ast::try_as<ast::FuncCall>(node);
  name =
      function_node != nullptr ? ast::string_of(function_node->funcname.back()) : target_name(node);
  std::optional<ResolvedFunction> resolved;
  std::vector<ExprPtr> arguments;
  if (function_node != nullptr) {
    if (function_node->over != nullptr || function_node->agg_star) {
      throw sql_error(SqlState{"42P20"}, "window functions are not allowed in functions in FROM")
          .at_position(function_node->location + 1);
    }
    std::vector<TypeId> types;
    for (const ast::Node* arg : function_node->args) {
      const auto* named = ast::try_as<ast::NamedArgExpr>(arg);
      arguments.push_back(bind_expression(named != nullptr ? named->arg : arg, scope));
      types.push_back(arguments.back()->type());
    }
    if (names_.session_function(name, arguments.size()) == nullptr) {
      FunctionCall request{.name = name, .argument_types = types};
      if (function_node->func_variadic) request.variadic = FunctionCall::Variadic::as_array;
      request.position = function_node->location + 1;
      resolved = try_resolve_function(request);
      if (!resolved && find_type(name) == nullptr) resolved = resolve_function(request);
      if (resolved && resolved->function->kind == FunctionKind::aggregate) {
        throw sql_error(sqlstate::grouping_error,
                        "aggregate functions are not allowed in functions in FROM")
            .at_position(function_node->location + 1);
      }
    }
  }
  if (resolved && resolved->function->set != nullptr) {
    const Function& function = *resolved->function;
    call.function = &function;
    call.arguments = place_arguments(*resolved, std::move(arguments));
    if (!definitions.empty()) {
      call.composite = true;
      for (const ast::Node* definition : definitions) {
        const auto& column = ast::as<ast::ColumnDef>(definition);
        const TypeReference type = bind_type(*column.type_name);
        add_column(column.colname, type.type, type.typmod);
      }
    } else if (!function.column_names.empty()) {
      call.composite = resolved->result == TypeId::record;
      for (std::size_t i = 0; i < function.column_names.size(); ++i) {
        add_column(function.column_names[i], function.column_types[i], kNoTypmod);
      }
    } else if (resolved->result == TypeId::record) {
      throw SqlError{sqlstate::syntax_error,
                     "a column definition list is required for functions returning \"record\""}
          .at_position(function_node->location + 1);
    } else {
      add_column(alias.empty() ? std::string_view{name} : alias, resolved->result, kNoTypmod);
    }
    return call;
  }
  call.scalar = bind_expression(node, scope);
  if (call.scalar->type() == TypeId::unknown) {
    call.scalar = coerce(std::move(call.scalar), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  add_column(alias.empty() ? std::string_view{name} : alias, call.scalar->type(),
             call.scalar->typmod());
  return call;
}

FromPtr Binder::bind_range_function(const ast::RangeFunction& node, Scope& scope) {
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
  item.show_all();
  apply_alias(item, node.alias);
  functions.alias = item.alias;
  add_item(scope, std::move(item));
  return from(std::move(functions));
}

namespace {

struct JoinColumn {
  ScopeColumn column;
  std::size_t item;
  std::size_t index;
};

/// The visible column of that name among the items [begin, end). Throws when there are several.
std::optional<JoinColumn> find_join_column(const Scope& scope, std::size_t begin, std::size_t end,
                                           std::string_view name, std::string_view side) {
  std::optional<JoinColumn> found;
  for (std::size_t i = begin; i < end; ++i) {
    const ScopeItem& item = scope.items[i];
    for (std::size_t c = 0; c < item.columns.size(); ++c) {
      if (!item.visible[c] || item.columns[c].name != name) continue;
      if (found) {
        throw_error(kAmbiguousColumn,
                    "common column name \"{}\" appears more than once in {} table", name, side);
      }
      found = JoinColumn{item.columns[c], i, c};
    }
  }
  return found;
}

}  // namespace

void Binder::bind_using(const ast::JoinExpr& node, FromJoin& join, Scope& scope,
                        std::size_t left_begin, std::size_t right_begin,
                        std::span<const std::string> names) {
  ScopeItem merged;
  merged.named = false;
  for (const std::string& name : names) {
    const auto left = find_join_column(scope, left_begin, right_begin, name, "left");
    const auto right = find_join_column(scope, right_begin, scope.items.size(), name, "right");
    if (!left || !right) {
      throw_error(sqlstate::undefined_column,
                  "column \"{}\" specified in USING clause does not exist in {} table", name,
                  left ? "right" : "left");
    }
    join.conditions.push_back(
        call_operator("=", slot_expr(left->column), slot_expr(right->column), -1));
    scope.items[left->item].visible[left->index] = false;
    scope.items[right->item].visible[right->index] = false;
    ScopeColumn column = left->column;
    if (join.kind == JoinKind::right) column = right->column;
    if (join.kind == JoinKind::full) {
      std::vector<ExprPtr> sides;
      sides.push_back(slot_expr(left->column));
      sides.push_back(slot_expr(right->column));
      TypeId type = TypeId::none;
      sides = unify(std::move(sides), "JOIN/USING", type, -1);
      column.type = type;
      column.slot = new_slot();
      scope.from_slots.emplace_back(column.slot, column.slot + 1);
      join.merged.push_back({column.slot, std::make_unique<CoalesceExpr>(type, std::move(sides))});
    }
    column.name = name;
    merged.columns.push_back(std::move(column));
  }
  merged.show_all();
  if (node.join_using_alias != nullptr) {
    merged.named = true;
    merged.alias = node.join_using_alias->aliasname;
  }
  scope.items.insert(scope.items.begin() + static_cast<std::ptrdiff_t>(left_begin),
                     std::move(merged));
}

FromPtr Binder::bind_join(const ast::JoinExpr& node, Scope& scope) {
  FromJoin join;
  switch (node.jointype) {
    case ast::JoinType::inner:
      join.kind = JoinKind::inner;
      break;
    case ast::JoinType::left:
      join.kind = JoinKind::left;
      break;
    case ast::JoinType::right:
      join.kind = JoinKind::right;
      break;
    case ast::JoinType::full:
      join.kind = JoinKind::full;
      break;
    default:
      unsupported("this kind of join");
  }
  const std::size_t left_begin = scope.items.size();
  const auto bind_side = [&](const ast::Node* side, JoinKind nullable_in) {
    const std::string_view around = recursion_forbidden_;
    if (join.kind == nullable_in || join.kind == JoinKind::full) {
      recursion_forbidden_ = "within an outer join";
    }
    FromPtr bound = bind_from_item(side, scope);
    recursion_forbidden_ = around;
    return bound;
  };
  join.left = bind_side(node.larg, JoinKind::right);
  const std::size_t right_begin = scope.items.size();
  join.right = bind_side(node.rarg, JoinKind::left);

  std::vector<std::string> names;
  if (node.is_natural) {
    for (std::size_t i = left_begin; i < right_begin; ++i) {
      const ScopeItem& item = scope.items[i];
      for (std::size_t c = 0; c < item.columns.size(); ++c) {
        if (!item.visible[c]) continue;
        const std::string& name = item.columns[c].name;
        if (find_join_column(scope, right_begin, scope.items.size(), name, "right")) {
          names.push_back(name);
        }
      }
    }
  }
  for (const ast::Node* name : node.using_clause) names.emplace_back(ast::string_of(name));
  if (!names.empty()) {
    bind_using(node, join, scope, left_begin, right_begin, names);
  } else if (node.quals != nullptr) {
    const Unreachable hidden{scope, 0, left_begin};
    const ClauseScope clause{scope, Clause::join_on};
    join.conditions.push_back(bind_condition(node.quals, scope, "JOIN/ON"));
  }
  if (node.alias != nullptr) {
    // The join as a whole has a name: what is inside can only be reached through it.
    ScopeItem whole;
    whole.alias = node.alias->aliasname;
    for (std::size_t i = left_begin; i < scope.items.size(); ++i) {
      ScopeItem& item = scope.items[i];
      item.named = false;
      for (std::size_t c = 0; c < item.columns.size(); ++c) {
        if (!item.visible[c]) continue;
        whole.columns.push_back(item.columns[c]);
        item.visible[c] = false;
      }
    }
    whole.show_all();
    apply_alias(whole, node.alias);
    add_item(scope, std::move(whole));
  }
  if (join.kind == JoinKind::right) {
    std::swap(join.left, join.right);
    join.kind = JoinKind::left;
  }
  return from(std::move(join));
}

FromPtr Binder::bind_cte_reference(const std::shared_ptr<Cte>& cte, const ast::RangeVar& range,
                                   Scope& scope) {
  if (!cte->bound && !cte->in_recursive_term) {
    throw sql_error(kInvalidRecursion,
                    "recursive reference to query \"{}\" must not appear within its "
                    "non-recursive term",
                    cte->name)
        .at_position(range.location + 1);
  }
  if (cte->in_recursive_term) {
    const auto refuse = [&](std::string_view why) {
      throw sql_error(kInvalidRecursion, "recursive reference to query \"{}\" must not appear {}",
                      cte->name, why)
          .at_position(range.location + 1);
    };
    if (!recursion_forbidden_.empty()) refuse(recursion_forbidden_);
    if (++cte->recursive_references > 1) refuse("more than once");
  }
  FromCte reference;
  reference.cte = cte;
  reference.reads = cte->in_recursive_term ? FromCte::Reads::working_table : FromCte::Reads::result;
  ScopeItem item;
  item.alias = cte->name;
  for (const OutputTarget& column : cte->columns) {
    const Slot slot = new_slot();
    reference.slots.push_back(slot);
    scope.from_slots.emplace_back(slot, slot + 1);
    item.columns.push_back(
        {column.name, column.type, column.typmod, slot, {kNoOid, 0, item.alias, column.name}});
  }
  item.show_all();
  apply_alias(item, range.alias);
  reference.alias = item.alias;
  if (scope.outer_slots != nullptr) {
    // What the WITH query reads from outside, its references read from there as well.
    scope.outer_slots->insert(scope.outer_slots->end(), cte->outer_slots.begin(),
                              cte->outer_slots.end());
  }
  add_item(scope, std::move(item));
  return from(std::move(reference));
}

namespace {

std::vector<OutputTarget> cte_columns(const std::vector<OutputTarget>& targets,
                                      const ast::CommonTableExpr& node) {
  if (node.aliascolnames.size() > targets.size()) {
    throw sql_error(kInvalidColumnReference,
                    "WITH query \"{}\" has {} columns available but {} columns specified",
                    node.ctename, targets.size(), node.aliascolnames.size())
        .at_position(node.location + 1);
  }
  std::vector<OutputTarget> columns;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    OutputTarget column;
    column.name = i < node.aliascolnames.size() ? std::string{ast::string_of(node.aliascolnames[i])}
                                                : targets[i].name;
    column.type = targets[i].type;
    column.typmod = targets[i].typmod;
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

void Binder::bind_with(const ast::WithClause* with, Scope& scope, Query& query) {
  const std::size_t before = scope.ctes.size();
  bind_with(with, scope, query.eager);
  for (std::size_t i = before; i < scope.ctes.size(); ++i) {
    const auto& cte = scope.ctes[i];
    if (!cte->outer_slots.empty() && cte->write == nullptr) query.correlated.push_back(cte);
  }
}

void Binder::bind_with(const ast::WithClause* with, Scope& scope,
                       std::vector<std::shared_ptr<Cte>>& eager) {
  if (with == nullptr) return;
  for (const ast::Node* item : with->ctes) {
    const auto& node = ast::as<ast::CommonTableExpr>(item);
    for (const auto& other : scope.ctes) {
      if (other->name == node.ctename) {
        throw sql_error(kDuplicateAlias, "WITH query name \"{}\" specified more than once",
                        node.ctename)
            .at_position(node.location + 1);
      }
    }
    if (node.search_clause != nullptr) unsupported("SEARCH", node.location);
    if (node.cycle_clause != nullptr) unsupported("CYCLE", node.location);
    auto cte = std::make_shared<Cte>();
    cte->name = node.ctename;
    // Slots that it reads outside are its own; whoever refers to it reads them too.
    std::vector<Slot>* const before = std::exchange(scope.outer_slots, &cte->outer_slots);
    const auto* select = ast::try_as<ast::SelectStmt>(node.ctequery);
    if (select == nullptr) {
      switch (node.ctequery->node_kind) {
        case ast::NodeKind::insert_stmt:
          cte->write = bind_insert(ast::as<ast::InsertStmt>(node.ctequery), &scope);
          break;
        case ast::NodeKind::update_stmt:
          cte->write = bind_update(ast::as<ast::UpdateStmt>(node.ctequery), &scope);
          break;
        case ast::NodeKind::delete_stmt:
          cte->write = bind_delete(ast::as<ast::DeleteStmt>(node.ctequery), &scope);
          break;
        default:
          unsupported("this statement in WITH", node.location);
      }
      cte->columns = cte_columns(cte->write->returning, node);
      eager.push_back(cte);
      scope.ctes.push_back(cte);
    } else if (with->recursive && select->op == ast::SetOperation::union_) {
      scope.ctes.push_back(cte);
      bind_recursive(*cte, node, scope);
    } else {
      cte->query = bind_select(*select, &scope);
      cte->columns = cte_columns(cte->query->targets, node);
      scope.ctes.push_back(cte);
    }
    for (const OutputTarget& target : cte->query ? cte->query->targets : cte->write->returning) {
      mark_used(target.slot);
    }
    cte->bound = true;
    scope.outer_slots = before;
  }
}

/// first UNION [ALL] second, where the second part may read what the last round found.
void Binder::bind_recursive(Cte& cte, const ast::CommonTableExpr& node, Scope& scope) {
  const auto& select = ast::as<ast::SelectStmt>(node.ctequery);
  if (!select.sort_clause.empty() || select.limit_count != nullptr ||
      select.limit_offset != nullptr) {
    unsupported("ORDER BY or LIMIT in a recursive query", node.location);
  }
  if (select.with_clause != nullptr)
    bind_with(select.with_clause, scope, *std::make_unique<Query>());
  cte.union_all = select.all;
  cte.query = bind_select(*select.larg, &scope);
  cte.columns = cte_columns(cte.query->targets, node);
  cte.in_recursive_term = true;
  const std::string_view around = std::exchange(recursion_forbidden_, std::string_view{});
  cte.recursive = bind_select(*select.rarg, &scope);
  recursion_forbidden_ = around;
  cte.in_recursive_term = false;
  if (cte.recursive->targets.size() != cte.query->targets.size()) {
    throw SqlError{sqlstate::syntax_error, "each UNION query must have the same number of columns"};
  }
  for (std::size_t i = 0; i < cte.columns.size(); ++i) {
    OutputTarget& target = cte.recursive->targets[i];
    mark_used(target.slot);
    if (target.type == cte.columns[i].type) continue;
    if (!target.expr) {
      throw_error(sqlstate::datatype_mismatch,
                  "recursive query \"{}\" column {} has type {} in non-recursive term but type {} "
                  "overall",
                  cte.name, i + 1, format_type(cte.columns[i].type), format_type(target.type));
    }
    const TypeId source = target.type;
    ExprPtr coerced =
        try_coerce(target.expr, cte.columns[i].type, kNoTypmod, Implicitness::implicit);
    if (coerced == nullptr) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "recursive query \"{}\" column {} has type {} in non-recursive term but type "
                      "{} overall",
                      cte.name, i + 1, format_type(cte.columns[i].type), format_type(source))
          .with_hint("Cast the output of the non-recursive term to the correct type.");
    }
    target.expr = std::move(coerced);
    target.type = cte.columns[i].type;
    target.slot = new_slot();
    mark_used(target.slot);
  }
}

}  // namespace swizzle::sql
