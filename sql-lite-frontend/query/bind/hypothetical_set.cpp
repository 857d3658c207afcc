#include "sql-lite-frontend/query/bind/hypothetical_set.h"

#include <algorithm>
#include <vector>

namespace swizzle::sql {
namespace {

class Counts {
 public:
  Counts(Arena& arena, const ast::FuncCall& call) : arena_(arena), call_(call) {}

  const ast::Node* rank() { return operation("+", count(before(Ties::after)), one()); }
  const ast::Node* dense_rank() {
    auto& row = make<ast::RowExpr>();
    std::vector<const ast::Node*> keys;
    for (const ast::Node* item : call_.agg_order) keys.push_back(ast::as<ast::SortBy>(item).node);
    row.args = list(keys);
    row.row_format = ast::CoercionForm::explicit_call;
    auto& distinct = counting(before(Ties::after));
    distinct.agg_star = false;
    distinct.agg_distinct = true;
    distinct.args = list({&row});
    return operation("+", &distinct, one());
  }
  /// Of no rows it is 0.
  const ast::Node* percent_rank() {
    auto& none = make<ast::A_Expr>();
    none.kind = ast::A_Expr_Kind::nullif;
    none.name = list({word("=")});
    none.lexpr = float8(count(nullptr));
    none.rexpr = float8(zero());
    none.location = call_.location;
    auto& either = make<ast::CoalesceExpr>();
    either.args = list({operation("/", float8(count(before(Ties::after))), &none), float8(zero())});
    either.location = call_.location;
    return &either;
  }
  const ast::Node* cume_dist() {
    return operation("/", float8(operation("+", count(before(Ties::before)), one())),
                     float8(operation("+", count(nullptr), one())));
  }

 private:
  /// Place of rows that sort as the hypothetical one does.
  enum class Ties : bool { before, after };

  template <class T>
  T& make() {
    auto* const node = new (arena_.allocate(sizeof(T), alignof(T))) T{};
    node->node_kind = T::kKind;
    return *node;
  }
  ast::NodeList list(const std::vector<const ast::Node*>& nodes) {
    auto* const items = arena_.allocate_array<const ast::Node*>(nodes.size());
    std::ranges::copy(nodes, items);
    return ast::NodeList{items, nodes.size()};
  }
  const ast::Node* word(std::string_view text) {
    auto& node = make<ast::String>();
    node.sval = text;
    return &node;
  }
  const ast::Node* number(std::int32_t value) {
    auto& integer = make<ast::Integer>();
    integer.ival = value;
    auto& node = make<ast::A_Const>();
    node.ival = &integer;
    node.location = call_.location;
    return &node;
  }
  const ast::Node* zero() { return number(0); }
  const ast::Node* one() { return number(1); }
  const ast::Node* operation(std::string_view name, const ast::Node* left, const ast::Node* right) {
    auto& node = make<ast::A_Expr>();
    node.kind = ast::A_Expr_Kind::op;
    node.name = list({word("pg_catalog"), word(name)});
    node.lexpr = left;
    node.rexpr = right;
    node.location = call_.location;
    return &node;
  }
  ast::FuncCall& function(std::string_view name) {
    auto& node = make<ast::FuncCall>();
    node.funcname = list({word("pg_catalog"), word(name)});
    node.location = call_.location;
    return node;
  }
  const ast::Node* float8(const ast::Node* value) {
    ast::FuncCall& node = function("float8");
    node.args = list({value});
    return &node;
  }
  const ast::Node* all_of(ast::BoolExprType how, const ast::Node* left, const ast::Node* right) {
    auto& node = make<ast::BoolExpr>();
    node.boolop = how;
    node.args = list({left, right});
    node.location = call_.location;
    return &node;
  }
  const ast::Node* is_null(const ast::Node* value, ast::NullTestType type) {
    auto& node = make<ast::NullTest>();
    node.arg = value;
    node.nulltesttype = type;
    node.location = call_.location;
    return &node;
  }
  /// count(*) of the call's rows for which the condition holds; null: of all.
  ast::FuncCall& counting(const ast::Node* condition) {
    ast::FuncCall& node = function("count");
    node.agg_star = true;
    const ast::Node* filter = call_.agg_filter.raw();
    if (filter != nullptr && condition != nullptr) {
      filter = all_of(ast::BoolExprType::and_expr, filter, condition);
    } else if (condition != nullptr) {
      filter = condition;
    }
    node.agg_filter = filter;
    return node;
  }
  const ast::Node* count(const ast::Node* condition) { return &counting(condition); }

  /// True for a row that sorts before the hypothetical one in this key alone.
  const ast::Node* is_less(const ast::SortBy& sort, const ast::Node* value) {
    const bool is_using = sort.sortby_dir == ast::SortByDir::using_;
    const bool descends = is_using ? ast::string_of(sort.use_op.back()) == ">"
                                   : sort.sortby_dir == ast::SortByDir::desc;
    const bool nulls_first = sort.sortby_nulls == ast::SortByNulls::first ||
                             (sort.sortby_nulls != ast::SortByNulls::last && descends);
    auto& compared = make<ast::A_Expr>();
    compared.kind = ast::A_Expr_Kind::op;
    compared.name = is_using ? sort.use_op : list({word(descends ? ">" : "<")});
    compared.lexpr = sort.node;
    compared.rexpr = value;
    compared.location = call_.location;
    using enum ast::NullTestType;
    const ast::Node* const by_null =
        all_of(ast::BoolExprType::and_expr, is_null(sort.node, nulls_first ? null : not_null),
               is_null(value, nulls_first ? not_null : null));
    return all_of(ast::BoolExprType::or_expr, &compared, by_null);
  }
  /// True for a row that sorts before the hypothetical one: less in the first key in which they
  /// differ.
  const ast::Node* before(Ties ties) {
    const ast::Node* condition = nullptr;
    for (std::size_t i = call_.agg_order.size(); i-- > 0;) {
      const auto& sort = ast::as<ast::SortBy>(call_.agg_order[i]);
      const ast::Node* const value = call_.args[i];
      auto& equal = make<ast::A_Expr>();
      equal.kind = ast::A_Expr_Kind::not_distinct;
      equal.name = list({word("=")});
      equal.lexpr = sort.node;
      equal.rexpr = value;
      equal.location = call_.location;
      const ast::Node* rest = condition;
      if (rest != nullptr) {
        rest = all_of(ast::BoolExprType::and_expr, &equal, rest);
      } else if (ties == Ties::before) {
        rest = &equal;
      }
      condition = is_less(sort, value);
      if (rest != nullptr) condition = all_of(ast::BoolExprType::or_expr, condition, rest);
    }
    return condition;
  }

  Arena& arena_;
  const ast::FuncCall& call_;
};

}  // namespace

const ast::Node* counted_hypothetical_set(Arena& arena, const ast::FuncCall& call) {
  const std::string_view name = ast::string_of(call.funcname.back());
  Counts counts{arena, call};
  if (name == "rank") return counts.rank();
  if (name == "dense_rank") return counts.dense_rank();
  return name == "percent_rank" ? counts.percent_rank() : counts.cume_dist();
}

}  // namespace swizzle::sql
