#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// path: a sequence of points, open [(x,y),…] or closed ((x,y),…).
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
  reader.skip_space();
  const bool enclosed = reader.has_only_one_parenthesis() && reader.take('(');
  PointsMaker maker{context.arena, Form::open_path, *count};
  const bool open = reader.points(*count, TextReader::Brackets::allowed,
                                  [&](const Point& point) { maker.add(point); });
  if (enclosed) {
    reader.expect(')');
    reader.skip_space();
  }
  reader.expect_end();
  maker.close(!open);
  return maker.value();
}

void output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  const Trace trace = Reading<Path>::of(value).trace;
  out.push_back(trace.closed ? '(' : '[');
  append_points(out, context.session.format, trace.points);
  out.push_back(trace.closed ? ')' : ']');
}

Value receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const bool closed = reader.take<std::uint8_t>() != 0;
  const std::size_t count = take_count(reader, "path");
  BinaryReader points{reader.take_bytes(count * sizeof(Point))};
  reader.finish();
  PointsMaker maker{context.arena, closed ? Form::closed_path : Form::open_path, count};
  for (std::size_t i = 0; i < count; ++i) {
    yield_point(kPerPoint);
    maker.add(take_point(points));
  }
  return maker.value();
}

void send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const Trace trace = Reading<Path>::of(value).trace;
  out.push_back(trace.closed ? '\1' : '\0');
  put_points(out, trace.points);
}
constexpr TypeCodec kCodec{&input, &output, &receive, &send};

std::int32_t count_of(const Path& path) {
  return static_cast<std::int32_t>(path.trace.points.size());
}
template <class Test>
bool counts(const Path& a, const Path& b) {
  return Test{}(count_of(a), count_of(b));
}
bool is_closed(const Path& path) {
  return path.trace.closed;
}
bool is_open(const Path& path) {
  return !path.trace.closed;
}

double length(const Path& path) {
  double sum = 0;
  for (std::size_t i = path.trace.first_end(); i < path.trace.points.size(); ++i) {
    yield_point(kPerPoint);
    const Segment segment = path.trace.ending_at(i);
    sum = plus(sum, distance(segment.from, segment.to));
  }
  return sum;
}

std::optional<double> area(const Path& path) {
  if (!path.trace.closed) return std::nullopt;
  const Points& points = path.trace.points;
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    yield_point(kPerPoint);
    const Point here = points[i];
    const Point next = points[i + 1 == points.size() ? 0 : i + 1];
    sum = plus(sum, times(here.x, next.y));
    sum = minus(sum, times(here.y, next.x));
  }
  return over(std::fabs(sum), 2);
}

bool meets(const Path& a, const Path& b) {
  return overlap(bounds(a.trace.points), bounds(b.trace.points)) && cross(a.trace, b.trace);
}
std::optional<double> to_path(const Path& a, const Path& b) {
  return distance(a.trace, b.trace);
}
double to_point(const Path& path, const Point& point) {
  std::optional<double> least_distance;
  for (std::size_t i = path.trace.first_end(); i < path.trace.points.size(); ++i) {
    yield_point(kPerPoint);
    const double next = nearest(path.trace.ending_at(i), point).distance;
    if (!least_distance || exactly_less(next, *least_distance)) least_distance = next;
  }
  return least_distance.value_or(0);
}

/// True if the point lies on the open path, or on or within the closed one.
bool contains_point(const Path& path, const Point& point) {
  const Points& points = path.trace.points;
  if (path.trace.closed) return place_of(point, points) != Place::outside;
  double before = distance(point, points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) {
    yield_point(kPerPoint);
    const double here = distance(point, points[i]);
    if (same(plus(before, here), distance(points[i - 1], points[i]))) return true;
    before = here;
  }
  return false;
}

template <Form form>
Value with_form(FunctionContext& context, Arguments a) {
  const Points points = Reading<Path>::of(a[0]).trace.points;
  PointsMaker maker{context.arena, form, points.size()};
  for (std::size_t i = 0; i < points.size(); ++i) maker.add(points[i]);
  return maker.value();
}

/// Concatenates two open paths; NULL if one is closed.
Value joined(FunctionContext& context, Arguments a) {
  const Trace first = Reading<Path>::of(a[0]).trace;
  const Trace second = Reading<Path>::of(a[1]).trace;
  if (first.closed || second.closed) return Value::null();
  PointsMaker maker{context.arena, Form::open_path, first.points.size() + second.points.size()};
  for (std::size_t i = 0; i < first.points.size(); ++i) maker.add(first.points[i]);
  for (std::size_t i = 0; i < second.points.size(); ++i) maker.add(second.points[i]);
  return maker.value();
}

template <Point (*change)(const Point&, const Point&)>
Value changed(FunctionContext& context, Arguments a) {
  const Trace trace = Reading<Path>::of(a[0]).trace;
  const Point by = Reading<Point>::of(a[1]);
  PointsMaker maker{context.arena, trace.closed ? Form::closed_path : Form::open_path,
                    trace.points.size()};
  for (std::size_t i = 0; i < trace.points.size(); ++i) {
    yield_point(kPerPoint);
    maker.add(change(trace.points[i], by));
  }
  return maker.value();
}

Value of_polygon(FunctionContext& context, Arguments a) {
  const Points points = Reading<Polygon>::of(a[0]).points;
  PointsMaker maker{context.arena, Form::closed_path, points.size()};
  for (std::size_t i = 0; i < points.size(); ++i) maker.add(points[i]);
  return maker.value();
}

constexpr ScalarEntry kScalars[] = {
    {"=(path,path)", &over_shapes<&counts<std::equal_to<>>>},
    {"<(path,path)", &over_shapes<&counts<std::less<>>>},
    {"<=(path,path)", &over_shapes<&counts<std::less_equal<>>>},
    {">(path,path)", &over_shapes<&counts<std::greater<>>>},
    {">=(path,path)", &over_shapes<&counts<std::greater_equal<>>>},
    {"#(path)", &over_shapes<&count_of>},
    {"npoints(path)", &over_shapes<&count_of>},
    {"isclosed(path)", &over_shapes<&is_closed>},
    {"isopen(path)", &over_shapes<&is_open>},
    {"pclose(path)", &with_form<Form::closed_path>},
    {"popen(path)", &with_form<Form::open_path>},
    {"@-@(path)", &over_shapes<&length>},
    {"length(path)", &over_shapes<&length>},
    {"area(path)", &over_shapes<&area>},
    {"?#(path,path)", &over_shapes<&meets>},
    {"<->(path,path)", &over_shapes<&to_path>},
    {"<->(path,point)", &over_shapes<&to_point>},
    {"<->(point,path)", &turned<&to_point>},
    {"@>(path,point)", &over_shapes<&contains_point>},
    {"<@(point,path)", &turned<&contains_point>},
    {"+(path,path)", &joined},
    {"+(path,point)", &changed<&add>},
    {"-(path,point)", &changed<&subtract>},
    {"*(path,point)", &changed<&multiply>},
    {"/(path,point)", &changed<&divide>},
    {"path(polygon)", &of_polygon},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::path{.id = builtin_id::path,
                                   .array = builtin_id::array_of_path,
                                   .name = "path",
                                   .sql_name = "path",
                                   .category = 'G',
                                   .alignment = 'd',
                                   .shape = Shape::bytes,
                                   .io = geometry::kCodec,
                                   .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
