#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// lseg: the segment between two points.
namespace swizzle::sql {
namespace geometry {
namespace {

Segment read(std::string_view text) {
  TextReader reader{builtin_id::lseg, text};
  Segment segment;
  Point* next = &segment.from;
  reader.points(2, TextReader::Brackets::allowed, [&](const Point& point) {
    *next = point;
    next = &segment.to;
  });
  reader.expect_end();
  return segment;
}
void write(std::string& out, const FormatSettings& format, const Segment& segment) {
  out.push_back('[');
  append_point(out, format, segment.from);
  out.push_back(',');
  append_point(out, format, segment.to);
  out.push_back(']');
}
constexpr TypeCodec kCodec = codec_of_numbers<Segment, &read, &write, &as_it_is<Segment>>();

double length(const Segment& segment) {
  return distance(segment.from, segment.to);
}
double slope_of(const Segment& segment) {
  return slope(segment.from, segment.to);
}
bool equal(const Segment& a, const Segment& b) {
  return same(a.from, b.from) && same(a.to, b.to);
}
bool differ(const Segment& a, const Segment& b) {
  return !equal(a, b);
}
bool shorter(const Segment& a, const Segment& b) {
  return less(length(a), length(b));
}
bool not_longer(const Segment& a, const Segment& b) {
  return at_most(length(a), length(b));
}
bool longer(const Segment& a, const Segment& b) {
  return greater(length(a), length(b));
}
bool not_shorter(const Segment& a, const Segment& b) {
  return at_least(length(a), length(b));
}
bool parallel(const Segment& a, const Segment& b) {
  return same(slope_of(a), slope_of(b));
}
bool perpendicular(const Segment& a, const Segment& b) {
  return same(slope_of(a), inverse_slope(b.from, b.to));
}
bool horizontal(const Segment& segment) {
  return same(segment.from.y, segment.to.y);
}
bool vertical(const Segment& segment) {
  return same(segment.from.x, segment.to.x);
}
Point middle(const Segment& segment) {
  return {over(plus(segment.from.x, segment.to.x), 2), over(plus(segment.from.y, segment.to.y), 2)};
}
Segment made(const Point& a, const Point& b) {
  return {a, b};
}

bool meets(const Segment& a, const Segment& b) {
  return crossing(a, b).has_value();
}
bool meets_line(const Segment& segment, const Line& line) {
  return crossing(segment, line).has_value();
}
bool meets_box(const Segment& segment, const Box& box) {
  return meet(box, segment);
}
std::optional<Point> crossing_point(const Segment& a, const Segment& b) {
  return crossing(a, b);
}
bool has_point(const Point& point, const Segment& segment) {
  return contains(segment, point);
}
bool within_line(const Segment& segment, const Line& line) {
  return contains(line, segment.from) && contains(line, segment.to);
}
bool within_box(const Segment& segment, const Box& box) {
  return contains(box, segment.from) && contains(box, segment.to);
}

double to_point(const Segment& segment, const Point& point) {
  return nearest(segment, point).distance;
}
double to_line(const Segment& segment, const Line& line) {
  return nearest(segment, line).distance;
}
double to_box(const Segment& segment, const Box& box) {
  return nearest(box, segment).distance;
}
double to_segment(const Segment& a, const Segment& b) {
  return nearest(a, b).distance;
}

std::optional<Point> nearest_to_point(const Point& point, const Segment& segment) {
  return known(nearest(segment, point));
}
std::optional<Point> nearest_to_line(const Line& line, const Segment& segment) {
  if (slope_of(segment) == slope(line)) return std::nullopt;
  return known(nearest(segment, line));
}
std::optional<Point> nearest_in_box(const Segment& segment, const Box& box) {
  return known(nearest(box, segment));
}
std::optional<Point> nearest_to_segment(const Segment& a, const Segment& b) {
  if (slope_of(a) == slope_of(b)) return std::nullopt;
  return known(nearest(b, a));
}

constexpr ScalarEntry kScalars[] = {
    {"=(lseg,lseg)", &over_shapes<&equal>},
    {"<>(lseg,lseg)", &over_shapes<&differ>},
    {"<(lseg,lseg)", &over_shapes<&shorter>},
    {"<=(lseg,lseg)", &over_shapes<&not_longer>},
    {">(lseg,lseg)", &over_shapes<&longer>},
    {">=(lseg,lseg)", &over_shapes<&not_shorter>},
    {"?||(lseg,lseg)", &over_shapes<&parallel>},
    {"?-|(lseg,lseg)", &over_shapes<&perpendicular>},
    {"?-(lseg)", &over_shapes<&horizontal>},
    {"?|(lseg)", &over_shapes<&vertical>},
    {"isparallel(lseg,lseg)", &over_shapes<&parallel>},
    {"isperp(lseg,lseg)", &over_shapes<&perpendicular>},
    {"ishorizontal(lseg)", &over_shapes<&horizontal>},
    {"isvertical(lseg)", &over_shapes<&vertical>},
    {"@-@(lseg)", &over_shapes<&length>},
    {"length(lseg)", &over_shapes<&length>},
    {"@@(lseg)", &over_shapes<&middle>},
    {"point(lseg)", &over_shapes<&middle>},
    {"lseg(point,point)", &over_shapes<&made>},
    {"?#(lseg,lseg)", &over_shapes<&meets>},
    {"?#(lseg,line)", &over_shapes<&meets_line>},
    {"?#(lseg,box)", &over_shapes<&meets_box>},
    {"#(lseg,lseg)", &over_shapes<&crossing_point>},
    {"<@(point,lseg)", &over_shapes<&has_point>},
    {"<@(lseg,line)", &over_shapes<&within_line>},
    {"<@(lseg,box)", &over_shapes<&within_box>},
    {"<->(lseg,point)", &over_shapes<&to_point>},
    {"<->(point,lseg)", &turned<&to_point>},
    {"<->(lseg,line)", &over_shapes<&to_line>},
    {"<->(line,lseg)", &turned<&to_line>},
    {"<->(lseg,box)", &over_shapes<&to_box>},
    {"<->(box,lseg)", &turned<&to_box>},
    {"<->(lseg,lseg)", &over_shapes<&to_segment>},
    {"##(point,lseg)", &over_shapes<&nearest_to_point>},
    {"##(line,lseg)", &over_shapes<&nearest_to_line>},
    {"##(lseg,box)", &over_shapes<&nearest_in_box>},
    {"##(lseg,lseg)", &over_shapes<&nearest_to_segment>},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::lseg{.id = builtin_id::lseg,
                                   .array = builtin_id::array_of_lseg,
                                   .element = builtin_id::point,
                                   .name = "lseg",
                                   .sql_name = "lseg",
                                   .length = 32,
                                   .category = 'G',
                                   .alignment = 'd',
                                   .storage = 'p',
                                   .shape = Shape::bytes,
                                   .io = geometry::kCodec,
                                   .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
