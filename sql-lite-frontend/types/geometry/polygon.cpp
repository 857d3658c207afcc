#include <numbers>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// polygon: the area within a closed path.
namespace swizzle::sql {
namespace geometry {
namespace {

constexpr std::size_t kPerPoint = 20;
using Arguments = std::span<const Value>;
using Form = PointsMaker::Form;

Value input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  TextReader reader{type, text};
  const auto count = reader.count_points();
  if (!count) reader.fail();
  PointsMaker maker{context.arena, Form::polygon, *count};
  reader.points(*count, TextReader::Brackets::refused,
                [&](const Point& point) { maker.add(point); });
  reader.expect_end();
  return maker.value();
}

void output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  out.push_back('(');
  append_points(out, context.session.format, Reading<Polygon>::of(value).points);
  out.push_back(')');
}

Value receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const std::size_t count = take_count(reader, "polygon");
  BinaryReader points{reader.take_bytes(count * sizeof(Point))};
  reader.finish();
  PointsMaker maker{context.arena, Form::polygon, count};
  for (std::size_t i = 0; i < count; ++i) {
    yield_point(kPerPoint);
    maker.add(take_point(points));
  }
  return maker.value();
}

void send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  put_points(out, Reading<Polygon>::of(value).points);
}
constexpr TypeCodec kCodec{&input, &output, &receive, &send};

std::int32_t count_of(const Polygon& polygon) {
  return static_cast<std::int32_t>(polygon.points.size());
}

// Comparisons of places use the bounds, exactly.
bool left(const Polygon& a, const Polygon& b) {
  return bounds(a.points).high.x < bounds(b.points).low.x;
}
bool not_right(const Polygon& a, const Polygon& b) {
  return bounds(a.points).high.x <= bounds(b.points).high.x;
}
bool right(const Polygon& a, const Polygon& b) {
  return bounds(a.points).low.x > bounds(b.points).high.x;
}
bool not_left(const Polygon& a, const Polygon& b) {
  return bounds(a.points).low.x >= bounds(b.points).low.x;
}
bool below(const Polygon& a, const Polygon& b) {
  return bounds(a.points).high.y < bounds(b.points).low.y;
}
bool not_above(const Polygon& a, const Polygon& b) {
  return bounds(a.points).high.y <= bounds(b.points).high.y;
}
bool above(const Polygon& a, const Polygon& b) {
  return bounds(a.points).low.y > bounds(b.points).high.y;
}
bool not_below(const Polygon& a, const Polygon& b) {
  return bounds(a.points).low.y >= bounds(b.points).low.y;
}

/// True if b's points, from `start` on in one direction, are a's.
bool runs_along(const Points& a, const Points& b, std::size_t start, bool forwards) {
  const std::size_t count = a.size();
  std::size_t at = start;
  for (std::size_t i = 1; i < count; ++i) {
    yield_point(kPerPoint);
    if (forwards)
      at = at + 1 == count ? 0 : at + 1;
    else
      at = at == 0 ? count - 1 : at - 1;
    if (!same(b[at], a[i])) return false;
  }
  return true;
}
bool same_polygon(const Polygon& a, const Polygon& b) {
  if (a.points.size() != b.points.size()) return false;
  for (std::size_t i = 0; i < b.points.size(); ++i) {
    yield_point(kPerPoint);
    if (same(b.points[i], a.points[0]) &&
        (runs_along(a.points, b.points, i, true) || runs_along(a.points, b.points, i, false)))
      return true;
  }
  return false;
}

bool overlapping(const Polygon& a, const Polygon& b) {
  return polygons_overlap(a.points, b.points);
}
bool contains_polygon(const Polygon& outer, const Polygon& inner) {
  return polygon_contains(outer.points, inner.points);
}
bool contains_point(const Polygon& polygon, const Point& point) {
  return place_of(point, polygon.points) != Place::outside;
}
std::optional<double> to_polygon(const Polygon& a, const Polygon& b) {
  if (polygons_overlap(a.points, b.points)) return 0;
  return distance(Trace{a.points, true}, Trace{b.points, true});
}
double to_point(const Polygon& polygon, const Point& point) {
  return distance(point, polygon.points);
}
double to_circle(const Polygon& polygon, const Circle& circle) {
  const double gap = minus(distance(circle.center, polygon.points), circle.radius);
  return gap < 0 ? 0 : gap;
}

/// The mean of the points, and how far they are from it on average.
Circle mean_circle(const Polygon& polygon) {
  const auto count = static_cast<double>(polygon.points.size());
  Circle circle;
  for (std::size_t i = 0; i < polygon.points.size(); ++i) {
    yield_point(kPerPoint);
    circle.center = add(circle.center, polygon.points[i]);
  }
  circle.center = {over(circle.center.x, count), over(circle.center.y, count)};
  for (std::size_t i = 0; i < polygon.points.size(); ++i) {
    yield_point(kPerPoint);
    circle.radius = plus(circle.radius, distance(polygon.points[i], circle.center));
  }
  circle.radius = over(circle.radius, count);
  return circle;
}
Point middle(const Polygon& polygon) {
  return mean_circle(polygon).center;
}

Value of_box(FunctionContext& context, Arguments a) {
  const Box box = Reading<Box>::of(a[0]);
  PointsMaker maker{context.arena, Form::polygon, 4};
  maker.add(box.low);
  maker.add({box.low.x, box.high.y});
  maker.add(box.high);
  maker.add({box.high.x, box.low.y});
  return maker.value();
}

Value of_path(FunctionContext& context, Arguments a) {
  const Trace trace = Reading<Path>::of(a[0]).trace;
  if (!trace.closed)
    throw SqlError{sqlstate::invalid_parameter_value, "open path cannot be converted to polygon"};
  PointsMaker maker{context.arena, Form::polygon, trace.points.size()};
  for (std::size_t i = 0; i < trace.points.size(); ++i) maker.add(trace.points[i]);
  return maker.value();
}

Value around(Arena& arena, const Circle& circle, std::int32_t count) {
  if (is_zero(circle.radius))
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot convert circle with radius zero to polygon"};
  if (count < 2)
    throw SqlError{sqlstate::invalid_parameter_value, "must request at least 2 points"};
  PointsMaker maker{arena, Form::polygon, static_cast<std::size_t>(count)};
  const double step = over(2 * std::numbers::pi, count);
  for (std::int32_t i = 0; i < count; ++i) {
    yield_point(3 * kPerPoint);
    const double angle = i == 0 ? 0 : times(step, i);
    maker.add({minus(circle.center.x, times(circle.radius, std::cos(angle))),
               plus(circle.center.y, times(circle.radius, std::sin(angle)))});
  }
  return maker.value();
}
Value of_circle(FunctionContext& context, Arguments a) {
  return around(context.arena, Reading<Circle>::of(a[1]), a[0].as_int4());
}
Value of_circle_by_twelve(FunctionContext& context, Arguments a) {
  constexpr std::int32_t kTwelve = 12;
  return around(context.arena, Reading<Circle>::of(a[0]), kTwelve);
}

constexpr ScalarEntry kScalars[] = {
    {"#(polygon)", &over_shapes<&count_of>},
    {"npoints(polygon)", &over_shapes<&count_of>},
    {"<<(polygon,polygon)", &over_shapes<&left>},
    {"&<(polygon,polygon)", &over_shapes<&not_right>},
    {">>(polygon,polygon)", &over_shapes<&right>},
    {"&>(polygon,polygon)", &over_shapes<&not_left>},
    {"<<|(polygon,polygon)", &over_shapes<&below>},
    {"&<|(polygon,polygon)", &over_shapes<&not_above>},
    {"|>>(polygon,polygon)", &over_shapes<&above>},
    {"|&>(polygon,polygon)", &over_shapes<&not_below>},
    {"~=(polygon,polygon)", &over_shapes<&same_polygon>},
    {"&&(polygon,polygon)", &over_shapes<&overlapping>},
    {"@>(polygon,polygon)", &over_shapes<&contains_polygon>},
    {"<@(polygon,polygon)", &turned<&contains_polygon>},
    {"@>(polygon,point)", &over_shapes<&contains_point>},
    {"<@(point,polygon)", &turned<&contains_point>},
    {"<->(polygon,polygon)", &over_shapes<&to_polygon>},
    {"<->(polygon,point)", &over_shapes<&to_point>},
    {"<->(point,polygon)", &turned<&to_point>},
    {"<->(polygon,circle)", &over_shapes<&to_circle>},
    {"<->(circle,polygon)", &turned<&to_circle>},
    {"@@(polygon)", &over_shapes<&middle>},
    {"point(polygon)", &over_shapes<&middle>},
    {"circle(polygon)", &over_shapes<&mean_circle>},
    {"polygon(box)", &of_box},
    {"polygon(path)", &of_path},
    {"polygon(int4,circle)", &of_circle},
    {"polygon(circle)", &of_circle_by_twelve},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::polygon{.id = builtin_id::polygon,
                                      .array = builtin_id::array_of_polygon,
                                      .name = "polygon",
                                      .sql_name = "polygon",
                                      .category = 'G',
                                      .alignment = 'd',
                                      .shape = Shape::bytes,
                                      .io = geometry::kCodec,
                                      .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
