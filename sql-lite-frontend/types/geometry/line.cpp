#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// line: {A,B,C} of Ax + By + C = 0; input may also be two of its points.
namespace swizzle::sql {
namespace geometry {
namespace {

Line read_numbers(TextReader& reader) {
  Line line;
  line.a = reader.number();
  reader.expect(',');
  line.b = reader.number();
  reader.expect(',');
  line.c = reader.number();
  reader.expect('}');
  reader.skip_space();
  reader.expect_end();
  if (is_zero(line.a) && is_zero(line.b))
    throw SqlError{sqlstate::invalid_text_representation,
                   "invalid line specification: A and B cannot both be zero"};
  return line;
}

Line read(std::string_view text) {
  TextReader reader{builtin_id::line, text};
  reader.skip_space();
  if (reader.take('{')) return read_numbers(reader);
  Segment segment;
  Point* next = &segment.from;
  reader.points(2, TextReader::Brackets::allowed, [&](const Point& point) {
    *next = point;
    next = &segment.to;
  });
  reader.expect_end();
  if (same(segment.from, segment.to))
    throw SqlError{sqlstate::invalid_text_representation,
                   "invalid line specification: must be two distinct points"};
  return line_through(segment.from, slope(segment.from, segment.to));
}

void write(std::string& out, const FormatSettings& format, const Line& line) {
  out.push_back('{');
  append_number(out, format, line.a);
  out.push_back(',');
  append_number(out, format, line.b);
  out.push_back(',');
  append_number(out, format, line.c);
  out.push_back('}');
}

Line check(const Line& line) {
  if (is_zero(line.a) && is_zero(line.b))
    throw SqlError{sqlstate::invalid_binary_representation,
                   "invalid line specification: A and B cannot both be zero"};
  return line;
}
constexpr TypeCodec kCodec = codec_of_numbers<Line, &read, &write, &check>();

bool has_nan(const Line& line) {
  return std::isnan(line.a) || std::isnan(line.b) || std::isnan(line.c);
}

/// Returns the ratio of the lines' coefficients, by the first coefficient of `b` that is not zero.
double ratio_of(const Line& a, const Line& b) {
  if (!is_zero(b.a)) return over(a.a, b.a);
  if (!is_zero(b.b)) return over(a.b, b.b);
  if (!is_zero(b.c)) return over(a.c, b.c);
  return 1;
}
bool equal(const Line& a, const Line& b) {
  if (has_nan(a) || has_nan(b))
    return exactly_same(a.a, b.a) && exactly_same(a.b, b.b) && exactly_same(a.c, b.c);
  const double ratio = ratio_of(a, b);
  return same(a.a, times(ratio, b.a)) && same(a.b, times(ratio, b.b)) &&
         same(a.c, times(ratio, b.c));
}
bool meets(const Line& a, const Line& b) {
  return crossing(a, b).has_value();
}
bool parallel(const Line& a, const Line& b) {
  return !crossing(a, b).has_value();
}
bool perpendicular(const Line& a, const Line& b) {
  if (is_zero(a.a)) return is_zero(b.b);
  if (is_zero(b.a)) return is_zero(a.b);
  if (is_zero(a.b)) return is_zero(b.a);
  if (is_zero(b.b)) return is_zero(a.a);
  return same(over(times(a.a, b.a), times(a.b, b.b)), -1);
}
bool horizontal(const Line& line) {
  return is_zero(line.a);
}
bool vertical(const Line& line) {
  return is_zero(line.b);
}
std::optional<Point> crossing_point(const Line& a, const Line& b) {
  return crossing(a, b);
}

bool can_divide(double a, double b) {
  return !is_zero(a) && !std::isnan(a) && !is_zero(b) && !std::isnan(b);
}
double to_line(const Line& a, const Line& b) {
  if (crossing(a, b)) return 0;
  double ratio = 1;
  if (can_divide(a.a, b.a))
    ratio = over(a.a, b.a);
  else if (can_divide(a.b, b.b))
    ratio = over(a.b, b.b);
  return over(std::fabs(minus(a.c, times(ratio, b.c))), hypotenuse(a.a, a.b));
}
double to_point(const Line& line, const Point& point) {
  return nearest(line, point).distance;
}
bool has_point(const Point& point, const Line& line) {
  return contains(line, point);
}
std::optional<Point> nearest_to_point(const Point& point, const Line& line) {
  return known(nearest(line, point));
}

bool meets_box(const Line& line, const Box& box) {
  const Point upper_left{box.low.x, box.high.y};
  const Point lower_right{box.high.x, box.low.y};
  return crossing(Segment{box.low, upper_left}, line) ||
         crossing(Segment{upper_left, box.high}, line) ||
         crossing(Segment{box.high, lower_right}, line) ||
         crossing(Segment{lower_right, box.low}, line);
}

Line made(const Point& a, const Point& b) {
  if (same(a, b))
    throw SqlError{sqlstate::invalid_parameter_value,
                   "invalid line specification: must be two distinct points"};
  return line_through(a, slope(a, b));
}

constexpr ScalarEntry kScalars[] = {
    {"=(line,line)", &over_shapes<&equal>},
    {"?#(line,line)", &over_shapes<&meets>},
    {"?||(line,line)", &over_shapes<&parallel>},
    {"?-|(line,line)", &over_shapes<&perpendicular>},
    {"?-(line)", &over_shapes<&horizontal>},
    {"?|(line)", &over_shapes<&vertical>},
    {"isparallel(line,line)", &over_shapes<&parallel>},
    {"isperp(line,line)", &over_shapes<&perpendicular>},
    {"ishorizontal(line)", &over_shapes<&horizontal>},
    {"isvertical(line)", &over_shapes<&vertical>},
    {"#(line,line)", &over_shapes<&crossing_point>},
    {"<->(line,line)", &over_shapes<&to_line>},
    {"<->(line,point)", &over_shapes<&to_point>},
    {"<->(point,line)", &turned<&to_point>},
    {"<@(point,line)", &over_shapes<&has_point>},
    {"##(point,line)", &over_shapes<&nearest_to_point>},
    {"?#(line,box)", &over_shapes<&meets_box>},
    {"line(point,point)", &over_shapes<&made>},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::line{.id = builtin_id::line,
                                   .array = builtin_id::array_of_line,
                                   .element = TypeId::float8,
                                   .name = "line",
                                   .sql_name = "line",
                                   .length = 24,
                                   .category = 'G',
                                   .alignment = 'd',
                                   .storage = 'p',
                                   .shape = Shape::bytes,
                                   .io = geometry::kCodec,
                                   .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
