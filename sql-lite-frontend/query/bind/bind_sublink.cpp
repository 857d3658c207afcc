#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

/// Subqueries within expressions.
namespace swizzle::sql {
namespace {

// Length of the longest operand that is bound twice: if such operands are nested, the work doubles
// at each level.
constexpr std::size_t kMostBoundTwice = 256;

std::string described(const ast::Node& tree) {
  std::string text;
  ast::describe(tree, text);
  constexpr std::size_t kWorkOfLetter = 10;
  yield_point(text.size() * kWorkOfLetter);
  return text;
}

}  // namespace

ExprPtr ExpressionBinder::bind_sublink(const ast::SubLink& node, Scope& scope) {
  if (const std::string_view where = subquery_refusal(scope.clause); !where.empty()) {
    throw sql_error(sqlstate::feature_not_supported, "cannot use subquery in {}", where)
        .at_position(node.location + 1);
  }
  const auto& select = ast::as<ast::SelectStmt>(node.subselect);
  const std::string_view around = std::exchange(recursion_forbidden_, "within a subquery");
  std::unique_ptr<Query> query = bind_select(select, &scope);
  recursion_forbidden_ = around;
  const auto columns = static_cast<std::size_t>(query->targets.size());
  using Kind = SubqueryExpr::Kind;
  const auto one_column = [&](std::string_view message) {
    if (columns != 1) {
      throw SqlError{sqlstate::syntax_error, std::string{message}}.at_position(node.location + 1);
    }
  };
  std::unique_ptr<SubqueryExpr> expr;
  switch (node.sub_link_type) {
    case ast::SubLinkType::exists_sublink:
      expr = std::make_unique<SubqueryExpr>(Kind::exists, TypeId::bool_, kNoTypmod);
      break;
    case ast::SubLinkType::expr_sublink:
      one_column("subquery must return only one column");
      expr = std::make_unique<SubqueryExpr>(Kind::scalar, query->targets[0].type,
                                            query->targets[0].typmod);
      break;
    case ast::SubLinkType::array_sublink: {
      one_column("subquery must return only one column");
      const TypeId element = query->targets[0].type;
      const bool has_arrays = array_type(element) == TypeId::none && is_array(element);
      const TypeId array = has_arrays ? element : array_type(element);
      if (array == TypeId::none) {
        throw_error(sqlstate::undefined_object, "could not find array type for data type {}",
                    format_type(element));
      }
      expr = std::make_unique<SubqueryExpr>(has_arrays ? Kind::arrays : Kind::array, array,
                                            query->targets[0].typmod);
      break;
    }
    case ast::SubLinkType::any_sublink:
    case ast::SubLinkType::all_sublink: {
      const bool any = node.sub_link_type == ast::SubLinkType::any_sublink;
      expr = std::make_unique<SubqueryExpr>(any ? Kind::any : Kind::all, TypeId::bool_, kNoTypmod);
      const std::string_view op =
          node.oper_name.empty() ? "=" : ast::string_of(node.oper_name.back());
      std::vector<ExprPtr> left = fields_or_value(node.testexpr, scope);
      if (left.size() != columns) {
        throw SqlError{sqlstate::syntax_error, left.size() > columns
                                                   ? "subquery has too few columns"
                                                   : "subquery has too many columns"}
            .at_position(node.location + 1);
      }
      std::vector<ExprPtr> right;
      for (const OutputTarget& target : query->targets) {
        mark_used(target.slot);
        right.push_back(std::make_unique<SlotExpr>(target.type, target.typmod, target.slot,
                                                   SlotExpr::Origin{}));
      }
      std::vector<ExprPtr> hash_left;
      const bool may_be_hashed =
          any && op == "=" && described(*node.testexpr).size() < kMostBoundTwice;
      if (may_be_hashed && are_hashed_alike(left, right)) {
        hash_left = fields_or_value(node.testexpr, scope);
        for (std::size_t i = 0; i < columns; ++i) {
          hash_left[i] =
              coerce(std::move(hash_left[i]), right[i]->type(), kNoTypmod, Implicitness::implicit);
        }
      }
      ExprPtr comparison = row_comparison(op, std::move(left), std::move(right), node.location);
      expr->set_comparison(std::move(comparison), std::move(hash_left));
      break;
    }
    default:
      unsupported("this kind of subquery", node.location);
  }
  expr->set_location(node.location);
  expr->outer_slots = query->outer_slots;
  std::string signature = described(node);
  if (signature.size() <= ast::kLongestDescription) expr->set_signature(std::move(signature));
  const auto correlation = query->outer_slots.empty() ? SubqueryExpr::Correlation::none
                                                      : SubqueryExpr::Correlation::outer;
  plan_later(*expr, std::move(query), correlation);
  return expr;
}

/// Returns true if "=" on each column is the equality of the type's keys, so that IN can use a hash
/// table.
bool ExpressionBinder::are_hashed_alike(const std::vector<ExprPtr>& left,
                                        const std::vector<ExprPtr>& right) const {
  for (std::size_t i = 0; i < left.size(); ++i) {
    const TypeId type = right[i]->type();
    const DerivedCollation collation = merge_collations(names_, left[i], right[i]);
    // Every deterministic collation has the same equality: that of the bytes.
    const bool tells_alike = collation.strength != DerivedCollation::Strength::conflict &&
                             !is_nondeterministic(effective(collation));
    const bool is_same = without_collation(left[i]->type()) == without_collation(type) ||
                         left[i]->type() == TypeId::unknown;
    if (!is_same || !is_indexable(type)) return false;
    if (!tells_alike && with_derived(type, collation) != type) return false;
  }
  return true;
}

void ExpressionBinder::plan_later(SubqueryExpr& expr, std::unique_ptr<Query> query,
                                  SubqueryExpr::Correlation correlation) {
  pending_.emplace_back(expr, std::move(query));
  expr.set_place(static_cast<int>(pending_.size()), new_state(), correlation);
}

}  // namespace swizzle::sql
