#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/datetime/time_types.h"
#include "sql-lite-frontend/types/equality.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kAmbiguousParameter{"42P08"};

CastContext context_of(Binder::Implicitness how) {
  switch (how) {
    case Binder::Implicitness::implicit:
      return CastContext::implicit;
    case Binder::Implicitness::assignment:
      return CastContext::assignment;
    case Binder::Implicitness::explicit_cast:
      return CastContext::explicit_cast;
  }
  return CastContext::implicit;
}

/// Words that mean another moment every time they are read.
bool is_moving_time(TypeId type, std::string_view text) {
  if (!is_time(type) || type == TypeId::interval) return false;
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return lower.contains("now") || lower.contains("today") || lower.contains("tomorrow") ||
         lower.contains("yesterday");
}

/// True if the type's input function looks up an object by name.
bool names_object(TypeId type) {
  const TypeId element = element_type(type);
  const TypeId single = element == TypeId::none ? type : element;
  return single == TypeId::aclitem || is_object_id(single);
}

/// True if the text is the name of an object of the type's kind, and no number.
bool is_name_of_object(TypeId type, std::string_view text) {
  if (!is_object_id(type) || type == TypeId::oid || text.empty()) return false;
  return text.find_first_not_of("0123456789") != std::string_view::npos;
}

}  // namespace

/// Returns the object's number. A view keeps the object that the name meant when it was made,
/// whatever its present name.
Value ExpressionBinder::read_object(TypeId type, std::string_view text, std::int32_t location) {
  const std::string record = constant_record(type, text);
  if (open_view_ != nullptr) {
    for (const ViewRoutine& known : open_view_->view_routines) {
      if (known.name != record) continue;
      if (view_depth_ == recorded_depth_)
        constant_places_.push_back({location, type, known.routine});
      return Value::from_oid(known.routine);
    }
  }
  FunctionContext functions{arena_, names_.context(), {}};
  const Value value = input_text(functions, type, kNoTypmod, text);
  // A stored expression must not name a role.
  const bool is_noted = value.as_oid() >= kFirstUserOid || type == TypeId::regrole;
  if (is_noted && view_depth_ == recorded_depth_) {
    const bool is_known =
        std::ranges::find(routines_read_, record, &ViewRoutine::name) != routines_read_.end();
    if (!is_known) routines_read_.push_back({{}, record, value.as_oid()});
  }
  return value;
}

/// A plan with the number of a relation is valid as long as the name means that one.
void ExpressionBinder::note_named_relation(Oid relation, std::string_view name) {
  if (relation < kFirstUserOid || name.find_first_not_of("0123456789") == std::string_view::npos)
    return;
  const TablePtr table = names_.table(relation);
  if (!table) return;
  const bool is_qualified = name.find('.') != std::string_view::npos;
  named_.push_back({is_qualified ? std::string{names_.schema_name(table->relation.schema)} : "",
                    table->relation.name, relation});
}

ExprPtr ExpressionBinder::constant(TypeId type, Value value) {
  return std::make_unique<ConstantExpr>(type, kNoTypmod, value.copy_to(arena_));
}

ExprPtr ExpressionBinder::slot_expr(const ScopeColumn& column) {
  mark_used(column.slot);
  if (column.note) noted_[column.note->access].access.read.push_back(column.note->position);
  if (!virtual_columns_.empty()) {
    if (ExprPtr computed = virtual_column(column)) return computed;
  }
  return std::make_unique<SlotExpr>(column.type, column.typmod, column.slot, column.origin);
}

/// An untyped literal becomes a constant of the type, read as its input function reads it.
ExprPtr ExpressionBinder::read_literal(const ConstantExpr& literal, TypeId type,
                                       std::int32_t typmod) {
  Value value;
  if (!literal.value().is_null()) {
    const std::string_view text = literal.value().as_text();
    single_use_ |= is_moving_time(type, text);
    looked_up_objects_ |= names_object(type);
    FunctionContext functions{arena_, names_.context(), {}};
    try {
      value =
          is_name_of_object(type, text)
              ? read_object(type, text, literal.location())
              : input_text(functions, type, type == TypeId::interval ? typmod : kNoTypmod, text);
      if (type == TypeId::regclass) note_named_relation(value.as_oid(), text);
    } catch (SqlError& error) {
      if (error.fields().position == 0) error.fields().position = literal.location() + 1;
      throw;
    }
  }
  if (is_user_type(type) && view_depth_ == recorded_depth_ && !value.is_null())
    literal_places_.push_back({literal.location(), type, value});
  auto read = std::make_unique<ConstantExpr>(type, kNoTypmod, value);
  if (is_object_id(type) && !value.is_null()) {
    FunctionContext functions{arena_, names_.context(), {}};
    read->set_shown(to_text(functions, type, value));
  }
  read->set_location(literal.location());
  return read;
}

std::shared_ptr<const RowShape> ExpressionBinder::row_shape(TypeId type) {
  ObjectNames* const names = names_.context().names;
  if (names == nullptr || !is_composite(type)) return nullptr;
  // ALTER TYPE may change it.
  looked_up_objects_ = true;
  depends_on_types_ = true;
  return names->row_shape(type);
}

ExprPtr ExpressionBinder::try_make_composite(ExprPtr& expr, TypeId type, Implicitness how) {
  auto* const row = dynamic_cast<RowExpr*>(expr.get());
  const auto shape = row != nullptr ? row_shape(type) : nullptr;
  if (!shape) return nullptr;
  const auto refuse = [&](std::string detail) {
    throw sql_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(row->type()),
                    format_type(type))
        .with_detail(std::move(detail))
        .at_position(row->location() + 1);
  };
  std::vector<ExprPtr> fields = std::move(row->mutable_operands());
  if (fields.size() < shape->types.size()) refuse("Input has too few columns.");
  if (fields.size() > shape->types.size()) refuse("Input has too many columns.");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    // An untyped literal has become text only because nothing determined its type.
    if (const auto* literal = dynamic_cast<const ConstantExpr*>(fields[i].get());
        literal != nullptr && without_collation(literal->type()) == TypeId::text) {
      auto untyped = std::make_unique<ConstantExpr>(TypeId::unknown, kNoTypmod, literal->value());
      untyped->set_location(literal->location());
      fields[i] = std::move(untyped);
    }
    const TypeId source = fields[i]->type();
    ExprPtr field = try_coerce(fields[i], shape->types[i], shape->typmods[i], how);
    if (!field) {
      refuse(fmt::format("Cannot cast type {} to {} in column {}.", format_type(source),
                         format_type(shape->types[i]), i + 1));
    }
    fields[i] = std::move(field);
    const TypeId kept = shape->ordered()[i];
    // The attribute's collation, whatever the value's was.
    if (is_collated(kept)) {
      fields[i]->set_collation(collation_of_type(kept), false);
    } else {
      fields[i]->forget_collation();
    }
  }
  auto made = std::make_unique<RowExpr>(std::move(fields));
  made->names = shape->names;
  made->is_written = row->is_written;
  made->absence = row->absence;
  made->telling_field = row->telling_field;
  made->set_type(type);
  made->set_location(row->location());
  return made;
}

/// Converts the value to the domain's base type first, and then to the domain.
ExprPtr ExpressionBinder::try_enter_domain(ExprPtr& expr, TypeId domain, Implicitness how) {
  const std::int32_t location = expr->location();
  ExprPtr value = try_coerce(expr, base_type(domain), kNoTypmod, how);
  if (value == nullptr) return nullptr;
  const CastForm form =
      how == Implicitness::explicit_cast ? CastForm::explicit_cast : CastForm::implicit;
  auto entered = std::make_unique<DomainExpr>(domain, form, std::move(value));
  entered->set_location(location);
  return entered;
}

ExprPtr ExpressionBinder::try_coerce(ExprPtr& expr, TypeId type, std::int32_t typmod,
                                     Implicitness how) {
  if ((is_collated(expr->type()) && type != TypeId::any) || is_collated(type)) {
    return coerce_collated(expr, type, typmod, how);
  }
  const TypeId source = expr->type();
  const std::int32_t location = expr->location();
  ExprPtr result;
  // A row of a type is already a record, and the consumer may need its fields' names.
  const bool is_row = type == TypeId::record && is_composite(source);
  if (source == type || type == TypeId::any || is_row) {
    note_untyped(*expr);
    result = std::move(expr);
  } else if (const auto* literal = dynamic_cast<const ConstantExpr*>(expr.get());
             literal != nullptr && source == TypeId::unknown && !is_domain(type)) {
    result = read_literal(*literal, type, typmod);
  } else if (auto* parameter = dynamic_cast<ParameterExpr*>(expr.get());
             parameter != nullptr && source == TypeId::unknown) {
    TypeId& known = parameters_[parameter->index()];
    if (known != TypeId::unknown && known != type) {
      throw sql_error(kAmbiguousParameter, "inconsistent types deduced for parameter ${}",
                      parameter->index() + 1)
          .with_detail(fmt::format("{} versus {}", format_type(known), format_type(type)))
          .at_position(location + 1);
    }
    known = type;
    parameter->set_type(type);
    result = std::move(expr);
  } else if (how == Implicitness::explicit_cast && type == TypeId::anyarray &&
             element_type(source) != TypeId::none) {
    // Any array is one.
    result = std::move(expr);
  } else if (is_domain(type)) {
    return try_enter_domain(expr, type, how);
  } else if (source == TypeId::record && is_composite(type)) {
    return try_make_composite(expr, type, how);
  } else if (ExprPtr made = try_made_cast(expr, type, typmod, how)) {
    result = std::move(made);
  } else {
    auto cast = find_cast(source, type, context_of(how));
    if (!cast) return nullptr;
    // A function with a length argument makes a value of that length, so that no length conversion
    // follows.
    const bool makes_length = cast->function != nullptr && cast->function->arguments.size() > 1;
    if (makes_length) cast->typmod = typmod;
    cast->is_implied = how != Implicitness::explicit_cast;
    const CastForm form =
        how == Implicitness::explicit_cast ? CastForm::explicit_cast : CastForm::implicit;
    result = std::make_unique<CastExpr>(*cast, form, std::move(expr));
  }
  if (needs_length_coercion(type, typmod) && result->typmod() != typmod) {
    const Coercion coercion =
        how == Implicitness::explicit_cast ? Coercion::explicit_cast : Coercion::assignment;
    result = std::make_unique<LengthExpr>(typmod, coercion, std::move(result));
  }
  result->set_location(location);
  return result;
}

ExprPtr ExpressionBinder::coerce(ExprPtr expr, TypeId type, std::int32_t typmod, Implicitness how) {
  const TypeId source = expr->type();
  const std::int32_t location = expr->location();
  if (ExprPtr coerced = try_coerce(expr, type, typmod, how)) return coerced;
  throw sql_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(source),
                  format_type(type))
      .at_position(location + 1);
}

std::vector<ExprPtr> ExpressionBinder::unify(std::vector<ExprPtr> exprs, std::string_view construct,
                                             TypeId& type, std::int32_t location) {
  const auto position_of = [location](const Expr& expr) {
    return (expr.location() >= 0 ? expr.location() : location) + 1;
  };
  type = TypeId::unknown;
  const DerivedCollation collation = merge_collations(names_, exprs);
  const bool all_same = std::ranges::all_of(
      exprs, [&](const ExprPtr& expr) { return expr->type() == exprs.front()->type(); });
  if (all_same && is_domain(exprs.front()->type())) {
    type = exprs.front()->type();
    return exprs;
  }
  for (const ExprPtr& expr : exprs) {
    if (expr->type() == TypeId::unknown) continue;
    const TypeId pair[] = {type, expr->type()};
    type = type == TypeId::unknown ? base_type(expr->type())
                                   : select_common_type(pair, construct, position_of(*expr));
  }
  if (type == TypeId::unknown) type = TypeId::text;
  for (ExprPtr& expr : exprs) {
    const TypeId source = expr->type();
    const std::int32_t position = position_of(*expr);
    const bool is_else = construct == "CASE" && &expr == &exprs.front();
    ExprPtr coerced = try_coerce(expr, type, kNoTypmod, Implicitness::implicit);
    if (coerced == nullptr) {
      throw sql_error(sqlstate::cannot_coerce, "{} could not convert type {} to {}",
                      construct != "CASE" ? construct : (is_else ? "CASE/ELSE" : "CASE/WHEN"),
                      format_type(source), format_type(type))
          .at_position(position);
    }
    expr = std::move(coerced);
  }
  if (collation.matters) {
    for (const ExprPtr& expr : exprs) apply_collation(*expr, collation);
    type = with_derived(type, collation);
  }
  if (order_as_database(exprs)) type = in_database(type, names_.database_collation());
  return exprs;
}

ExprPtr ExpressionBinder::coerce_to_column(ExprPtr expr, const Column& column) {
  const TypeId source = expr->type();
  const std::int32_t location = expr->location();
  if (ExprPtr coerced = try_coerce(expr, column.type, column.typmod, Implicitness::assignment)) {
    return coerced;
  }
  throw sql_error(sqlstate::datatype_mismatch,
                  "column \"{}\" is of type {} but expression is of type {}", column.name,
                  format_type(column.type), format_type(source))
      .with_hint("You will need to rewrite or cast the expression.")
      .at_position(location + 1);
}

void ExpressionBinder::allow_parameters(std::span<const TypeId> declared) {
  parameters_allowed_ = true;
  parameters_.assign(declared.begin(), declared.end());
  for (TypeId& type : parameters_) {
    if (type == TypeId::none) type = TypeId::unknown;
  }
}

void ExpressionBinder::require_equality(TypeId type, std::int32_t location) {
  if (has_equality(type)) return;
  throw sql_error(sqlstate::undefined_function,
                  "could not identify an equality operator for type {}", format_type(type))
      .at_position(location + 1);
}

void ExpressionBinder::note_untyped(const Expr& expr) {
  const auto* parameter = dynamic_cast<const ParameterExpr*>(&expr);
  if (parameter == nullptr || parameter->type() != TypeId::unknown) return;
  untyped_.push_back({parameter->index(), parameter->location()});
}

void ExpressionBinder::require_parameter_types() const {
  for (const UntypedParameter& use : untyped_) {
    if (parameters_[use.index] == TypeId::unknown) continue;
    throw sql_error(kAmbiguousParameter, "could not determine data type of parameter ${}",
                    use.index + 1)
        .at_position(use.location + 1);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i] == TypeId::unknown) {
      throw_error(sqlstate::indeterminate_datatype,
                  "could not determine data type of parameter ${}", i + 1);
    }
  }
}

void ExpressionBinder::unsupported(std::string_view what, std::int32_t location) {
  throw sql_error(sqlstate::feature_not_supported, "{} is not supported", what)
      .at_position(location + 1);
}

void QueryBinder::depend_on_foreign_keys(const Table& table) {
  for (const Constraint& constraint : table.relation.constraints) {
    if (constraint.kind != ConstraintKind::foreign_key) continue;
    if (const TablePtr referenced = names_.table(constraint.referenced_table)) {
      depend_on(referenced);
    }
  }
  for (const TablePtr& other : names_.referencing_tables(table.relation.oid)) depend_on(other);
}

void ExpressionBinder::depend_on(const TablePtr& table) {
  if (std::ranges::find(tables_, table) == tables_.end()) tables_.push_back(table);
}

}  // namespace swizzle::sql
