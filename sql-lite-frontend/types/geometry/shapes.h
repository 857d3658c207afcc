#pragma once

#include <cstddef>
#include <optional>

#include "base/bytes.h"
#include "sql-lite-frontend/types/geometry/tolerance.h"

/// Points, lines, segments and boxes, and functions of two of them. The order of floating-point
/// operations is PostgreSQL's, because it affects the last digits of results.
namespace swizzle::sql::geometry {

struct Point {
  double x = 0;
  double y = 0;
};
/// Ax + By + C = 0.
struct Line {
  double a = 0;
  double b = 0;
  double c = 0;
};
struct Segment {
  Point from;
  Point to;
};
struct Box {
  Point high;
  Point low;
};
struct Circle {
  Point center;
  double radius = 0;
};

/// The points of a path or polygon, as encoded in a value.
class Points {
 public:
  Points() = default;
  explicit Points(Bytes bytes) noexcept : bytes_{bytes} {}
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / sizeof(Point); }
  [[nodiscard]] Point operator[](std::size_t i) const noexcept {
    return load<Point>(bytes_.data() + i * sizeof(Point));
  }
  [[nodiscard]] Point back() const noexcept { return (*this)[size() - 1]; }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
};

/// Nearest point and its distance; NaN if undefined.
struct Nearest {
  Point point;
  double distance = 0;
};

bool same(const Point& a, const Point& b);
double distance(const Point& a, const Point& b);
/// Returns the slope of the line through two points; infinity for a vertical one.
double slope(const Point& a, const Point& b);
/// Returns the slope of the perpendicular.
double inverse_slope(const Point& a, const Point& b);
Point add(const Point& a, const Point& b);
Point subtract(const Point& a, const Point& b);
/// Multiply and divide points as complex numbers: rotates and scales the first by the second.
Point multiply(const Point& a, const Point& b);
Point divide(const Point& a, const Point& b);

Line line_through(const Point& point, double slope);
double slope(const Line& line);
double inverse_slope(const Line& line);
bool contains(const Line& line, const Point& point);
/// Returns the point of intersection; nothing for parallel lines.
std::optional<Point> crossing(const Line& a, const Line& b);
Nearest nearest(const Line& on, const Point& to);

bool contains(const Segment& segment, const Point& point);
std::optional<Point> crossing(const Segment& a, const Segment& b);
std::optional<Point> crossing(const Segment& segment, const Line& line);
Nearest nearest(const Segment& on, const Point& to);
Nearest nearest(const Segment& on, const Segment& to);
Nearest nearest(const Segment& on, const Line& to);

Box box_of(const Point& a, const Point& b);
Point center(const Box& box);
bool overlap(const Box& a, const Box& b);
bool contains(const Box& box, const Point& point);
bool contains(const Box& outer, const Box& inner);
/// True if the shapes have a point in common.
bool meet(const Box& box, const Segment& segment);
Nearest nearest(const Box& on, const Point& to);
Nearest nearest(const Box& on, const Segment& to);

/// Pre: at least one point.
Box bounds(const Points& points);
/// Position of a point relative to a polygon. Pre: at least one point.
enum class Place : unsigned char { outside, inside, edge };
Place place_of(const Point& point, const Points& polygon);
bool polygons_overlap(const Points& a, const Points& b);
bool polygon_contains(const Points& outer, const Points& inner);
double distance(const Point& point, const Points& polygon);

/// A path, open or closed.
struct Trace {
  Points points;
  bool closed = false;
  /// Index of the first point at which a segment ends.
  [[nodiscard]] std::size_t first_end() const noexcept { return closed ? 0 : 1; }
  [[nodiscard]] Segment ending_at(std::size_t i) const noexcept {
    return {points[i == 0 ? points.size() - 1 : i - 1], points[i]};
  }
};
/// Returns the least distance between two segments of the paths; nothing if one has no segment.
std::optional<double> distance(const Trace& a, const Trace& b);
bool cross(const Trace& a, const Trace& b);

}  // namespace swizzle::sql::geometry
