#include "sql-lite-frontend/types/geometry/geometry_values.h"

#include "base/runtime/long_work.h"

namespace swizzle::sql::geometry {

void put_points(std::string& out, const Points& points) {
  append_big_endian(out, static_cast<std::uint32_t>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    yield_point(10);
    put_point(out, points[i]);
  }
}

std::size_t take_count(BinaryReader& reader, std::string_view type) {
  const auto count = reader.take<std::int32_t>();
  if (count <= 0 || static_cast<std::size_t>(count) > kMaxFieldBytes / sizeof(Point))
    throw_error(sqlstate::invalid_binary_representation,
                "invalid number of points in external \"{}\" value", type);
  return static_cast<std::size_t>(count);
}

}  // namespace swizzle::sql::geometry
