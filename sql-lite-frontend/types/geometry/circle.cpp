#include <numbers>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// circle: <(x,y),r>.
namespace swizzle::sql {
namespace geometry {
namespace {

Circle read(std::string_view text) {
  TextReader reader{builtin_id::circle, text};
  reader.skip_space();
  const bool angular = reader.take('<');
  const bool enclosed = angular || reader.take_outer_parenthesis();
  Circle circle;
  circle.center = reader.pair();
  reader.take(',');
  circle.radius = reader.number();
  if (circle.radius < 0) reader.fail();
  if (enclosed) {
    if (!reader.take(')') && !reader.take('>')) reader.fail();
    reader.skip_space();
  }
  reader.expect_end();
  return circle;
}
void write(std::string& out, const FormatSettings& format, const Circle& circle) {
  out.push_back('<');
  append_point(out, format, circle.center);
  out.push_back(',');
  append_number(out, format, circle.radius);
  out.push_back('>');
}
Circle check(const Circle& circle) {
  if (circle.radius < 0)
    throw SqlError{sqlstate::invalid_binary_representation,
                   "invalid radius in external \"circle\" value"};
  return circle;
}
constexpr TypeCodec kCodec = codec_of_numbers<Circle, &read, &write, &check>();

double area(const Circle& circle) {
  return times(times(circle.radius, circle.radius), std::numbers::pi);
}
bool equal(const Circle& a, const Circle& b) {
  return same(area(a), area(b));
}
/// Not the negation of equal(): if a radius is NaN, both are false, as in PostgreSQL.
bool differ(const Circle& a, const Circle& b) {
  return std::fabs(area(a) - area(b)) > kTolerance;
}
bool smaller(const Circle& a, const Circle& b) {
  return less(area(a), area(b));
}
bool not_larger(const Circle& a, const Circle& b) {
  return at_most(area(a), area(b));
}
bool larger(const Circle& a, const Circle& b) {
  return greater(area(a), area(b));
}
bool not_smaller(const Circle& a, const Circle& b) {
  return at_least(area(a), area(b));
}

bool same_circle(const Circle& a, const Circle& b) {
  const bool none = std::isnan(a.radius) && std::isnan(b.radius);
  return (none || same(a.radius, b.radius)) && same(a.center, b.center);
}
bool overlapping(const Circle& a, const Circle& b) {
  return at_most(distance(a.center, b.center), plus(a.radius, b.radius));
}
bool not_right(const Circle& a, const Circle& b) {
  return at_most(plus(a.center.x, a.radius), plus(b.center.x, b.radius));
}
bool left(const Circle& a, const Circle& b) {
  return less(plus(a.center.x, a.radius), minus(b.center.x, b.radius));
}
bool right(const Circle& a, const Circle& b) {
  return greater(minus(a.center.x, a.radius), plus(b.center.x, b.radius));
}
bool not_left(const Circle& a, const Circle& b) {
  return at_least(minus(a.center.x, a.radius), minus(b.center.x, b.radius));
}
bool below(const Circle& a, const Circle& b) {
  return less(plus(a.center.y, a.radius), minus(b.center.y, b.radius));
}
bool above(const Circle& a, const Circle& b) {
  return greater(minus(a.center.y, a.radius), plus(b.center.y, b.radius));
}
bool not_above(const Circle& a, const Circle& b) {
  return at_most(plus(a.center.y, a.radius), plus(b.center.y, b.radius));
}
bool not_below(const Circle& a, const Circle& b) {
  return at_least(minus(a.center.y, a.radius), minus(b.center.y, b.radius));
}
bool contains_circle(const Circle& outer, const Circle& inner) {
  return at_most(distance(outer.center, inner.center), minus(outer.radius, inner.radius));
}
bool contains_point(const Circle& circle, const Point& point) {
  return distance(circle.center, point) <= circle.radius;
}
double to_circle(const Circle& a, const Circle& b) {
  const double gap = minus(distance(a.center, b.center), plus(a.radius, b.radius));
  return gap < 0 ? 0 : gap;
}
double to_point(const Circle& circle, const Point& point) {
  const double gap = minus(distance(point, circle.center), circle.radius);
  return gap < 0 ? 0 : gap;
}

Circle moved(const Circle& circle, const Point& by) {
  return {add(circle.center, by), circle.radius};
}
Circle moved_back(const Circle& circle, const Point& by) {
  return {subtract(circle.center, by), circle.radius};
}
Circle scaled(const Circle& circle, const Point& by) {
  return {multiply(circle.center, by), times(circle.radius, hypotenuse(by.x, by.y))};
}
Circle scaled_back(const Circle& circle, const Point& by) {
  return {divide(circle.center, by), over(circle.radius, hypotenuse(by.x, by.y))};
}
double radius(const Circle& circle) {
  return circle.radius;
}
double diameter(const Circle& circle) {
  return times(circle.radius, 2);
}
Point middle(const Circle& circle) {
  return circle.center;
}
Circle made(const Point& center, double radius) {
  return {center, radius};
}
Circle around_box(const Box& box) {
  const Point middle_of_box = center(box);
  return {middle_of_box, distance(middle_of_box, box.high)};
}

constexpr ScalarEntry kScalars[] = {
    {"=(circle,circle)", &over_shapes<&equal>},
    {"<>(circle,circle)", &over_shapes<&differ>},
    {"<(circle,circle)", &over_shapes<&smaller>},
    {"<=(circle,circle)", &over_shapes<&not_larger>},
    {">(circle,circle)", &over_shapes<&larger>},
    {">=(circle,circle)", &over_shapes<&not_smaller>},
    {"~=(circle,circle)", &over_shapes<&same_circle>},
    {"&&(circle,circle)", &over_shapes<&overlapping>},
    {"<<(circle,circle)", &over_shapes<&left>},
    {"&<(circle,circle)", &over_shapes<&not_right>},
    {">>(circle,circle)", &over_shapes<&right>},
    {"&>(circle,circle)", &over_shapes<&not_left>},
    {"<<|(circle,circle)", &over_shapes<&below>},
    {"&<|(circle,circle)", &over_shapes<&not_above>},
    {"|>>(circle,circle)", &over_shapes<&above>},
    {"|&>(circle,circle)", &over_shapes<&not_below>},
    {"@>(circle,circle)", &over_shapes<&contains_circle>},
    {"<@(circle,circle)", &turned<&contains_circle>},
    {"@>(circle,point)", &over_shapes<&contains_point>},
    {"<@(point,circle)", &turned<&contains_point>},
    {"<->(circle,circle)", &over_shapes<&to_circle>},
    {"<->(circle,point)", &over_shapes<&to_point>},
    {"<->(point,circle)", &turned<&to_point>},
    {"+(circle,point)", &over_shapes<&moved>},
    {"-(circle,point)", &over_shapes<&moved_back>},
    {"*(circle,point)", &over_shapes<&scaled>},
    {"/(circle,point)", &over_shapes<&scaled_back>},
    {"area(circle)", &over_shapes<&area>},
    {"radius(circle)", &over_shapes<&radius>},
    {"diameter(circle)", &over_shapes<&diameter>},
    {"@@(circle)", &over_shapes<&middle>},
    {"center(circle)", &over_shapes<&middle>},
    {"point(circle)", &over_shapes<&middle>},
    {"circle(point,float8)", &over_shapes<&made>},
    {"circle(box)", &over_shapes<&around_box>},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::circle{.id = builtin_id::circle,
                                     .array = builtin_id::array_of_circle,
                                     .name = "circle",
                                     .sql_name = "circle",
                                     .length = 24,
                                     .category = 'G',
                                     .alignment = 'd',
                                     .storage = 'p',
                                     .shape = Shape::bytes,
                                     .io = geometry::kCodec,
                                     .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
