#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/expression.h"
#include "sql-lite-frontend/query/bound/expression_parentheses.h"
#include "sql-lite-frontend/query/bound/routine_call.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/query/bound/subquery.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

void print_list(ExprPrinter& printer, std::span<const ExprPtr> list,
                std::string_view before_last = {}) {
  bool first = true;
  for (const ExprPtr& item : list) {
    if (!first) printer.out += ", ";
    first = false;
    if (&item == &list.back()) printer.out += before_last;
    printer.print(*item);
  }
}

/// Names for printing without a session, as EXPLAIN does: labels as they were committed last.
class NotedLabels final : public ObjectNames {
 public:
  std::optional<std::uint32_t> find(TypeId, std::string_view) override { return std::nullopt; }
  std::optional<std::string> name_of(TypeId, std::uint32_t) override { return std::nullopt; }
  const EnumLabels* enum_labels(TypeId type) override {
    labels_ = noted_labels(type);
    return labels_.get();
  }

 private:
  std::shared_ptr<const EnumLabels> labels_;
};

std::string constant_text(const ConstantExpr& constant, ObjectNames* names) {
  // Types whose text form depends on settings are written in their standard form.
  SessionContext context;
  context.names = names;
  Arena arena;
  FunctionContext functions{arena, context, {}};
  return to_text(functions, constant.type(), constant.value());
}

std::string cast_target_of(const Expr& expr, const ExprPrinter& printer) {
  const TypeId type = without_collation(expr.type());
  if (printer.is_kept) return stored_cast_target(type, expr.typmod());
  ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
  if (names != nullptr && is_user_type(type)) {
    if (auto name = names->name_of(TypeId::regtype, raw(type))) return *name;
  }
  return cast_target(type, expr.typmod());
}

/// As a constant that stands in SQL: unlike quote_literal(), never with E.
std::string string_constant(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') out += letter;
    out += letter;
  }
  return out += "'";
}

/// True if the text alone is a constant of this type again.
bool is_plain_number(TypeId type, std::string_view text) {
  const bool has_point = text.find('.') != std::string_view::npos;
  return (type == TypeId::int4 || (type == TypeId::numeric && has_point)) &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

/// Planning goes over a statement's expressions again and again: all it does is made of this.
constexpr std::size_t kWorkOfNode = 50;

void ExprPrinter::print(const Expr& expr) {
  print_at(expr, {current, false, false});
}

void ExprPrinter::print_at(const Expr& expr, Place where) {
  check_stack();
  yield_point(kWorkOfNode);
  ++depth;
  where.hides_casts |= depth == 1;
  const Place place_around = std::exchange(place, where);
  const Expr* const around = std::exchange(current, &expr);
  const bool is_enclosed = is_pretty && where.is_operand && where.parent != nullptr &&
                           needs_parentheses(expr, *where.parent);
  if (is_enclosed) out += "(";
  // Slot form compares expressions, which are equal in either spelling.
  const bool has_keywords = expr.spelling() == Spelling::keywords && columns != Columns::slots;
  if (!has_keywords || !print_with_keywords(*this, expr)) expr.print(*this);
  if (is_enclosed) out += ")";
  current = around;
  place = place_around;
  --depth;
}

void ExprPrinter::print_instead(const Expr& expr) {
  --depth;
  print_at(expr, place);
  ++depth;
}

bool ExprPrinter::is_column(const Expr& expr) const {
  const auto* const slot = dynamic_cast<const SlotExpr*>(&expr);
  return slot != nullptr && (texts == nullptr || texts->is_column(*slot));
}

std::string_view ExprPrinter::open_operator() {
  if (is_pretty) return {};
  out += "(";
  return ")";
}

namespace {

/// A kept row is written field by field: its text form may contain names.
void print_row_constant(ExprPrinter& printer, TypeId type, const Value& value) {
  const RecordView view{value};
  printer.out += "ROW(";
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) printer.out += ", ";
    printer.print(ConstantExpr{view.type(i), kNoTypmod, view.field(i)});
  }
  printer.out += ")::" + stored_cast_target(type);
}

/// Elements row by row, for the same reason. False: the array is not a plain list.
bool print_rows_constant(ExprPrinter& printer, TypeId type, const Value& value) {
  const ArrayView view{value};
  if (view.dimension_count() != 1 || view.dimension(0).lower != 1) return false;
  printer.out += "ARRAY[";
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) printer.out += ", ";
    printer.print(ConstantExpr{element_type(type), kNoTypmod, view.element(i)});
  }
  printer.out += "]::" + stored_cast_target(type);
  return true;
}

}  // namespace

void ConstantExpr::print_untyped(ExprPrinter& printer) const {
  if (value_.is_null()) {
    printer.out += "NULL";
    return;
  }
  ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
  printer.out += string_constant(constant_text(*this, names));
}

void ConstantExpr::print(ExprPrinter& printer) const {
  if (printer.is_kept && is_composite(type()) && !value_.is_null()) {
    return print_row_constant(printer, type(), value_);
  }
  const bool keeps_rows = printer.is_kept && is_composite(element_type(type()));
  if (keeps_rows && !value_.is_null() && print_rows_constant(printer, type(), value_)) return;
  if (value_.is_null()) {
    printer.out += "NULL";
  } else if (type() == TypeId::bool_) {
    printer.out += value_.as_bool() ? "true" : "false";
    return;
  } else {
    NotedLabels noted;
    ObjectNames* const without_context = printer.is_kept ? nullptr : &noted;
    // Slot form compares expressions, for which the number decides.
    const bool is_shown = shown_ != nullptr && printer.context == nullptr && !printer.is_kept &&
                          printer.columns != ExprPrinter::Columns::slots;
    ObjectNames* names = without_context;
    if (printer.context != nullptr) names = printer.context->names;
    const std::string text = is_shown ? *shown_ : constant_text(*this, names);
    if (is_plain_number(type(), text)) {
      printer.out += text;
      return;
    }
    printer.out += string_constant(text);
    if (type() == TypeId::unknown) return;
  }
  printer.out += "::" + cast_target_of(*this, printer);
}

void ParameterExpr::print(ExprPrinter& printer) const {
  printer.out += fmt::format("${}", index_ + 1);
}

void SlotExpr::print(ExprPrinter& printer) const {
  if (printer.texts != nullptr) return printer.texts->print_slot(printer, *this);
  if (printer.columns == ExprPrinter::Columns::slots || origin_.name.empty()) {
    printer.out += fmt::format("#{}", slot_);
    return;
  }
  if (printer.columns == ExprPrinter::Columns::qualified && !origin_.qualifier.empty() &&
      origin_.qualifier != printer.own_relation) {
    printer.out += quote_identifier(origin_.qualifier) + ".";
  }
  const bool is_value = origin_.column == Origin::kDomainValue;
  printer.out += is_value ? origin_.name : quote_identifier(origin_.name);
}

void VirtualColumnExpr::print(ExprPrinter& printer) const {
  column_->print(printer);
}

void FunctionExpr::print(ExprPrinter& printer) const {
  if (op_ == nullptr) {
    // The constructor of a user-defined range has the type's name.
    if (function_.oid == kNoOid && function_.name.empty())
      printer.out += cast_target_of(*this, printer);
    else
      printer.out += quote_identifier(function_.name);
    printer.out += "(";
    const bool is_exact = printer.columns == ExprPrinter::Columns::slots || printer.is_kept;
    const bool is_merged = !is_exact && function_.variadic != TypeId::none &&
                           function_.variadic != TypeId::any && !operands_.empty() &&
                           is_array(operands_.back()->type());
    print_list(printer, operands_, variadic_array_ || is_merged ? "VARIADIC " : "");
    printer.out += ")";
    return;
  }
  const std::string_view closing = printer.open_operator();
  if (operands_.size() == 2) {
    printer.print_operand(*operands_[0]);
    printer.out += " ";
  }
  printer.out += op_->name;
  printer.out += " ";
  printer.print_operand(*operands_.back());
  printer.out += closing;
}

bool is_system_column_of_row(std::string_view name) noexcept {
  constexpr std::array kNames =
      std::to_array<std::string_view>({"ctid", "xmin", "xmax", "cmin", "cmax"});
  return std::ranges::find(kNames, name) != kNames.end();
}

namespace {

/// A system column is printed like a column of the relation whose columns it is computed from.
bool print_system_column(ExprPrinter& printer, const Function& function,
                         std::span<const ExprPtr> operands) {
  if (printer.columns == ExprPrinter::Columns::slots || !is_system_column_of_row(function.name)) {
    return false;
  }
  for (const ExprPtr& operand : operands) {
    const auto* const slot = dynamic_cast<const SlotExpr*>(operand.get());
    if (slot == nullptr || slot->origin().qualifier.empty()) continue;
    if (printer.texts != nullptr) {
      printer.texts->print_beside(printer, *slot, function.name);
      return true;
    }
    const SlotExpr shown{function.result,
                         kNoTypmod,
                         slot->slot(),
                         {kNoOid, 0, slot->origin().qualifier, std::string{function.name}}};
    shown.print(printer);
    return true;
  }
  return false;
}

/// Prints the ctid by which a hidden row id is found, since the id itself is printed as ctid.
bool print_instead_of_row_id(ExprPrinter& printer, const SessionFunctionExpr& call) {
  if (printer.columns == ExprPrinter::Columns::slots) return false;
  if (call.type() != TypeId::xid8 && call.type() != TypeId::xid8_array) return false;
  const std::string_view name = call.function().name;
  if (name != "key_of_ctid" && name != "keys_of_ctids" && name != "first_row_id") return false;
  printer.print(*call.operands()[0]);
  return true;
}

}  // namespace

void SessionFunctionExpr::print(ExprPrinter& printer) const {
  if (print_system_column(printer, *function_, operands_)) return;
  if (print_instead_of_row_id(printer, *this)) return;
  printer.out += quote_identifier(function_->name) + "(";
  print_list(printer, operands_);
  printer.out += ")";
}

namespace {

std::string collation_text(const ExprPrinter& printer, const CollateExpr& expr) {
  if (printer.is_kept) return stored_collation_name(expr.collation());
  ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
  if (names == nullptr) return expr.name();
  return names->name_of(TypeId::regcollation, expr.collation()).value_or(expr.name());
}

/// PostgreSQL converts below COLLATE.
void print_cast_of_collated(ExprPrinter& printer, const Expr& cast, const CollateExpr& collated) {
  const std::string_view closing = printer.open_operator();
  const std::string_view inner = printer.open_operator();
  printer.print_plain_operand(collated.operand());
  printer.out += inner;
  printer.out += "::" + cast_target_of(cast, printer);
  printer.out += " COLLATE " + collation_text(printer, collated);
  printer.out += closing;
}

}  // namespace

void print_cast(ExprPrinter& printer, const Expr& cast, CastForm form, const Expr& operand) {
  const bool is_exact = printer.columns == ExprPrinter::Columns::slots || printer.is_kept;
  const bool is_whole = printer.depth == 1 && printer.columns != ExprPrinter::Columns::slots;
  if (form == CastForm::implicit && (is_whole || (printer.place.hides_casts && !is_exact))) {
    printer.print_plain_operand(operand);
    return;
  }
  if (const auto* collated = dynamic_cast<const CollateExpr*>(&operand);
      collated != nullptr && !is_exact) {
    return print_cast_of_collated(printer, cast, *collated);
  }
  const std::string_view closing = printer.open_operator();
  if (is_exact) {
    printer.print(operand);
  } else {
    printer.print_plain_operand(operand);
  }
  printer.out += closing;
  printer.out += "::" + cast_target_of(cast, printer);
}

void CastExpr::print(ExprPrinter& printer) const {
  print_cast(printer, *this, form_, *operands_[0]);
}

void CollateExpr::print(ExprPrinter& printer) const {
  const std::string_view closing = printer.open_operator();
  printer.print_operand(*operands_[0]);
  printer.out += " COLLATE " + collation_text(printer, *this);
  printer.out += closing;
}

void DomainExpr::print(ExprPrinter& printer) const {
  print_cast(printer, *this, form_, *operands_[0]);
}

void LengthExpr::print(ExprPrinter& printer) const {
  const bool is_exact = printer.columns == ExprPrinter::Columns::slots || printer.is_kept;
  if (coercion_ == Coercion::assignment && printer.columns != ExprPrinter::Columns::slots) {
    printer.print(*operands_[0]);
    return;
  }
  const Expr* operand = operands_[0].get();
  if (!is_exact) {
    if (const auto* constant = dynamic_cast<const ConstantExpr*>(operand); constant != nullptr) {
      constant->print_untyped(printer);
      printer.out += "::" + format_type(type(), typmod());
      return;
    }
    // The conversion to the type and the one to its length are one cast in the text.
    if (const auto* cast = dynamic_cast<const CastExpr*>(operand); cast != nullptr)
      operand = &cast->operand();
  }
  const std::string_view closing = printer.open_operator();
  if (is_exact) {
    printer.print(*operand);
  } else {
    printer.print_plain_operand(*operand);
  }
  printer.out += closing;
  printer.out += "::" + format_type(type(), typmod());
}

void BooleanExpr::print(ExprPrinter& printer) const {
  const std::string_view closing = printer.open_operator();
  if (kind_ == Kind::negation) printer.out += "NOT ";
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i > 0) printer.out += kind_ == Kind::conjunction ? " AND " : " OR ";
    printer.print_plain_operand(*operands_[i]);
  }
  printer.out += closing;
}

void TestExpr::print(ExprPrinter& printer) const {
  constexpr std::string_view kNames[] = {" IS NULL",     " IS NOT NULL",   " IS TRUE",
                                         " IS NOT TRUE", " IS FALSE",      " IS NOT FALSE",
                                         " IS UNKNOWN",  " IS NOT UNKNOWN"};
  const std::string_view closing = printer.open_operator();
  printer.print_operand(*operands_[0]);
  printer.out += kNames[static_cast<std::size_t>(kind_)];
  printer.out += closing;
}

void DistinctExpr::print(ExprPrinter& printer) const {
  const bool is_negated = kind_ == Kind::not_distinct;
  const std::string_view closing = printer.open_operator();
  if (is_negated) printer.out += "NOT ";
  const std::string_view inner = is_negated ? printer.open_operator() : std::string_view{};
  printer.print_operand(*operands_[0]);
  printer.out += " IS DISTINCT FROM ";
  printer.print_operand(*operands_[1]);
  printer.out += inner;
  printer.out += closing;
}

namespace {

/// Returns the operand that a kept value is compared with.
const Expr& other_side(const Expr& equality) {
  return *dynamic_cast<const OperandsExpr&>(equality).operands()[1];
}

}  // namespace

void CaseExpr::print(ExprPrinter& printer) const {
  const auto word = [&](std::string_view text) {
    if (printer.breaks_lines) {
      printer.out.erase(printer.out.find_last_not_of(' ') + 1);
      printer.out += "\n" + std::string(static_cast<std::size_t>(std::max(printer.indent, 0)), ' ');
    } else if (text != "CASE") {
      printer.out += " ";
    }
    printer.out += text;
  };
  constexpr int kDeeper = 4;
  word("CASE");
  printer.indent += kDeeper;
  if (subject_) {
    printer.out += " ";
    printer.print(*subject_);
  }
  std::size_t i = 0;
  for (; i + 1 < operands_.size(); i += 2) {
    word("WHEN ");
    printer.print(subject_ ? other_side(*operands_[i]) : *operands_[i]);
    printer.out += " THEN ";
    printer.print(*operands_[i + 1]);
  }
  if (i < operands_.size()) {
    word("ELSE ");
    printer.print(*operands_[i]);
  }
  printer.indent -= kDeeper;
  word("END");
}

void CoalesceExpr::print(ExprPrinter& printer) const {
  printer.out += "COALESCE(";
  print_list(printer, operands_);
  printer.out += ")";
}

void NullIfExpr::print(ExprPrinter& printer) const {
  printer.out += "NULLIF(";
  printer.print(*operands_[0]);
  printer.out += ", ";
  printer.print(other_side(*operands_[1]));
  printer.out += ")";
}

void GreatestExpr::print(ExprPrinter& printer) const {
  printer.out += kind_ == Kind::greatest ? "GREATEST(" : "LEAST(";
  print_list(printer, operands_);
  printer.out += ")";
}

void ArrayComparisonExpr::print(ExprPrinter& printer) const {
  const std::string_view closing = printer.open_operator();
  printer.print_operand(*operands_[0]);
  printer.out += fmt::format(" {} {} (", op_.name, kind_ == Kind::any ? "ANY" : "ALL");
  printer.print_operand(*operands_[1]);
  // Without a cast the subquery would be read as one whose rows are compared.
  if (printer.texts != nullptr && dynamic_cast<const SubqueryExpr*>(operands_[1].get()) != nullptr)
    printer.out += "::" + cast_target_of(*operands_[1], printer);
  printer.out += ")";
  printer.out += closing;
}

void ArrayExpr::print(ExprPrinter& printer) const {
  const bool is_exact = printer.columns == ExprPrinter::Columns::slots || printer.is_kept;
  if (shown_element_ != TypeId::none && !is_exact) {
    const std::string_view closing = printer.open_operator();
    printer.out += "ARRAY[";
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (i > 0) printer.out += ", ";
      const auto* constant = dynamic_cast<const ConstantExpr*>(operands_[i].get());
      if (constant == nullptr) {
        printer.print(*operands_[i]);
      } else {
        printer.print(ConstantExpr{shown_element_, kNoTypmod, constant->value()});
      }
    }
    printer.out += "]";
    printer.out += closing;
    printer.out += "::" + cast_target_of(*this, printer);
    return;
  }
  printer.out += "ARRAY[";
  print_list(printer, operands_);
  printer.out += "]";
  if (operands_.empty()) printer.out += "::" + cast_target_of(*this, printer);
}

void RowExpr::print(ExprPrinter& printer) const {
  if (is_whole_row && printer.texts != nullptr && !operands_.empty()) {
    if (const auto* column = dynamic_cast<const SlotExpr*>(operands_[0].get()); column != nullptr)
      return printer.texts->print_row(printer, *column);
  }
  if (is_whole_row && printer.columns == ExprPrinter::Columns::qualified && !operands_.empty()) {
    const auto* column = dynamic_cast<const SlotExpr*>(operands_[0].get());
    if (column != nullptr && !column->origin().qualifier.empty()) {
      printer.out += quote_identifier(column->origin().qualifier) + ".*";
      return;
    }
  }
  printer.out += "ROW(";
  print_list(printer, operands_);
  printer.out += ")";
  if (is_composite(type())) printer.out += "::" + cast_target_of(*this, printer);
}

void SubscriptExpr::print(ExprPrinter& printer) const {
  const auto print_bound = [&](const Expr& bound) {
    if (bound.type() != TypeId::unknown) printer.print(bound);
  };
  const bool is_column = printer.is_column(*operands_[0]) ||
                         dynamic_cast<const FieldExpr*>(operands_[0].get()) != nullptr;
  if (!is_column) printer.out += "(";
  printer.print(*operands_[0]);
  if (!is_column) printer.out += ")";
  for (std::size_t i = 1; i < operands_.size(); ++i) {
    printer.out += "[";
    print_bound(*operands_[i]);
    if (kind_ == Kind::slice) {
      printer.out += ":";
      print_bound(*operands_[++i]);
    }
    printer.out += "]";
  }
}

void ElementAssignment::print(ExprPrinter& printer) const {
  printer.print(*operands_[0]);
  for (const ExprPtr& subscript : std::span{operands_}.subspan(2)) {
    printer.out += "[";
    printer.print(*subscript);
    printer.out += "]";
  }
  printer.out += " := ";
  printer.print(*operands_[1]);
}

void FieldExpr::print(ExprPrinter& printer) const {
  const Expr& record = *operands_[0];
  const bool is_part = dynamic_cast<const FieldExpr*>(&record) != nullptr ||
                       dynamic_cast<const SubscriptExpr*>(&record) != nullptr;
  if (!is_part) printer.out += "(";
  printer.print(record);
  printer.out += is_part ? "." : ").";
  printer.out += quote_identifier(name_);
}

bool same_expression(const Expr& left, const Expr& right) {
  if (without_collation(left.type()) != without_collation(right.type())) return false;
  ExprPrinter a{ExprPrinter::Columns::slots, {}, nullptr, 0};
  ExprPrinter b{ExprPrinter::Columns::slots, {}, nullptr, 0};
  a.print(left);
  b.print(right);
  return a.out == b.out;
}

void walk(Expr& expr, const std::function<void(Expr&)>& visit) {
  check_stack();
  yield_point(kWorkOfNode);
  visit(expr);
  expr.for_each_operand([&](ExprPtr& operand) { walk(*operand, visit); });
}

bool is_volatile(Expr& expr) {
  bool found = false;
  walk(expr, [&](Expr& part) {
    if (const auto* call = dynamic_cast<const FunctionExpr*>(&part)) {
      found |= call->function().volatility == Volatility::volatile_;
    } else if (const auto* session = dynamic_cast<const SessionFunctionExpr*>(&part)) {
      found |= session->function().volatility == Volatility::volatile_;
    } else if (const auto* routine = dynamic_cast<const RoutineExpr*>(&part)) {
      found |= routine->call()->callable->function.volatility == Volatility::volatile_;
    }
  });
  return found;
}

}  // namespace swizzle::sql
