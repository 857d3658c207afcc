#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/geometry/geometry_values.h"

/// point: (x,y).
namespace swizzle::sql {
namespace geometry {
namespace {

Point read(std::string_view text) {
  TextReader reader{builtin_id::point, text};
  const Point point = reader.pair();
  reader.expect_end();
  return point;
}
constexpr TypeCodec kCodec = codec_of_numbers<Point, &read, &append_point, &as_it_is<Point>>();

bool equal(const Point& a, const Point& b) {
  return same(a, b);
}
bool differ(const Point& a, const Point& b) {
  return !same(a, b);
}
bool left(const Point& a, const Point& b) {
  return less(a.x, b.x);
}
bool right(const Point& a, const Point& b) {
  return greater(a.x, b.x);
}
bool below(const Point& a, const Point& b) {
  return less(a.y, b.y);
}
bool above(const Point& a, const Point& b) {
  return greater(a.y, b.y);
}
bool horizontal(const Point& a, const Point& b) {
  return same(a.y, b.y);
}
bool vertical(const Point& a, const Point& b) {
  return same(a.x, b.x);
}
double away(const Point& a, const Point& b) {
  return distance(a, b);
}
double slope_between(const Point& a, const Point& b) {
  return slope(a, b);
}
Point made(double x, double y) {
  return {x, y};
}

constexpr ScalarEntry kScalars[] = {
    {"~=(point,point)", &over_shapes<&equal>},
    {"<>(point,point)", &over_shapes<&differ>},
    {"<<(point,point)", &over_shapes<&left>},
    {">>(point,point)", &over_shapes<&right>},
    // <<| and |>> have the same functions.
    {"<^(point,point)", &over_shapes<&below>},
    {">^(point,point)", &over_shapes<&above>},
    {"?-(point,point)", &over_shapes<&horizontal>},
    {"?|(point,point)", &over_shapes<&vertical>},
    {"ishorizontal(point,point)", &over_shapes<&horizontal>},
    {"isvertical(point,point)", &over_shapes<&vertical>},
    {"<->(point,point)", &over_shapes<&away>},
    {"slope(point,point)", &over_shapes<&slope_between>},
    {"+(point,point)", &over_shapes<&add>},
    {"-(point,point)", &over_shapes<&subtract>},
    {"*(point,point)", &over_shapes<&multiply>},
    {"/(point,point)", &over_shapes<&divide>},
    {"point(float8,float8)", &over_shapes<&made>},
};
constexpr FunctionsOfType kFunctions{.scalars = kScalars};

}  // namespace
}  // namespace geometry

constinit const Type builtin::point{.id = builtin_id::point,
                                    .array = builtin_id::array_of_point,
                                    .element = TypeId::float8,
                                    .name = "point",
                                    .sql_name = "point",
                                    .length = 16,
                                    .category = 'G',
                                    .alignment = 'd',
                                    .storage = 'p',
                                    .shape = Shape::bytes,
                                    .io = geometry::kCodec,
                                    .functions = &geometry::kFunctions};

}  // namespace swizzle::sql
