#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// box: the rectangle between two corners, the upper right one first.
namespace swizzle::sql {
namespace geometry {
namespace {

/// Returns the box with its upper right corner first.
Box ordered_corners(const Box& box) {
  Box out = box;
  if (exactly_less(box.high.x, box.low.x)) std::swap(out.high.x, out.low.x);
  if (exactly_less(box.high.y, box.low.y)) std::swap(out.high.y, out.low.y);
  return out;
}

Box read(std::string_view text) {
  TextReader reader{builtin_id::box, text};
  Box box;
  Point* next = &box.high;
  reader.points(2, TextReader::Brackets::refused, [&](const Point& point) {
    *next = point;
    next = &box.low;
  });
  reader.expect_end();
  return ordered_corners(box);
}
void write(std::string& out, const FormatSettings& format, const Box& box) {
  append_point(out, format, box.high);
  out.push_back(',');
  append_point(out, format, box.low);
}
constexpr TypeCodec kCodec = codec_of_numbers<Box, &read, &write, &ordered_corners>();

double width(const Box& box) {
  return minus(box.high.x, box.low.x);
}
double height(const Box& box) {
  return minus(box.high.y, box.low.y);
}
double area(const Box& box) {
  return times(width(box), height(box));
}

bool equal(const Box& a, const Box& b) {
  return same(area(a), area(b));
}
bool smaller(const Box& a, const Box& b) {
  return less(area(a), area(b));
}
bool not_larger(const Box& a, const Box& b) {
  return at_most(area(a), area(b));
}
bool larger(const Box& a, const Box& b) {
  return greater(area(a), area(b));
}
bool not_smaller(const Box& a, const Box& b) {
  return at_least(area(a), area(b));
}

bool same_box(const Box& a, const Box& b) {
  return same(a.high, b.high) && same(a.low, b.low);
}
bool overlapping(const Box& a, const Box& b) {
  return overlap(a, b);
}
bool left(const Box& a, const Box& b) {
  return less(a.high.x, b.low.x);
}
bool not_right(const Box& a, const Box& b) {
  return at_most(a.high.x, b.high.x);
}
bool right(const Box& a, const Box& b) {
  return greater(a.low.x, b.high.x);
}
bool not_left(const Box& a, const Box& b) {
  return at_least(a.low.x, b.low.x);
}
bool below(const Box& a, const Box& b) {
  return less(a.high.y, b.low.y);
}
bool not_above(const Box& a, const Box& b) {
  return at_most(a.high.y, b.high.y);
}
bool above(const Box& a, const Box& b) {
  return greater(a.low.y, b.high.y);
}
bool not_below(const Box& a, const Box& b) {
  return at_least(a.low.y, b.low.y);
}
bool below_or_touching(const Box& a, const Box& b) {
  return at_most(a.high.y, b.low.y);
}
bool above_or_touching(const Box& a, const Box& b) {
  return at_least(a.low.y, b.high.y);
}
bool contains_box(const Box& outer, const Box& inner) {
  return contains(outer, inner);
}
bool contains_point(const Box& box, const Point& point) {
  return contains(box, point);
}

double between_centers(const Box& a, const Box& b) {
  return distance(center(a), center(b));
}
double to_point(const Box& box, const Point& point) {
  return nearest(box, point).distance;
}
std::optional<Point> nearest_to_point(const Point& point, const Box& box) {
  return known(nearest(box, point));
}

std::optional<Box> common(const Box& a, const Box& b) {
  if (!overlap(a, b)) return std::nullopt;
  return Box{{least(a.high.x, b.high.x), least(a.high.y, b.high.y)},
             {greatest(a.low.x, b.low.x), greatest(a.low.y, b.low.y)}};
}
Box around_both(const Box& a, const Box& b) {
  return {{greatest(a.high.x, b.high.x), greatest(a.high.y, b.high.y)},
          {least(a.low.x, b.low.x), least(a.low.y, b.low.y)}};
}
Segment diagonal(const Box& box) {
  return {box.high, box.low};
}
Point middle(const Box& box) {
  return center(box);
}

Box moved(const Box& box, const Point& by) {
  return {add(box.high, by), add(box.low, by)};
}
Box moved_back(const Box& box, const Point& by) {
  return {subtract(box.high, by), subtract(box.low, by)};
}
Box scaled(const Box& box, const Point& by) {
  return box_of(multiply(box.high, by), multiply(box.low, by));
}
Box scaled_back(const Box& box, const Point& by) {
  return box_of(divide(box.high, by), divide(box.low, by));
}
Box at_point(const Point& point) {
  return {point, point};
}
Box around_circle(const Circle& circle) {
  const double half = over(circle.radius, std::sqrt(2.0));
  return {{plus(circle.center.x, half), plus(circle.center.y, half)},
          {minus(circle.center.x, half), minus(circle.center.y, half)}};
}
Box around_polygon(const Polygon& polygon) {
  return bounds(polygon.points);
}

constexpr ScalarEntry kScalars[] = {
    {"=(box,box)", &over_shapes<&equal>},
    {"<(box,box)", &over_shapes<&smaller>},
    {"<=(box,box)", &over_shapes<&not_larger>},
    {">(box,box)", &over_shapes<&larger>},
    {">=(box,box)", &over_shapes<&not_smaller>},
    {"~=(box,box)", &over_shapes<&same_box>},
    // ?# has the same function.
    {"&&(box,box)", &over_shapes<&overlapping>},
    {"<<(box,box)", &over_shapes<&left>},
    {"&<(box,box)", &over_shapes<&not_right>},
    {">>(box,box)", &over_shapes<&right>},
    {"&>(box,box)", &over_shapes<&not_left>},
    {"<<|(box,box)", &over_shapes<&below>},
    {"&<|(box,box)", &over_shapes<&not_above>},
    {"|>>(box,box)", &over_shapes<&above>},
    {"|&>(box,box)", &over_shapes<&not_below>},
    {"<^(box,box)", &over_shapes<&below_or_touching>},
    {">^(box,box)", &over_shapes<&above_or_touching>},
    {"@>(box,box)", &over_shapes<&contains_box>},
    {"<@(box,box)", &turned<&contains_box>},
    {"@>(box,point)", &over_shapes<&contains_point>},
    {"<@(point,box)", &turned<&contains_point>},
    {"<->(box,box)", &over_shapes<&between_centers>},
    {"<->(box,point)", &over_shapes<&to_point>},
    {"<->(point,box)", &turned<&to_point>},
    {"##(point,box)", &over_shapes<&nearest_to_point>},
    {"#(box,box)", &over_shapes<&common>},
    {"bound_box(box,box)", &over_shapes<&around_both>},
    {"@@(box)", &over_shapes<&middle>},
    {"center(box)", &over_shapes<&middle>},
    {"point(box)", &over_shapes<&middle>},
    {"diagonal(box)", &over_shapes<&diagonal>},
    {"lseg(box)", &over_shapes<&diagonal>},
    {"area(box)", &over_shapes<&area>},
    {"width(box)", &over_shapes<&width>},
    {"height(box)", &over_shapes<&height>},
    {"+(box,point)", &over_shapes<&moved>},
    {"-(box,point)", &over_shapes<&moved_back>},
    {"*(box,point)", &over_shapes<&scaled>},
    {"/(box,point)", &over_shapes<&scaled_back>},
    {"box(point)", &over_shapes<&at_point>},
    {"box(point,point)", &over_shapes<&box_of>},
    {"box(circle)", &over_shapes<&around_circle>},
    {"box(polygon)", &over_shapes<&around_polygon>},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::box{.id = builtin_id::box,
                                  .array = builtin_id::array_of_box,
                                  .element = builtin_id::point,
                                  .name = "box",
                                  .sql_name = "box",
                                  .length = 32,
                                  .category = 'G',
                                  .delimiter = ';',
                                  .alignment = 'd',
                                  .storage = 'p',
                                  .shape = Shape::bytes,
                                  .io = geometry::kCodec,
                                  .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
