#include <fmt/format.h>

#include <array>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// UNION, INTERSECT and EXCEPT.
namespace swizzle::sql {
namespace {

std::int32_t location_of_first(const std::vector<OutputTarget>& targets) {
  return targets.empty() || !targets[0].expr ? -1 : targets[0].expr->location();
}

/// Lets the other part of a set operation determine the types of literals and parameters before
/// they become text, unless this part itself compares them.
Binder::OutputTypes output_of_part(const ast::SelectStmt& part) {
  const bool compares = !part.distinct_clause.empty() || !part.group_clause.empty() ||
                        !part.sort_clause.empty() || !part.values_lists.empty() ||
                        part.op == ast::SetOperation::union_;
  return compares ? Binder::OutputTypes::final : Binder::OutputTypes::open;
}

/// Adds the parts of a set operation, from left to right, under PostgreSQL's names for them.
void add_unreachable_parts(const Query& part, Scope& scope) {
  check_stack();
  if (part.body == Query::Body::set_operation && part.order.empty() && !part.limit) {
    add_unreachable_parts(*part.left, scope);
    add_unreachable_parts(*part.right, scope);
    return;
  }
  ScopeItem item;
  item.alias = fmt::format("*SELECT* {}", scope.items.size() + 1);
  item.reachable = false;
  for (const OutputTarget& target : part.targets) {
    ScopeColumn column;
    column.name = target.name;
    item.columns.push_back(std::move(column));
  }
  item.visible.assign(item.columns.size(), false);
  scope.items.push_back(std::move(item));
}

}  // namespace

/// Derives the collation of an output column. `needed`: the rows are compared, so there must be
/// one.
DerivedCollation QueryBinder::collation_of_targets(const OutputTarget& left,
                                                   const OutputTarget& right, bool needed) {
  const SlotExpr left_slot{left.type, kNoTypmod, left.slot, {}};
  const SlotExpr right_slot{right.type, kNoTypmod, right.slot, {}};
  const auto said = [](const OutputTarget& target, const Expr& slot) {
    return target.expr && target.expr->has_explicit_collation() ? target.expr.get() : &slot;
  };
  const Expr* const both[] = {said(left, left_slot), said(right, right_slot)};
  const DerivedCollation collation = merge_collations(names_, both);
  if (needed && collation.strength == DerivedCollation::Strength::conflict) {
    throw_collation_mismatch(names_, collation, right.expr ? right.expr->location() : -1);
  }
  return collation;
}

void QueryBinder::bind_set_operation(const ast::SelectStmt& select, Scope& scope, Query& query) {
  query.body = Query::Body::set_operation;
  query.set_all = select.all;
  std::string_view name = "UNION";
  if (select.op == ast::SetOperation::intersect) {
    query.set_kind = Query::SetKind::intersect;
    name = "INTERSECT";
  } else if (select.op == ast::SetOperation::except) {
    query.set_kind = Query::SetKind::except;
    name = "EXCEPT";
  }
  query.left = bind_select(*select.larg, &scope, output_of_part(*select.larg));
  query.right = bind_select(*select.rarg, &scope, output_of_part(*select.rarg));
  if (query.left->targets.size() != query.right->targets.size()) {
    throw sql_error(sqlstate::syntax_error, "each {} query must have the same number of columns",
                    name)
        .at_position(location_of_first(query.right->targets) + 1);
  }
  for (std::size_t i = 0; i < query.left->targets.size(); ++i) {
    OutputTarget& left = query.left->targets[i];
    OutputTarget& right = query.right->targets[i];
    const std::array types{left.type, right.type};
    const auto open_type = [](const OutputTarget& target) {
      return target.was_untyped && dynamic_cast<const ConstantExpr*>(target.expr.get()) != nullptr;
    };
    std::array choice = types;
    if (open_type(left)) choice[0] = TypeId::unknown;
    if (open_type(right)) choice[1] = TypeId::unknown;
    TypeId type = select_common_type(choice, name, right.expr ? right.expr->location() + 1 : 0);
    const bool needs_collation = query.set_kind != Query::SetKind::union_ || !query.set_all;
    const DerivedCollation collation = collation_of_targets(left, right, needs_collation);
    const auto adapt = [&](OutputTarget& target, TypeId seen) {
      if (without_collation(target.type) == type) return;
      if (!target.expr) {
        // A column of VALUES or of a nested set operation is computed from its slot.
        target.expr =
            std::make_unique<SlotExpr>(target.type, target.typmod, target.slot, SlotExpr::Origin{});
      }
      if (seen == TypeId::unknown && target.was_untyped) {
        const auto& literal = dynamic_cast<const ConstantExpr&>(*target.expr);
        ConstantExpr untyped{TypeId::unknown, kNoTypmod, literal.value()};
        untyped.set_location(literal.location());
        target.expr = read_literal(untyped, type, kNoTypmod);
      } else {
        target.expr = coerce(std::move(target.expr), type, kNoTypmod, Implicitness::implicit);
      }
      target.type = type;
      target.typmod = kNoTypmod;
      target.slot = new_slot();
      mark_used(target.slot);
    };
    const std::int32_t location = left.expr ? left.expr->location() : -1;
    if (query.set_kind != Query::SetKind::union_ || !query.set_all) {
      require_equality(type, location);
    }
    adapt(left, choice[0]);
    adapt(right, choice[1]);
    // The parts keep their own collations, by which they sort and remove duplicates themselves.
    if (collation.matters) type = with_derived(type, collation);
    for (TypeId* const ordered : {&type, &left.type, &right.type})
      *ordered = in_database(*ordered, names_.database_collation());
    OutputTarget target;
    target.name = left.name;
    target.type = type;
    target.typmod = left.typmod == right.typmod ? left.typmod : kNoTypmod;
    target.slot = new_slot();
    mark_used(target.slot);
    query.body_slots.push_back(target.slot);
    query.targets.push_back(std::move(target));
  }
  if (select.sort_clause.empty()) return;
  // The parts' columns cannot be used in ORDER BY; these items give the error its words.
  add_unreachable_parts(*query.left, scope);
  add_unreachable_parts(*query.right, scope);
  bind_order(select.sort_clause, scope, query);
}

}  // namespace swizzle::sql
