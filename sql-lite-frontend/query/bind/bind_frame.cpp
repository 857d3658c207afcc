#include <fmt/format.h>

#include <array>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_id.h"

/// ROWS, RANGE and GROUPS of a window.
namespace swizzle::sql {
namespace {

// Bits of frame_options, as the grammar sets them.
constexpr int kRows = 0x00004;
constexpr int kGroups = 0x00008;
constexpr int kStartUnboundedPreceding = 0x00020;
constexpr int kEndUnboundedFollowing = 0x00100;
constexpr int kStartCurrentRow = 0x00200;
constexpr int kEndCurrentRow = 0x00400;
constexpr int kStartPreceding = 0x00800;
constexpr int kEndPreceding = 0x01000;
constexpr int kStartFollowing = 0x02000;
constexpr int kEndFollowing = 0x04000;
constexpr int kExcludeCurrentRow = 0x08000;
constexpr int kExcludeGroup = 0x10000;
constexpr int kExcludeTies = 0x20000;

void read_options(int options, WindowFrame& frame) {
  using Bound = WindowFrame::Bound;
  using Unit = WindowFrame::Unit;
  using Exclusion = WindowFrame::Exclusion;
  frame.unit = (options & kRows) != 0     ? Unit::rows
               : (options & kGroups) != 0 ? Unit::groups
                                          : Unit::range;
  if ((options & kStartUnboundedPreceding) != 0) frame.start = Bound::unbounded_preceding;
  if ((options & kStartCurrentRow) != 0) frame.start = Bound::current_row;
  if ((options & kStartPreceding) != 0) frame.start = Bound::preceding;
  if ((options & kStartFollowing) != 0) frame.start = Bound::following;
  if ((options & kEndUnboundedFollowing) != 0) frame.end = Bound::unbounded_following;
  if ((options & kEndCurrentRow) != 0) frame.end = Bound::current_row;
  if ((options & kEndPreceding) != 0) frame.end = Bound::preceding;
  if ((options & kEndFollowing) != 0) frame.end = Bound::following;
  if ((options & kExcludeCurrentRow) != 0) frame.exclusion = Exclusion::current_row;
  if ((options & kExcludeGroup) != 0) frame.exclusion = Exclusion::group;
  if ((options & kExcludeTies) != 0) frame.exclusion = Exclusion::ties;
}

std::string_view unit_name(WindowFrame::Unit unit) {
  constexpr std::array<std::string_view, 3> kNames{"ROWS", "RANGE", "GROUPS"};
  return kNames[static_cast<std::size_t>(unit)];
}

bool is_integer(TypeId type) {
  return type == TypeId::int2 || type == TypeId::int4 || type == TypeId::int8;
}

/// The type in which RANGE measures distances over a column of this type, so that bounds cannot
/// overflow and dates can differ by hours.
struct Measure {
  TypeId key = TypeId::none;
  TypeId offset = TypeId::none;
};
Measure measure_of(TypeId column, TypeId offset) {
  const bool whole = is_integer(offset) || offset == TypeId::unknown;
  switch (column) {
    case TypeId::int2:
    case TypeId::int4:
    case TypeId::int8:
      if (whole) return {TypeId::numeric, TypeId::numeric};
      break;
    case TypeId::numeric:
      if (whole || offset == TypeId::numeric) return {TypeId::numeric, TypeId::numeric};
      break;
    case TypeId::float4:
    case TypeId::float8:
      if (whole || offset == TypeId::numeric || offset == TypeId::float8) {
        return {TypeId::float8, TypeId::float8};
      }
      break;
    case TypeId::date:
    case TypeId::timestamp:
      if (offset == TypeId::interval || offset == TypeId::unknown) {
        return {TypeId::timestamp, TypeId::interval};
      }
      break;
    case TypeId::timestamptz:
    case TypeId::interval:
      if (offset == TypeId::interval || offset == TypeId::unknown)
        return {column, TypeId::interval};
      break;
    default:
      break;
  }
  return {};
}

[[noreturn]] void refuse_range(TypeId column, const Expr& offset) {
  // PostgreSQL's hint depends on whether the column would accept an offset of another type.
  const bool any = measure_of(column, TypeId::unknown).key != TypeId::none;
  SqlError error{
      sqlstate::feature_not_supported,
      fmt::format("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}{}",
                  format_type(column),
                  any ? fmt::format(" and offset type {}", format_type(offset.type())) : "")};
  if (any) {
    error = std::move(error).with_hint("Cast the offset value to an appropriate type.");
  }
  throw std::move(error).at_position(offset.location() + 1);
}

}  // namespace

/// Binds the offset, which must be constant while the statement runs, and converts it to the
/// measure's type.
ExprPtr ExpressionBinder::bind_frame_offset(const ast::Node* node, const WindowFrame& frame,
                                            Scope& scope) {
  ExprPtr expr = bind_expression(node, scope);
  if (frame.unit != WindowFrame::Unit::range) {
    expr = coerce(std::move(expr), TypeId::int8, kNoTypmod, Implicitness::implicit);
  }
  walk(*expr, [&](Expr& part) {
    if (dynamic_cast<const SlotExpr*>(&part) == nullptr) return;
    throw sql_error(SqlState{"42P10"}, "argument of {} must not contain variables",
                    unit_name(frame.unit))
        .at_position(part.location() + 1);
  });
  return expr;
}

/// RANGE with an offset: computes where a row's frame begins and ends, as values of the order's
/// column.
void ExpressionBinder::bind_range(WindowDefinition& window, std::int32_t location) {
  WindowFrame& frame = window.frame;
  if (window.order.size() != 1) {
    throw SqlError{sqlstate::windowing_error,
                   "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"}
        .at_position(location + 1);
  }
  const SortKey& order = window.order[0];
  WindowFrame::Range range;
  const auto bound = [&](ExprPtr& offset, WindowFrame::Bound kind, ExprPtr& is_negative,
                         bool is_start) -> ExprPtr {
    if (!offset) return nullptr;
    const TypeId column = order.expr->type();
    if (is_integer(column) && offset->type() == TypeId::unknown) {
      offset = coerce(std::move(offset), column, kNoTypmod, Implicitness::implicit);
    }
    const Measure measure = measure_of(column, offset->type());
    ExprPtr key = measure.key == TypeId::none ? nullptr : copy_expression(*order.expr);
    if (!key) refuse_range(column, *offset);
    key = coerce(std::move(key), measure.key, kNoTypmod, Implicitness::explicit_cast);
    offset = coerce(std::move(offset), measure.offset, kNoTypmod, Implicitness::explicit_cast);
    if (!range.key) range.key = copy_expression(*key);
    is_negative = call_operator("<", copy_expression(*offset),
                                constant(TypeId::unknown, Value::from_text("0")), location);
    if (measure.offset == TypeId::float8 || measure.offset == TypeId::numeric) {
      std::vector<ExprPtr> either;
      either.push_back(std::move(is_negative));
      either.push_back(call_operator("=", copy_expression(*offset),
                                     constant(TypeId::unknown, Value::from_text("NaN")), location));
      is_negative =
          std::make_unique<BooleanExpr>(BooleanExpr::Kind::disjunction, std::move(either));
    }
    const bool is_ascending = order.direction == SortDirection::ascending;
    const bool back = (kind == WindowFrame::Bound::preceding) == is_ascending;
    ExprPtr moved =
        call_operator(back ? "-" : "+", copy_expression(*key), copy_expression(*offset), location);
    if (measure.offset != TypeId::interval) return moved;
    // From an infinity an infinite offset does not lead back: then the bound excludes no row.
    const auto infinity = [&](TypeId type, bool is_minus) {
      const std::string_view text = is_minus ? "-infinity" : "infinity";
      return coerce(constant(TypeId::unknown, Value::from_text(text)), type, kNoTypmod,
                    Implicitness::explicit_cast);
    };
    std::vector<ExprPtr> both;
    both.push_back(
        call_operator("=", copy_expression(*offset), infinity(TypeId::interval, false), location));
    both.push_back(call_operator("=", std::move(key), infinity(measure.key, !back), location));
    std::vector<ExprPtr> branches;
    branches.push_back(
        std::make_unique<BooleanExpr>(BooleanExpr::Kind::conjunction, std::move(both)));
    branches.push_back(infinity(measure.key, is_start == is_ascending));
    branches.push_back(std::move(moved));
    return std::make_unique<CaseExpr>(measure.key, std::move(branches), nullptr, Slot{0});
  };
  range.start = bound(frame.start_offset, frame.start, range.start_is_negative, true);
  range.end = bound(frame.end_offset, frame.end, range.end_is_negative, false);
  frame.range = std::move(range);
}

void ExpressionBinder::bind_frame(const ast::WindowDef& over, WindowDefinition& window,
                                  Scope& scope) {
  WindowFrame& frame = window.frame;
  read_options(over.frame_options, frame);
  if (frame.unit == WindowFrame::Unit::groups && window.order.empty()) {
    throw SqlError{sqlstate::windowing_error, "GROUPS mode requires an ORDER BY clause"}
        .at_position(over.location + 1);
  }
  if (over.start_offset != nullptr) {
    frame.start_offset = bind_frame_offset(over.start_offset, frame, scope);
  }
  if (over.end_offset != nullptr) {
    frame.end_offset = bind_frame_offset(over.end_offset, frame, scope);
  }
  const bool by_value = frame.unit == WindowFrame::Unit::range;
  if (by_value && (frame.start_offset || frame.end_offset)) bind_range(window, over.location);
}

}  // namespace swizzle::sql
