#include "sql-lite-frontend/query/bind/collations.h"

#include <vector>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

using Strength = DerivedCollation::Strength;

/// Returns the location of the COLLATE clause.
std::int32_t location_of_clause(const Expr& expr, Oid collation) {
  std::int32_t location = expr.location();
  // Walking changes nothing here.
  walk(const_cast<Expr&>(expr), [&](Expr& part) {
    const auto* clause = dynamic_cast<const CollateExpr*>(&part);
    if (clause != nullptr && shown_number(clause->collation()) == collation)
      location = clause->location();
  });
  return location;
}

/// Merges the collations of operands, one after the other.
class Merge {
 public:
  explicit Merge(NameSource& names) : names_(names), usual_(names.database_collation()) {}

  void add(const Expr& expr) {
    DerivedCollation next = collation_of(expr);
    // A literal becomes text, if the other operands allow it.
    if (expr.type() == TypeId::unknown && usual_ != collation_id::by_default) {
      next.collation = collation_id::by_default;
      next.strength = Strength::implicit;
    }
    merged_.matters |= next.matters;
    if (next.strength == Strength::none) return;
    if (next.strength > merged_.strength) {
      const bool matters = merged_.matters;
      merged_ = next;
      merged_.matters = matters;
      return;
    }
    if (next.strength != merged_.strength || next.collation == merged_.collation) return;
    if (next.strength == Strength::explicit_) refuse(expr, next.collation);
    if (next.strength != Strength::implicit) return;
    if (merged_.collation == collation_id::by_default) {
      merged_.collation = next.collation;
    } else if (next.collation != collation_id::by_default) {
      merged_.strength = Strength::conflict;
      merged_.other = next.collation;
    }
  }
  [[nodiscard]] DerivedCollation merged() const noexcept {
    DerivedCollation merged = merged_;
    const bool is_default =
        merged.strength != Strength::conflict && merged.collation == collation_id::by_default;
    if (is_default && usual_ != collation_id::by_default) {
      merged.collation = usual_;
      merged.matters = true;
    }
    return merged;
  }

 private:
  [[noreturn]] void refuse(const Expr& expr, Oid collation) const {
    throw sql_error(sqlstate::collation_mismatch,
                    "collation mismatch between explicit collations \"{}\" and \"{}\"",
                    names_.collation_name(merged_.collation), names_.collation_name(collation))
        .at_position(location_of_clause(expr, collation) + 1);
  }

  NameSource& names_;
  Oid usual_;
  DerivedCollation merged_;
};

}  // namespace

DerivedCollation collation_of(const Expr& expr) {
  DerivedCollation derived;
  // The SQL collation of such types does not determine their order.
  const TypeId type = follows_database(expr.type()) && !is_domain(expr.type())
                          ? without_collation(expr.type())
                          : expr.type();
  const bool is_collated_here = is_collated(type);
  if (!is_collated_here && !is_domain(type)) {
    derived.collation = default_collation(type);
    if (derived.collation == 0) return derived;
  } else {
    derived.collation = default_collation(type);
    if (derived.collation == 0 && !is_collated_here) return derived;
    derived.matters = is_collated_here || (derived.collation != collation_id::by_default &&
                                           derived.collation != collation_id::c);
  }
  const bool is_in_conflict = is_collated_here && derived.collation == collation_id::indeterminate;
  derived.strength = is_in_conflict                  ? Strength::conflict
                     : expr.has_explicit_collation() ? Strength::explicit_
                                                     : Strength::implicit;
  return derived;
}

DerivedCollation merge_collations(NameSource& names, std::span<const ExprPtr> operands) {
  Merge merge{names};
  for (const ExprPtr& operand : operands) {
    if (operand) merge.add(*operand);
  }
  return merge.merged();
}

DerivedCollation merge_collations(NameSource& names, const ExprPtr& left, const ExprPtr& right) {
  Merge merge{names};
  if (left) merge.add(*left);
  if (right) merge.add(*right);
  return merge.merged();
}

DerivedCollation merge_collations(NameSource& names, std::span<const Expr* const> operands) {
  Merge merge{names};
  for (const Expr* operand : operands) merge.add(*operand);
  return merge.merged();
}

TypeId with_derived(TypeId type, const DerivedCollation& derived) {
  if (is_domain(type)) return type;
  const TypeId plain = without_collation(type);
  if (follows_database(plain)) return plain;
  if (!derived.matters || derived.strength == Strength::none) return plain;
  if (derived.strength == Strength::conflict)
    return with_collation(plain, collation_id::indeterminate);
  const bool is_default =
      derived.strength == Strength::implicit && derived.collation == collation_id::by_default;
  return is_default ? plain : with_collation(plain, derived.collation);
}

void apply_collation(Expr& expr, const DerivedCollation& derived) {
  if (is_domain(expr.type())) return;
  const TypeId type = with_derived(expr.type(), derived);
  if (!is_collated(type)) return expr.forget_collation();
  expr.set_collation(collation_of_type(type), derived.strength == Strength::explicit_);
}

void throw_collation_mismatch(NameSource& names, const DerivedCollation& derived,
                              std::int32_t location) {
  throw sql_error(sqlstate::collation_mismatch,
                  "collation mismatch between implicit collations \"{}\" and \"{}\"",
                  names.collation_name(derived.collation), names.collation_name(derived.other))
      .with_hint(
          "You can choose the collation by applying the COLLATE clause to one or both expressions.")
      .at_position(location + 1);
}

Oid require_collation(NameSource& names, ast::NodeList name, std::int32_t location) {
  const std::string_view last = ast::string_of(name.back());
  const std::string_view schema =
      name.size() > 1 ? ast::string_of(name[name.size() - 2]) : std::string_view{};
  if (name.size() == 1) {
    if (const Oid stored = collation_of_stored_name(last); stored != kNoOid) {
      if (!names.collation_name(stored).empty()) return stored;
    }
  }
  try {
    if (const Oid found = names.find_collation(schema, last); found != kNoOid) return found;
  } catch (SqlError& error) {
    throw std::move(error).at_position(location + 1);
  }
  const std::string shown = schema.empty() ? std::string{last} : fmt::format("{}.{}", schema, last);
  throw sql_error(sqlstate::undefined_object,
                  "collation \"{}\" for encoding \"UTF8\" does not exist", shown)
      .at_position(location + 1);
}

void keep_explicit_collation(NameSource& names, Expr& result, std::span<const ExprPtr> arguments) {
  if (!is_collated(result.type())) return;
  const DerivedCollation merged = merge_collations(names, arguments);
  if (merged.strength == Strength::explicit_) result.set_collation(merged.collation, true);
}

}  // namespace swizzle::sql
