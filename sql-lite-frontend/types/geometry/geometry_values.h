#pragma once

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/geometry/geometry_text.h"
#include "sql-lite-frontend/types/geometry/shapes.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"

/// Layout of geometric values in memory and rows, and wrappers that turn functions over shapes into
/// functions over values. A point, line, segment, box or circle is its numbers; a polygon is its
/// points; a path is a flag, which says if it is closed, and its points.
namespace swizzle::sql::geometry {

[[noreturn]] inline void refuse_stored() {
  throw SqlError{sqlstate::data_corrupted, "a stored value does not have its type's form"};
}

struct Polygon {
  Points points;
};
struct Path {
  Trace trace;
};

// Conversions from values. Types that are a sequence of numbers are copied.
template <class T>
struct Reading {
  static T of(const Value& value) {
    const Bytes bytes = value.as_bytes();
    if (bytes.size() != sizeof(T)) refuse_stored();
    return load<T>(bytes.data());
  }
};
template <>
struct Reading<double> {
  static double of(const Value& value) { return value.as_float8(); }
};
template <>
struct Reading<std::int32_t> {
  static std::int32_t of(const Value& value) { return value.as_int4(); }
};
template <>
struct Reading<Polygon> {
  static Polygon of(const Value& value) {
    const Points points{value.as_bytes()};
    if (points.size() == 0 || points.bytes().size() % sizeof(Point) != 0) refuse_stored();
    return {points};
  }
};
template <>
struct Reading<Path> {
  static Path of(const Value& value) {
    const Bytes bytes = value.as_bytes();
    if (bytes.size() < sizeof(std::uint64_t) + sizeof(Point) ||
        (bytes.size() - sizeof(std::uint64_t)) % sizeof(Point) != 0)
      refuse_stored();
    return {{Points{bytes.subspan(sizeof(std::uint64_t))}, load<std::uint64_t>(bytes.data()) != 0}};
  }
};

// Conversions to values.
inline Value to_value(Arena&, bool value) {
  return Value::from_bool(value);
}
inline Value to_value(Arena&, double value) {
  return Value::from_float8(value);
}
inline Value to_value(Arena&, std::int32_t value) {
  return Value::from_int(value);
}
template <class T>
  requires std::is_aggregate_v<T>
Value to_value(Arena& arena, const T& shape) {
  std::byte* at = arena.allocate(sizeof shape);
  store(at, shape);
  return Value::from_bytes({at, sizeof shape});
}
template <class T>
Value to_value(Arena& arena, const std::optional<T>& value) {
  return value ? to_value(arena, *value) : Value::null();
}

/// Returns the point, or NULL if it could not be determined.
inline std::optional<Point> known(const Nearest& nearest) {
  if (std::isnan(nearest.distance)) return std::nullopt;
  return nearest.point;
}

template <class Result, class... Parameters, std::size_t... indices>
Value call_shapes(Result (*function)(Parameters...), Arena& arena, std::span<const Value> arguments,
                  std::index_sequence<indices...>) {
  return to_value(arena,
                  function(Reading<std::remove_cvref_t<Parameters>>::of(arguments[indices])...));
}
template <class Result, class... Parameters>
Value call_shapes(Result (*function)(Parameters...), Arena& arena,
                  std::span<const Value> arguments) {
  return call_shapes(function, arena, arguments, std::index_sequence_for<Parameters...>{});
}
/// Wraps a function over shapes, numbers and booleans as one over values; no argument is NULL.
template <auto function>
Value over_shapes(FunctionContext& context, std::span<const Value> arguments) {
  return call_shapes(function, context.arena, arguments);
}
/// The same with the two arguments exchanged.
template <auto function>
Value turned(FunctionContext& context, std::span<const Value> arguments) {
  const Value other[2] = {arguments[1], arguments[0]};
  return call_shapes(function, context.arena, other);
}

/// Memory for a path or polygon of that many points.
class PointsMaker {
 public:
  enum class Form : unsigned char { polygon, open_path, closed_path };
  PointsMaker(Arena& arena, Form form, std::size_t count)
      : head_{form == Form::polygon ? 0 : sizeof(std::uint64_t)} {
    if (count > (kMaxFieldBytes - head_) / sizeof(Point)) refuse_many();
    size_ = head_ + count * sizeof(Point);
    begin_ = arena.allocate(size_);
    next_ = begin_ + head_;
    if (form != Form::polygon) close(form == Form::closed_path);
  }
  void add(const Point& point) {
    store(next_, point);
    next_ += sizeof(Point);
  }
  /// Marks a path as closed or open.
  void close(bool closed) { store(begin_, std::uint64_t{closed}); }
  [[nodiscard]] Value value() const { return Value::from_bytes({begin_, size_}); }
  [[nodiscard]] Points points() const { return Points{Bytes{begin_, size_}.subspan(head_)}; }

 private:
  [[noreturn]] static void refuse_many() {
    throw SqlError{sqlstate::program_limit_exceeded, "too many points requested"};
  }
  std::size_t head_;
  std::size_t size_ = 0;
  std::byte* begin_ = nullptr;
  std::byte* next_ = nullptr;
};

// Binary send and receive formats.
inline double take_number(BinaryReader& reader) {
  return std::bit_cast<double>(reader.take<std::uint64_t>());
}
inline Point take_point(BinaryReader& reader) {
  const double x = take_number(reader);
  return {x, take_number(reader)};
}
inline void put_number(std::string& out, double number) {
  append_big_endian(out, std::bit_cast<std::uint64_t>(number));
}
inline void put_point(std::string& out, const Point& point) {
  put_number(out, point.x);
  put_number(out, point.y);
}
void put_points(std::string& out, const Points& points);
/// Receives the number of points. Throws 22P03 for 0, and for more than possible.
std::size_t take_count(BinaryReader& reader, std::string_view type);

/// Binary format of a type that consists of numbers, sent one after the other.
template <class T, T (*read)(std::string_view),
          void (*write)(std::string&, const FormatSettings&, const T&), T (*check)(const T&)>
constexpr TypeCodec codec_of_numbers() {
  return {[](FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
            return to_value(context.arena, read(text));
          },
          [](FunctionContext& context, TypeId, const Value& value, std::string& out) {
            write(out, context.session.format, Reading<T>::of(value));
          },
          [](FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
            BinaryReader reader{bytes};
            std::array<double, sizeof(T) / sizeof(double)> numbers{};
            for (double& number : numbers) number = take_number(reader);
            reader.finish();
            return to_value(context.arena, check(std::bit_cast<T>(numbers)));
          },
          [](FunctionContext&, TypeId, const Value& value, std::string& out) {
            const Bytes bytes = value.as_bytes();
            for (std::size_t at = 0; at + sizeof(double) <= bytes.size(); at += sizeof(double))
              put_number(out, load<double>(bytes.data() + at));
          }};
}
template <class T>
T as_it_is(const T& shape) {
  return shape;
}

}  // namespace swizzle::sql::geometry
