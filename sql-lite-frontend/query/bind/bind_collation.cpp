// COLLATE, and functions called under the collation of their operands.
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/collation/collated_functions.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {

Oid ExpressionBinder::bind_collation(ast::NodeList name, std::int32_t location) {
  const std::string_view last = ast::string_of(name.back());
  const std::string_view schema =
      name.size() > 1 ? ast::string_of(name[name.size() - 2]) : std::string_view{};
  if (open_view_ != nullptr) {
    for (const ViewType& known : open_view_->view_types) {
      if (known.type < kCollations && known.name == last && known.schema == schema)
        return known.type;
    }
  }
  const Oid found = require_collation(names_, name, location);
  if (found == collation_id::by_default) return names_.database_collation();
  if (!builtin_collation_name(found).empty()) return found;
  looked_up_objects_ = true;
  if (view_depth_ == recorded_depth_) {
    types_read_.push_back({std::string{schema}, std::string{last}, found});
  }
  return found;
}

ExprPtr ExpressionBinder::bind_collate(const ast::CollateClause& node, Scope& scope) {
  ExprPtr value = bind_node(node.arg, scope);
  if (value->type() == TypeId::unknown) {
    value = coerce(std::move(value), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  if (is_domain(value->type())) {
    const TypeId base = base_type(value->type());
    value = coerce(std::move(value), base, kNoTypmod, Implicitness::implicit);
  }
  const Oid collation = bind_collation(node.collname, node.location);
  if (!is_collatable(value->type())) {
    const bool is_as_ever =
        follows_database(value->type())
            ? collation == names_.database_collation() ||
                  (orders_by_bytes(collation) && orders_by_bytes(names_.database_collation()))
            : orders_by_bytes(collation);
    if (default_collation(value->type()) != 0 && is_as_ever) return value;
    if (default_collation(value->type()) != 0) {
      unsupported(fmt::format("a collation of type {}", format_type(value->type())), node.location);
    }
    throw sql_error(sqlstate::datatype_mismatch, "collations are not supported by type {}",
                    format_type(value->type()))
        .at_position(node.location + 1);
  }
  auto expr = std::make_unique<CollateExpr>(
      collation, quote_identifier(names_.collation_name(collation)), std::move(value));
  expr->set_location(node.location);
  return expr;
}

const Function& ExpressionBinder::collated(const Function& function,
                                           std::span<const ExprPtr> operands,
                                           const DerivedCollation& collation) {
  if (collation.matters) {
    for (const ExprPtr& operand : operands) apply_collation(*operand, collation);
  }
  if (order_as_database(operands)) return under_collation(function, names_.database_collation());
  if (!collation.matters) return under_collation(function, collation_id::by_default);
  const Function& chosen = under_collation(function, effective(collation));
  if (&chosen != &function) names_.note_use(effective(collation));
  return chosen;
}

bool ExpressionBinder::order_as_database(std::span<const ExprPtr> operands) {
  bool any = false;
  for (const ExprPtr& operand : operands) any |= operand && order_as_database(*operand);
  return any;
}

bool ExpressionBinder::order_as_database(Expr& expr) {
  const TypeId type = in_database(expr.type(), names_.database_collation());
  if (!is_collated(type) || !follows_database(type)) return false;
  expr.set_collation(collation_of_type(type), false);
  return true;
}

const Operator& ExpressionBinder::collated(const Operator& op, std::span<const ExprPtr> operands,
                                           const DerivedCollation& collation) {
  if (order_as_database(operands)) return under_collation(op, names_.database_collation());
  if (!collation.matters) return under_collation(op, collation_id::by_default);
  // If the collation orders by bytes and has ASCII's letters, the operands need none, and then an
  // index over bytes can be used.
  const bool is_of_bytes = is_plain_collation(effective(collation));
  for (const ExprPtr& operand : operands) {
    if (!operand) continue;
    if (is_of_bytes) {
      operand->forget_collation();
    } else {
      apply_collation(*operand, collation);
    }
  }
  const Operator& chosen = under_collation(op, effective(collation));
  if (&chosen != &op) names_.note_use(effective(collation));
  return chosen;
}

void ExpressionBinder::apply_usual_collation(Expr& expr) {
  if (order_as_database(expr)) return;
  const Expr* const one[] = {&expr};
  if (names_.database_collation() != collation_id::by_default)
    apply_collation(expr, merge_collations(names_, one));
  if (is_collated(expr.type())) names_.note_use(collation_of_type(expr.type()));
}

Oid ExpressionBinder::effective(const DerivedCollation& collation) noexcept {
  return collation.strength == DerivedCollation::Strength::conflict ? collation_id::indeterminate
                                                                    : collation.collation;
}

ExprPtr ExpressionBinder::coerce_collated(ExprPtr& expr, TypeId type, std::int32_t typmod,
                                          Implicitness how) {
  const DerivedCollation collation = collation_of(*expr);
  const TypeId before = expr->type();
  const bool was_explicit = expr->has_explicit_collation();
  expr->forget_collation();
  ExprPtr coerced = try_coerce(expr, without_collation(type), typmod, how);
  if (coerced == nullptr) {
    if (is_collated(before)) expr->set_collation(collation_of_type(before), was_explicit);
    return nullptr;
  }
  if (is_collated(type)) {
    coerced->set_collation(collation_of_type(type), false);
  } else {
    apply_collation(*coerced, collation);
  }
  return coerced;
}

void ExpressionBinder::require_collation_of_key(Expr& key, const Query* query) {
  if (!is_collated(key.type()) || collation_of_type(key.type()) != collation_id::indeterminate)
    return;
  Expr* expr = &key;
  const auto* slot = dynamic_cast<const SlotExpr*>(&key);
  if (query != nullptr && slot != nullptr) {
    for (const OutputTarget& target : query->targets) {
      if (target.slot == slot->slot() && target.expr) expr = target.expr.get();
    }
  }
  // Find the columns with conflicting collations.
  DerivedCollation met;
  std::int32_t location = -1;
  walk(*expr, [&](Expr& part) {
    const auto* column = dynamic_cast<const SlotExpr*>(&part);
    if (column == nullptr || column->origin().column <= 0 || location >= 0) return;
    const TablePtr table = names_.table(column->origin().table);
    const auto position = static_cast<std::size_t>(column->origin().column - 1);
    if (!table || position >= table->relation.columns.size()) return;
    const Oid own = default_collation(table->relation.columns[position].expression_type());
    if (own == kNoOid || own == collation_id::by_default) return;
    if (met.collation == kNoOid) {
      met.collation = own;
    } else if (own != met.collation) {
      met.other = own;
      location = column->location();
    }
  });
  if (met.other != kNoOid) throw_collation_mismatch(names_, met, location);
}

std::string ExpressionBinder::described_collation(const Expr& expr) {
  const DerivedCollation collation = collation_of(expr);
  if (collation.strength == DerivedCollation::Strength::none && expr.type() != TypeId::unknown) {
    throw_error(sqlstate::datatype_mismatch, "collations are not supported by type {}",
                format_type(expr.type()));
  }
  if (collation.strength == DerivedCollation::Strength::conflict) return {};
  if (expr.type() == TypeId::unknown) return {};
  const Oid number = shown_number(collation.collation);
  ObjectNames* const known = names_.context().names;
  const auto shown = known == nullptr ? std::nullopt : known->name_of(TypeId::regcollation, number);
  return shown.value_or(quote_identifier(names_.collation_name(number)));
}

}  // namespace swizzle::sql
