#include "sql-lite-frontend/types/geometry/shapes.h"

#include <limits>
#include <utility>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::geometry {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Keeps the nearer of two, the first if they are equally near.
void keep_nearer(Nearest& best, const Nearest& other) {
  if (exactly_less(other.distance, best.distance)) best = other;
}

Line line_of(const Segment& segment) {
  return line_through(segment.from, slope(segment.from, segment.to));
}

}  // namespace

void refuse_overflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: overflow"};
}
void refuse_underflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: underflow"};
}
void refuse_zero_division() {
  throw SqlError{sqlstate::division_by_zero, "division by zero"};
}

double hypotenuse(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return kNan;
  double longer = std::fabs(a);
  double shorter = std::fabs(b);
  if (longer < shorter) std::swap(longer, shorter);
  if (shorter == 0) return longer;
  const double ratio = shorter / longer;
  const double result = longer * std::sqrt(1.0 + ratio * ratio);
  if (std::isinf(result)) refuse_overflow();
  if (result == 0) refuse_underflow();
  return result;
}

bool same(const Point& a, const Point& b) {
  if (std::isnan(a.x) || std::isnan(a.y) || std::isnan(b.x) || std::isnan(b.y))
    return exactly_same(a.x, b.x) && exactly_same(a.y, b.y);
  return same(a.x, b.x) && same(a.y, b.y);
}

double distance(const Point& a, const Point& b) {
  return hypotenuse(minus(a.x, b.x), minus(a.y, b.y));
}

double slope(const Point& a, const Point& b) {
  if (same(a.x, b.x)) return kInfinity;
  if (same(a.y, b.y)) return 0;
  return over(minus(a.y, b.y), minus(a.x, b.x));
}

double inverse_slope(const Point& a, const Point& b) {
  if (same(a.x, b.x)) return 0;
  if (same(a.y, b.y)) return kInfinity;
  return over(minus(a.x, b.x), minus(b.y, a.y));
}

Point add(const Point& a, const Point& b) {
  return {plus(a.x, b.x), plus(a.y, b.y)};
}
Point subtract(const Point& a, const Point& b) {
  return {minus(a.x, b.x), minus(a.y, b.y)};
}
Point multiply(const Point& a, const Point& b) {
  return {minus(times(a.x, b.x), times(a.y, b.y)), plus(times(a.x, b.y), times(a.y, b.x))};
}
Point divide(const Point& a, const Point& b) {
  const double square = plus(times(b.x, b.x), times(b.y, b.y));
  return {over(plus(times(a.x, b.x), times(a.y, b.y)), square),
          over(minus(times(b.x, a.y), times(a.x, b.y)), square)};
}

Line line_through(const Point& point, double slope) {
  if (std::isinf(slope)) return {-1, 0, point.x};
  if (slope == 0) return {0, -1, point.y};
  const double c = minus(point.y, times(slope, point.x));
  return {slope, -1, c == 0 ? 0 : c};  // not -0
}

double slope(const Line& line) {
  if (is_zero(line.a)) return 0;
  if (is_zero(line.b)) return kInfinity;
  return over(line.a, -line.b);
}

double inverse_slope(const Line& line) {
  if (is_zero(line.a)) return kInfinity;
  if (is_zero(line.b)) return 0;
  return over(line.b, line.a);
}

bool contains(const Line& line, const Point& point) {
  return is_zero(plus(plus(times(line.a, point.x), times(line.b, point.y)), line.c));
}

namespace {

/// Pre: `a` is not vertical. The order of the lines affects rounding.
std::optional<Point> crossing_with_sloped(const Line& a, const Line& b) {
  if (same(b.a, times(a.a, over(b.b, a.b)))) return std::nullopt;
  const double x =
      over(minus(times(a.b, b.c), times(b.b, a.c)), minus(times(a.a, b.b), times(b.a, a.b)));
  const double y = over(-plus(times(a.a, x), a.c), a.b);
  return Point{x == 0 ? 0 : x, y == 0 ? 0 : y};  // not -0
}

}  // namespace

std::optional<Point> crossing(const Line& a, const Line& b) {
  if (!is_zero(a.b)) return crossing_with_sloped(a, b);
  if (!is_zero(b.b)) return crossing_with_sloped(b, a);
  return std::nullopt;
}

Nearest nearest(const Line& on, const Point& to) {
  const auto foot = crossing(line_through(to, inverse_slope(on)), on);
  if (!foot) return {to, kNan};
  return {*foot, distance(*foot, to)};
}

bool contains(const Segment& segment, const Point& point) {
  return same(distance(point, segment.from) + distance(point, segment.to),
              distance(segment.from, segment.to));
}

std::optional<Point> crossing(const Segment& segment, const Line& line) {
  const auto point = crossing(line_of(segment), line);
  if (!point || !contains(segment, *point)) return std::nullopt;
  // If the crossing is an end within the tolerance, return that end exactly.
  if (same(segment.from, *point)) return segment.from;
  if (same(segment.to, *point)) return segment.to;
  return point;
}

std::optional<Point> crossing(const Segment& a, const Segment& b) {
  const auto point = crossing(a, line_of(b));
  if (!point || !contains(b, *point)) return std::nullopt;
  return point;
}

Nearest nearest(const Segment& on, const Line& to) {
  if (const auto point = crossing(on, to)) return {*point, 0};
  const double from = nearest(to, on.from).distance;
  const double until = nearest(to, on.to).distance;
  if (from < until) return {on.from, from};
  return {on.to, until};
}

Nearest nearest(const Segment& on, const Point& to) {
  const Line across = line_through(to, inverse_slope(on.from, on.to));
  const Point point = nearest(on, across).point;
  return {point, distance(point, to)};
}

Nearest nearest(const Segment& on, const Segment& to) {
  if (const auto point = crossing(on, to)) return {*point, 0};
  Nearest best = nearest(on, to.from);
  keep_nearer(best, nearest(on, to.to));
  keep_nearer(best, {on.from, nearest(to, on.from).distance});
  keep_nearer(best, {on.to, nearest(to, on.to).distance});
  return best;
}

}  // namespace swizzle::sql::geometry
