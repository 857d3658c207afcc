#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bind/boolean_expressions.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/row_order.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// Row constructors: comparison, order, and search in lists.
namespace swizzle::sql {

namespace {

/// Returns the row constructor, perhaps inside a cast to a composite type; null for anything else.
RowExpr* as_written_row(Expr* expr) noexcept {
  auto* const row = dynamic_cast<RowExpr*>(expr);
  return row != nullptr && row->is_written ? row : nullptr;
}

}  // namespace

std::vector<ExprPtr> ExpressionBinder::fields_or_value(const ast::Node* node, Scope& scope) {
  if (const auto* row = ast::try_as<ast::RowExpr>(node)) return fields_of_row(*row, scope);
  std::vector<ExprPtr> value;
  value.push_back(bind_expression(node, scope));
  RowExpr* const row = as_written_row(value[0].get());
  return row == nullptr ? std::move(value) : std::move(row->mutable_operands());
}

namespace {

/// An ordering operator, and the others of its order.
struct RowOperator {
  std::string_view name;
  std::string_view less;
  std::string_view weak;
};
constexpr RowOperator kRowOperators[] = {
    {"<", "<", "<="}, {"<=", "<", "<="}, {">", ">", ">="}, {">=", ">", ">="}};

const RowOperator* ordering_row_operator(std::string_view op) {
  const auto* const found = std::ranges::find(kRowOperators, op, &RowOperator::name);
  return found == std::end(kRowOperators) ? nullptr : found;
}

}  // namespace

/// Binds (a, b) op (c, d): equality column by column, order from the left.
ExprPtr ExpressionBinder::row_comparison(std::string_view op, std::vector<ExprPtr> left,
                                         std::vector<ExprPtr> right, std::int32_t location) {
  if (left.size() != right.size()) {
    throw SqlError{sqlstate::syntax_error, "unequal number of entries in row expressions"}
        .at_position(location + 1);
  }
  if (left.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "cannot compare rows of zero length"}
        .at_position(location + 1);
  }
  if (left.size() == 1) {
    return call_operator(op, std::move(left[0]), std::move(right[0]), location);
  }
  if (ordering_row_operator(op) != nullptr) {
    return row_order(op, std::move(left), std::move(right), location);
  }
  const bool equality = op == "=";
  if (!equality && op != "<>") unsupported("this comparison of rows", location);
  std::vector<ExprPtr> parts;
  for (std::size_t i = 0; i < left.size(); ++i) {
    parts.push_back(call_operator(op, std::move(left[i]), std::move(right[i]), location));
  }
  return boolean(equality ? BooleanExpr::Kind::conjunction : BooleanExpr::Kind::disjunction,
                 std::move(parts));
}

/// Compares two rows by the order of the types of each pair of fields.
ExprPtr ExpressionBinder::row_order(std::string_view op, std::vector<ExprPtr> left,
                                    std::vector<ExprPtr> right, std::int32_t location) {
  const RowOperator& order = *ordering_row_operator(op);
  std::vector<RowOrderExpr::Field> fields;
  std::vector<ExprPtr> operands;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const ResolvedOperator resolved = resolve_operator({.name = op,
                                                        .left = left[i]->type(),
                                                        .right = right[i]->type(),
                                                        .position = location + 1,
                                                        .casts = names_.made_casts()});
    const bool is_ordered = value_type(resolved.left).order.compare != nullptr &&
                            value_type(resolved.right).order.compare != nullptr;
    if (!is_ordered) {
      throw sql_error(sqlstate::feature_not_supported,
                      "could not determine interpretation of row comparison operator {}", op)
          .with_hint("Row comparison operators must be associated with btree operator families.")
          .at_position(location + 1);
    }
    const DerivedCollation collation = merge_collations(names_, left[i], right[i]);
    std::vector<ExprPtr> pair =
        list_of(coerce(std::move(left[i]), resolved.left, kNoTypmod, Implicitness::implicit),
                coerce(std::move(right[i]), resolved.right, kNoTypmod, Implicitness::implicit));
    const auto beside = [&](std::string_view name) {
      const ResolvedOperator other = resolve_operator(name, resolved.left, resolved.right);
      return &collated(*other.op, pair, collation);
    };
    fields.push_back({&collated(*resolved.op, pair, collation), beside(order.less),
                      beside(order.weak), beside("=")});
    operands.insert(operands.end(), std::make_move_iterator(pair.begin()),
                    std::make_move_iterator(pair.end()));
  }
  auto expr = std::make_unique<RowOrderExpr>(std::move(fields), std::move(operands));
  expr->set_location(location);
  return expr;
}

ExprPtr ExpressionBinder::bind_rows_beside(std::string_view op, const ast::Node* left,
                                           const ast::Node* right, Scope& scope,
                                           std::int32_t location) {
  const auto* const left_row = ast::try_as<ast::RowExpr>(left);
  if (left_row == nullptr) return nullptr;
  if (const auto* const right_row = ast::try_as<ast::RowExpr>(right)) {
    return bind_row_operator(op, *left_row, *right_row, scope, location);
  }
  const auto* const query = ast::try_as<ast::SubLink>(right);
  if (query == nullptr || query->sub_link_type != ast::SubLinkType::expr_sublink) return nullptr;
  return bind_row_subquery(op, *left_row, *query, scope, location);
}

ExprPtr ExpressionBinder::bind_row_operator(std::string_view op, const ast::RowExpr& left_row,
                                            const ast::RowExpr& right_row, Scope& scope,
                                            std::int32_t location) {
  std::vector<ExprPtr> left = fields_of_row(left_row, scope);
  std::vector<ExprPtr> right = fields_of_row(right_row, scope);
  return row_comparison(op, std::move(left), std::move(right), location);
}

/// Binds (a, b) = (SELECT c, d …).
ExprPtr ExpressionBinder::bind_row_subquery(std::string_view op, const ast::RowExpr& row,
                                            const ast::SubLink& link, Scope& scope,
                                            std::int32_t location) {
  std::vector<ExprPtr> left = fields_of_row(row, scope);
  const std::string_view around = std::exchange(recursion_forbidden_, "within a subquery");
  std::unique_ptr<Query> query = bind_select(ast::as<ast::SelectStmt>(link.subselect), &scope);
  recursion_forbidden_ = around;
  if (left.size() != query->targets.size()) {
    throw SqlError{sqlstate::syntax_error, left.size() > query->targets.size()
                                               ? "subquery has too few columns"
                                               : "subquery has too many columns"}
        .at_position(location + 1);
  }
  std::vector<ExprPtr> right;
  for (const OutputTarget& target : query->targets) {
    mark_used(target.slot);
    right.push_back(
        std::make_unique<SlotExpr>(target.type, target.typmod, target.slot, SlotExpr::Origin{}));
  }
  auto expr = std::make_unique<SubqueryExpr>(SubqueryExpr::Kind::row, TypeId::bool_, kNoTypmod);
  expr->set_comparison(row_comparison(op, std::move(left), std::move(right), location), {});
  expr->set_location(location);
  expr->outer_slots = query->outer_slots;
  plan_later(*expr, std::move(query), SubqueryExpr::Correlation::outer);
  return expr;
}

/// Binds (a, b) IN ((c, d), …). Two row constructors are compared field by field, so that a NULL in
/// one may make the result NULL; composite values with two NULLs are equal.
ExprPtr ExpressionBinder::row_among(const ast::A_Expr& node, Scope& scope) {
  const auto& row = ast::as<ast::RowExpr>(node.lexpr);
  std::vector<ExprPtr> alternatives;
  const auto for_next = [&](auto bind) {
    if (alternatives.empty()) return bind();
    const RepeatedBinding::Again again{repeated_, RepeatedBinding::For::each_of_a_list};
    return bind();
  };
  for (const ast::Node* item : ast::as<ast::List>(node.rexpr).items) {
    std::vector<ExprPtr> right;
    if (const auto* values = ast::try_as<ast::RowExpr>(item)) {
      right = fields_of_row(*values, scope);
    } else {
      ExprPtr value = bind_expression(item, scope);
      RowExpr* const written = as_written_row(value.get());
      if (written == nullptr) {
        ExprPtr left = for_next([&] { return bind_row(row, scope); });
        alternatives.push_back(
            call_operator("=", std::move(left), std::move(value), node.location));
        continue;
      }
      right = std::move(written->mutable_operands());
    }
    std::vector<ExprPtr> left = for_next([&] { return fields_of_row(row, scope); });
    alternatives.push_back(row_comparison("=", std::move(left), std::move(right), node.location));
  }
  return boolean(BooleanExpr::Kind::disjunction, std::move(alternatives));
}

/// Binds IN where an element has, or is cast to, a composite type. If several elements read no
/// column and have a common type, PostgreSQL makes an array of them, whose elements are compared as
/// values. Other elements are compared field by field if they are row constructors.
ExprPtr ExpressionBinder::composite_among(const ast::A_Expr& node, Scope& scope, ExprPtr left,
                                          std::vector<ExprPtr> elements) {
  const auto reads_column = [&](Expr& expr) {
    bool reads = false;
    walk(expr, [&](Expr& part) {
      const auto* slot = dynamic_cast<const SlotExpr*>(&part);
      if (slot == nullptr) return;
      const bool is_outer =
          scope.outer_slots != nullptr &&
          std::ranges::find(*scope.outer_slots, slot->slot()) != scope.outer_slots->end();
      reads |= !is_outer;
    });
    return reads;
  };
  std::vector<TypeId> types{left->type()};
  std::vector<bool> is_in_array(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    is_in_array[i] = !reads_column(*elements[i]);
    if (is_in_array[i]) types.push_back(elements[i]->type());
  }
  TypeId common = TypeId::none;
  if (types.size() > 2) {
    try {
      common = select_common_type(types, "IN", node.location + 1);
    } catch (const SqlError&) {
      common = TypeId::none;
    }
  }
  common = base_type(common);
  const auto fits = [&](TypeId type) {
    return type == TypeId::unknown || base_type(type) == common;
  };
  const bool has_array = is_composite(common) && std::ranges::all_of(types, fits);
  const auto& items = ast::as<ast::List>(node.rexpr).items;
  std::vector<ExprPtr> alternatives;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    ExprPtr subject = i == 0 ? std::move(left) : bind_subject_again(node.lexpr, scope);
    if (has_array && is_in_array[i]) {
      subject = coerce(std::move(subject), common, kNoTypmod, Implicitness::implicit);
      elements[i] = coerce(std::move(elements[i]), common, kNoTypmod, Implicitness::implicit);
    } else if (RowExpr* const row = as_written_row(subject.get());
               row != nullptr && as_written_row(elements[i].get()) != nullptr) {
      // A row without a type is bound again, because its literals have become text.
      std::vector<ExprPtr> fields;
      if (ast::is<ast::RowExpr>(items[i])) {
        const RepeatedBinding::Again again{repeated_, RepeatedBinding::For::each_of_a_list};
        fields = fields_or_value(items[i], scope);
      } else {
        fields = std::move(as_written_row(elements[i].get())->mutable_operands());
      }
      alternatives.push_back(row_comparison("=", std::move(row->mutable_operands()),
                                            std::move(fields), node.location));
      continue;
    }
    alternatives.push_back(
        call_operator("=", std::move(subject), std::move(elements[i]), node.location));
  }
  return boolean(BooleanExpr::Kind::disjunction, std::move(alternatives));
}

/// Binds ROW(a, b) IS DISTINCT FROM ROW(c, d).
ExprPtr ExpressionBinder::row_distinction(DistinctExpr::Kind kind, const ast::RowExpr& left_row,
                                          const ast::RowExpr& right_row, Scope& scope,
                                          std::int32_t location) {
  const bool is_negated = kind == DistinctExpr::Kind::not_distinct;
  std::vector<ExprPtr> left = fields_of_row(left_row, scope);
  std::vector<ExprPtr> right = fields_of_row(right_row, scope);
  if (left.size() != right.size()) {
    throw SqlError{sqlstate::syntax_error, "unequal number of entries in row expressions"}
        .at_position(location + 1);
  }
  if (left.empty()) return constant(TypeId::bool_, Value::from_bool(is_negated));
  std::vector<ExprPtr> parts;
  for (std::size_t i = 0; i < left.size(); ++i) {
    parts.push_back(distinction(kind, std::move(left[i]), std::move(right[i]), location));
  }
  return boolean(is_negated ? BooleanExpr::Kind::conjunction : BooleanExpr::Kind::disjunction,
                 std::move(parts));
}

}  // namespace swizzle::sql
