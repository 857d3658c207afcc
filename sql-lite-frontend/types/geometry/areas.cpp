#include <algorithm>
#include <array>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/geometry/shapes.h"

/// Boxes, polygons and paths.
namespace swizzle::sql::geometry {
namespace {

constexpr std::size_t kPerPoint = 10;
constexpr std::size_t kPerPair = 60;

std::array<Segment, 4> edges(const Box& box) {
  const Point upper_left{box.low.x, box.high.y};
  const Point lower_right{box.high.x, box.low.y};
  return {{{box.low, upper_left},
           {box.high, upper_left},
           {box.low, lower_right},
           {box.high, lower_right}}};
}

template <class Other>
Nearest nearest_of_edges(const Box& box, const Other& to) {
  const auto all = edges(box);
  Nearest best = nearest(all[0], to);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Nearest next = nearest(all[i], to);
    if (exactly_less(next.distance, best.distance)) best = next;
  }
  return best;
}

}  // namespace

Box box_of(const Point& a, const Point& b) {
  Box box{a, b};
  if (!exactly_less(b.x, a.x)) std::swap(box.high.x, box.low.x);
  if (!exactly_less(b.y, a.y)) std::swap(box.high.y, box.low.y);
  return box;
}

Point center(const Box& box) {
  return {over(plus(box.high.x, box.low.x), 2), over(plus(box.high.y, box.low.y), 2)};
}

bool overlap(const Box& a, const Box& b) {
  return at_most(a.low.x, b.high.x) && at_most(b.low.x, a.high.x) && at_most(a.low.y, b.high.y) &&
         at_most(b.low.y, a.high.y);
}

bool contains(const Box& box, const Point& point) {
  return box.high.x >= point.x && box.low.x <= point.x && box.high.y >= point.y &&
         box.low.y <= point.y;
}

bool contains(const Box& outer, const Box& inner) {
  return at_least(outer.high.x, inner.high.x) && at_most(outer.low.x, inner.low.x) &&
         at_least(outer.high.y, inner.high.y) && at_most(outer.low.y, inner.low.y);
}

bool meet(const Box& box, const Segment& segment) {
  const Box around{{greatest(segment.from.x, segment.to.x), greatest(segment.from.y, segment.to.y)},
                   {least(segment.from.x, segment.to.x), least(segment.from.y, segment.to.y)}};
  if (!overlap(around, box)) return false;
  if (contains(box, segment.from) || contains(box, segment.to)) return true;
  return std::ranges::any_of(
      edges(box), [&](const Segment& edge) { return crossing(edge, segment).has_value(); });
}

Nearest nearest(const Box& on, const Point& to) {
  if (contains(on, to)) return {to, 0};
  return nearest_of_edges(on, to);
}

Nearest nearest(const Box& on, const Segment& to) {
  if (meet(on, to)) return {nearest(to, center(on)).point, 0};
  return nearest_of_edges(on, to);
}

Box bounds(const Points& points) {
  Box box{points[0], points[0]};
  for (std::size_t i = 1; i < points.size(); ++i) {
    yield_point(kPerPoint);
    const Point point = points[i];
    if (exactly_less(point.x, box.low.x)) box.low.x = point.x;
    if (exactly_less(point.y, box.low.y)) box.low.y = point.y;
    if (exactly_less(box.high.x, point.x)) box.high.x = point.x;
    if (exactly_less(box.high.y, point.y)) box.high.y = point.y;
  }
  return box;
}

namespace {

/// How a step around the point that is asked about crosses the axis to its right: 1 or 2 upwards
/// (half, whole), the same below zero downwards, nothing where the step goes through the point.
std::optional<int> axis_crossing(const Point& to, const Point& from) {
  if (is_zero(to.y)) {
    if (is_zero(to.x)) return std::nullopt;
    const bool right = greater(to.x, 0);
    if (is_zero(from.y)) {
      const bool stays = right ? greater(from.x, 0) : less(from.x, 0);
      return stays ? std::optional{0} : std::nullopt;
    }
    if (!right) return 0;
    return less(from.y, 0) ? 1 : -1;
  }
  const int direction = greater(to.y, 0) ? 1 : -1;
  if (is_zero(from.y)) return less(from.x, 0) ? 0 : direction;
  const bool same_side = direction < 0 ? less(from.y, 0) : greater(from.y, 0);
  if (same_side) return 0;
  if (at_least(to.x, 0) && greater(from.x, 0)) return 2 * direction;
  if (less(to.x, 0) && at_most(from.x, 0)) return 0;
  const double side = minus(times(minus(to.x, from.x), to.y), times(minus(to.y, from.y), to.x));
  if (is_zero(side)) return std::nullopt;
  const bool passes_left = direction < 0 ? less(side, 0) : greater(side, 0);
  return passes_left ? 0 : 2 * direction;
}

}  // namespace

Place place_of(const Point& point, const Points& polygon) {
  const Point first = subtract(polygon[0], point);
  Point before = first;
  int crossings = 0;
  for (std::size_t i = 1; i <= polygon.size(); ++i) {
    yield_point(kPerPoint);
    const Point next = i == polygon.size() ? first : subtract(polygon[i], point);
    const auto step = axis_crossing(next, before);
    if (!step) return Place::edge;
    crossings += *step;
    before = next;
  }
  return crossings != 0 ? Place::inside : Place::outside;
}

bool polygons_overlap(const Points& a, const Points& b) {
  if (!overlap(bounds(a), bounds(b))) return false;
  if (cross({a, true}, {b, true})) return true;
  return place_of(a[0], b) != Place::outside || place_of(b[0], a) != Place::outside;
}

namespace {

/// Test if segments are inside one polygon, by the parts that its edges cut them into.
class InsidePolygon {
 public:
  explicit InsidePolygon(const Points& polygon) noexcept : polygon_{polygon} {}

  /// Edges before that which ends at `start` have been looked at.
  bool contains(const Segment& segment, std::size_t start) {
    check_stack();
    bool cut = false;
    for (std::size_t i = start; i < polygon_.size(); ++i) {
      yield_point(kPerPair);
      const Segment edge{i == 0 ? polygon_.back() : polygon_[i - 1], polygon_[i]};
      bool inside = true;
      if (geometry::contains(edge, segment.from)) {
        if (geometry::contains(edge, segment.to)) return true;
        inside = contains_touched(segment, edge, i + 1);
      } else if (geometry::contains(edge, segment.to)) {
        inside = contains_touched({segment.to, segment.from}, edge, i + 1);
      } else if (const auto point = crossing(segment, edge)) {
        cut = true;
        inside = contains({segment.from, *point}, i + 1) && contains({segment.to, *point}, i + 1);
      }
      if (!inside) return false;
    }
    if (cut) return true;  // its parts have been asked
    const Point middle{over(plus(segment.from.x, segment.to.x), 2),
                       over(plus(segment.from.y, segment.to.y), 2)};
    return place_of(middle, polygon_) != Place::outside;
  }

 private:
  /// The segment begins on the edge and does not end there: what of it runs along the edge is
  /// inside, the rest is asked.
  bool contains_touched(const Segment& segment, const Segment& edge, std::size_t start) {
    check_stack();
    const bool at_from = same(segment.from, edge.from);
    const bool at_to = !at_from && same(segment.from, edge.to);
    if (!at_from && geometry::contains(segment, edge.from))
      return contains({segment.to, edge.from}, start);
    if (!at_to && geometry::contains(segment, edge.to))
      return contains({segment.to, edge.to}, start);
    return true;
  }

  const Points& polygon_;
};

}  // namespace

bool polygon_contains(const Points& outer, const Points& inner) {
  if (!contains(bounds(outer), bounds(inner))) return false;
  InsidePolygon polygon{outer};
  const Trace edges{inner, true};
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (!polygon.contains(edges.ending_at(i), 0)) return false;
  return true;
}

double distance(const Point& point, const Points& polygon) {
  if (place_of(point, polygon) != Place::outside) return 0;
  const Trace edges{polygon, true};
  double least_distance = nearest(edges.ending_at(0), point).distance;
  for (std::size_t i = 1; i < polygon.size(); ++i) {
    yield_point(kPerPair);
    const double next = nearest(edges.ending_at(i), point).distance;
    if (exactly_less(next, least_distance)) least_distance = next;
  }
  return least_distance;
}

std::optional<double> distance(const Trace& a, const Trace& b) {
  std::optional<double> least_distance;
  for (std::size_t i = a.first_end(); i < a.points.size(); ++i) {
    const Segment one = a.ending_at(i);
    for (std::size_t k = b.first_end(); k < b.points.size(); ++k) {
      yield_point(kPerPair);
      const double next = nearest(one, b.ending_at(k)).distance;
      if (!least_distance || exactly_less(next, *least_distance)) least_distance = next;
    }
  }
  return least_distance;
}

bool cross(const Trace& a, const Trace& b) {
  for (std::size_t i = a.first_end(); i < a.points.size(); ++i) {
    const Segment one = a.ending_at(i);
    for (std::size_t k = b.first_end(); k < b.points.size(); ++k) {
      yield_point(kPerPair);
      if (crossing(one, b.ending_at(k))) return true;
    }
  }
  return false;
}

}  // namespace swizzle::sql::geometry
