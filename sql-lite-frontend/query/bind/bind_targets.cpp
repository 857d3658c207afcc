#include <algorithm>

#include "sql-lite-frontend/query/bind/find_item.h"
#include "sql-lite-frontend/query/bind/missing_names.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// The select list: its names, stars and slots.
namespace swizzle::sql {
namespace {

std::string xml_target_name(ast::XmlExprOp op) {
  switch (op) {
    case ast::XmlExprOp::xmlconcat:
      return "xmlconcat";
    case ast::XmlExprOp::xmlelement:
      return "xmlelement";
    case ast::XmlExprOp::xmlforest:
      return "xmlforest";
    case ast::XmlExprOp::xmlparse:
      return "xmlparse";
    case ast::XmlExprOp::xmlpi:
      return "xmlpi";
    case ast::XmlExprOp::xmlroot:
      return "xmlroot";
    default:
      return "?column?";
  }
}

/// Returns the column that the expression is, virtual or not; null for other expressions.
const SlotExpr* column_named(const Expr& expr) {
  if (const auto* computed = dynamic_cast<const VirtualColumnExpr*>(&expr)) {
    return &computed->column();
  }
  return dynamic_cast<const SlotExpr*>(&expr);
}

}  // namespace

/// The name that a cast or CASE gives when nothing inside it has one.
std::string_view ExpressionBinder::weak_name(const ast::Node* node) {
  if (const auto* cast = ast::try_as<ast::TypeCast>(node)) {
    return ast::string_of(cast->type_name->names.back());
  }
  return "case";
}

std::string ExpressionBinder::target_name(const ast::Node* node) {
  check_stack();
  switch (ast::kind_of(node)) {
    case ast::NodeKind::column_ref: {
      const ast::Node* last = ast::as<ast::ColumnRef>(node).fields.back();
      if (const auto* name = ast::try_as<ast::String>(last)) return std::string{name->sval};
      break;
    }
    case ast::NodeKind::a_indirection: {
      const auto& indirection = ast::as<ast::A_Indirection>(node);
      for (auto part = indirection.indirection.rbegin(); part != indirection.indirection.rend();
           ++part) {
        if (const auto* name = ast::try_as<ast::String>(*part)) return std::string{name->sval};
      }
      return target_name(indirection.arg);
    }
    case ast::NodeKind::func_call:
      return std::string{ast::string_of(ast::as<ast::FuncCall>(node).funcname.back())};
    case ast::NodeKind::type_cast: {
      const auto& cast = ast::as<ast::TypeCast>(node);
      // A cast gives its name only to an expression without a better one, another cast's or CASE's
      // included.
      const bool weak = ast::is<ast::TypeCast>(cast.arg) || ast::is<ast::CaseExpr>(cast.arg);
      std::string name = target_name(cast.arg);
      if (name == "?column?" || (weak && name == weak_name(cast.arg))) {
        name = ast::string_of(cast.type_name->names.back());
      }
      return name;
    }
    case ast::NodeKind::collate_clause:
      return target_name(ast::as<ast::CollateClause>(node).arg);
    case ast::NodeKind::case_expr: {
      const auto& branch = ast::as<ast::CaseExpr>(node);
      std::string name =
          branch.defresult != nullptr ? target_name(branch.defresult) : std::string{"?column?"};
      return name == "?column?" ? "case" : name;
    }
    case ast::NodeKind::coalesce_expr:
      return "coalesce";
    case ast::NodeKind::merge_support_func:
      return "merge_action";
    case ast::NodeKind::grouping_func:
      return "grouping";
    case ast::NodeKind::min_max_expr:
      return ast::as<ast::MinMaxExpr>(node).op == ast::MinMaxOp::greatest ? "greatest" : "least";
    case ast::NodeKind::a_expr:
      if (ast::as<ast::A_Expr>(node).kind == ast::A_Expr_Kind::nullif) return "nullif";
      break;
    case ast::NodeKind::json_object_constructor:
      return "json_object";
    case ast::NodeKind::json_array_constructor:
    case ast::NodeKind::json_array_query_constructor:
      return "json_array";
    case ast::NodeKind::json_object_agg:
      return "json_objectagg";
    case ast::NodeKind::json_array_agg:
      return "json_arrayagg";
    case ast::NodeKind::json_parse_expr:
      return "json";
    case ast::NodeKind::json_scalar_expr:
      return "json_scalar";
    case ast::NodeKind::json_serialize_expr:
      return "json_serialize";
    case ast::NodeKind::json_func_expr: {
      const ast::JsonExprOp op = ast::as<ast::JsonFuncExpr>(node).op;
      return op == ast::JsonExprOp::exists_op  ? "json_exists"
             : op == ast::JsonExprOp::query_op ? "json_query"
                                               : "json_value";
    }
    case ast::NodeKind::xml_expr:
      return xml_target_name(ast::as<ast::XmlExpr>(node).op);
    case ast::NodeKind::xml_serialize:
      return "xmlserialize";
    case ast::NodeKind::row_expr:
      return "row";
    case ast::NodeKind::a_array_expr:
      return "array";
    case ast::NodeKind::sub_link: {
      const auto& link = ast::as<ast::SubLink>(node);
      if (link.sub_link_type == ast::SubLinkType::exists_sublink) return "exists";
      if (link.sub_link_type == ast::SubLinkType::array_sublink) return "array";
      if (link.sub_link_type == ast::SubLinkType::expr_sublink) {
        const auto& select = ast::as<ast::SelectStmt>(link.subselect);
        if (!select.target_list.empty()) {
          const auto& target = ast::as<ast::ResTarget>(select.target_list[0]);
          return target.name.empty() ? target_name(target.val) : std::string{target.name};
        }
      }
      break;
    }
    case ast::NodeKind::sqlvalue_function: {
      using Op = ast::SQLValueFunctionOp;
      switch (ast::as<ast::SQLValueFunction>(node).op) {
        case Op::current_date:
          return "current_date";
        case Op::current_time:
        case Op::current_time_n:
          return "current_time";
        case Op::current_timestamp:
        case Op::current_timestamp_n:
          return "current_timestamp";
        case Op::localtime:
        case Op::localtime_n:
          return "localtime";
        case Op::localtimestamp:
        case Op::localtimestamp_n:
          return "localtimestamp";
        case Op::current_role:
          return "current_role";
        case Op::current_user:
          return "current_user";
        case Op::user:
          return "user";
        case Op::session_user:
          return "session_user";
        case Op::current_catalog:
          return "current_catalog";
        case Op::current_schema:
          return "current_schema";
        case Op::undefined:
          break;
      }
      break;
    }
    default:
      break;
  }
  return "?column?";
}

void ExpressionBinder::expand_star(const ast::ColumnRef& node, Scope& scope,
                                   std::vector<OutputTarget>& targets) {
  const auto add = [&](const ScopeColumn& column) {
    if (column.computed)
      unsupported("reading a computed column of the written view", node.location);
    OutputTarget target;
    target.expr = slot_expr(column);
    target.expr->set_location(node.location);
    target.name = column.name;
    target.origin = column.origin;
    targets.push_back(std::move(target));
  };
  if (node.fields.size() == 1) {
    bool any = false;
    for (const ScopeItem& item : scope.items) {
      any = true;
      for (std::size_t i = 0; i < item.columns.size(); ++i) {
        if (item.visible[i] && !item.columns[i].hidden_from_star) add(item.columns[i]);
      }
    }
    if (!any) {
      throw SqlError{sqlstate::syntax_error, "SELECT * with no tables specified is not valid"}
          .at_position(node.location + 1);
    }
    return;
  }
  const std::string_view alias = ast::string_of(node.fields[node.fields.size() - 2]);
  const std::string_view schema = node.fields.size() > 2
                                      ? ast::string_of(node.fields[node.fields.size() - 3])
                                      : std::string_view{};
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    const ScopeItem* const item = find_item(*at, schema, alias, node.location);
    if (item == nullptr) continue;
    for (const ScopeColumn& column : item->columns) {
      if (column.hidden_from_star) continue;
      add(column);
      for (Scope* level = &scope; level != at; level = level->parent) {
        if (level->outer_slots != nullptr)
          add_slots_read(*targets.back().expr, *level->outer_slots);
      }
    }
    return;
  }
  if (const ExprPtr variable = body_variable(node, Fields::must_be)) {
    auto& row = dynamic_cast<RowExpr&>(*variable);
    for (std::size_t i = 0; i < row.names.size(); ++i) {
      OutputTarget target;
      target.expr = std::move(row.mutable_operands()[i]);
      target.name = row.names[i];
      targets.push_back(std::move(target));
    }
    return;
  }
  if (const ExprPtr parameter = row_parameter(node)) {
    for (const std::string& name : row_shape(base_type(parameter->type()))->names) {
      OutputTarget target;
      target.expr = field_of(row_parameter(node), name, node.location);
      target.name = name;
      targets.push_back(std::move(target));
    }
    return;
  }
  throw_missing_table(scope, schema, alias, node.location);
}

/// (composite).*: its fields. False for anything else.
bool ExpressionBinder::expand_composite(const ast::Node* node, Scope& scope,
                                        std::vector<OutputTarget>& targets) {
  const auto* indirection = ast::try_as<ast::A_Indirection>(node);
  if (indirection == nullptr || !ast::is<ast::A_Star>(indirection->indirection.back())) {
    return false;
  }
  if (const auto* column = ast::try_as<ast::ColumnRef>(indirection->arg);
      column != nullptr && column->fields.size() == 1 && indirection->indirection.size() == 1 &&
      is_row_of_view(ast::string_of(column->fields[0]), column->location, scope)) {
    // A relation in a view's text shows the columns that it had when the view was made.
    auto* const fields = arena_.allocate_array<const ast::Node*>(2);
    fields[0] = column->fields[0];
    fields[1] = indirection->indirection[0];
    ast::ColumnRef star = *column;
    star.fields = ast::NodeList{fields, 2};
    expand_star(star, scope, targets);
    return true;
  }
  const ast::Node* whole = indirection->arg;
  if (const auto parts = indirection->indirection.first(indirection->indirection.size() - 1);
      !parts.empty()) {
    auto* const before =
        new (arena_.allocate(sizeof(ast::A_Indirection), alignof(ast::A_Indirection)))
            ast::A_Indirection{*indirection};
    before->indirection = parts;
    whole = before;
  }
  const ExprPtr record = bind_expression(whole, scope);
  std::vector<std::string> names;
  if (const auto* row = dynamic_cast<const RowExpr*>(record.get())) {
    names = row->names;
  } else if (const auto fields = record_fields_of(*record)) {
    names.assign(fields->names.begin(), fields->names.end());
  }
  if (const auto shape = row_shape(base_type(record->type()))) names = shape->names;
  if (names.empty()) return false;
  for (const std::string& name : names) {
    OutputTarget target;
    target.expr = field_of(bind_expression(whole, scope), name, -1);
    target.name = name;
    if (const SlotExpr* column = column_named(*target.expr)) target.origin = column->origin();
    targets.push_back(std::move(target));
  }
  return true;
}

void QueryBinder::refuse_more_targets(std::size_t count) {
  if (count <= kMostRowColumns) return;
  throw_error(sqlstate::too_many_columns, "target lists can have at most {} entries",
              kMostRowColumns);
}

void QueryBinder::bind_targets(ast::NodeList list, Scope& scope,
                               std::vector<OutputTarget>& targets) {
  for (const ast::Node* node : list) {
    refuse_more_targets(targets.size());
    const auto& item = ast::as<ast::ResTarget>(node);
    if (const auto* column = ast::try_as<ast::ColumnRef>(item.val);
        column != nullptr && ast::is<ast::A_Star>(column->fields.back())) {
      expand_star(*column, scope, targets);
      continue;
    }
    if (expand_composite(item.val, scope, targets)) continue;
    OutputTarget target;
    target.expr = bind_expression(item.val, scope);
    target.name = item.name.empty() ? target_name(item.val) : std::string{item.name};
    if (const SlotExpr* column = column_named(*target.expr)) target.origin = column->origin();
    targets.push_back(std::move(target));
  }
}

/// Gives every target its final type and a slot.
void QueryBinder::finish_targets(std::vector<OutputTarget>& targets, OutputTypes output) {
  refuse_more_targets(targets.size());
  for (OutputTarget& target : targets) {
    if (target.expr->type() == TypeId::unknown && output == OutputTypes::final) {
      target.expr = coerce(std::move(target.expr), TypeId::text, kNoTypmod, Implicitness::implicit);
      target.was_untyped = true;
    }
    target.type = target.expr->type();
    target.typmod = target.expr->typmod();
    const auto* column = dynamic_cast<const SlotExpr*>(target.expr.get());
    // A computed target counts as used as soon as something reads it.
    target.slot = column != nullptr ? column->slot() : new_slot();
  }
}

}  // namespace swizzle::sql
