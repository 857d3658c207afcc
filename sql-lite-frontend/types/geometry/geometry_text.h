#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/geometry/shapes.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

struct FormatSettings;

namespace geometry {

/// Parser of the text forms of geometric types, in which many parentheses are optional. Throws
/// 22P02 with the type's name if the text is invalid.
class TextReader {
 public:
  TextReader(TypeId type, std::string_view text) noexcept : type_{type}, text_{text}, rest_{text} {}

  void skip_space();
  bool take(char c);
  [[nodiscard]] bool at(char c) const noexcept { return rest_.starts_with(c); }
  void expect(char c);
  /// Fails unless the text has been read to its end.
  void expect_end();

  double number();
  /// Parses x,y or (x,y).
  Point pair();
  /// Counts the points of x,y,x,y…; nothing if there is an odd number of values.
  [[nodiscard]] std::optional<std::size_t> count_points() const noexcept;
  /// True if the next parenthesis is the only one left.
  [[nodiscard]] bool has_only_one_parenthesis() const noexcept;
  /// Consumes the first parenthesis of "((", or returns false.
  bool take_outer_parenthesis();

  enum class Brackets : unsigned char { refused, allowed };
  /// Parses that many points, with or without parentheses, or in brackets, which mean an open path.
  /// Calls `take` for each. Returns true for an open path.
  template <class Take>
  bool points(std::size_t count, Brackets brackets, Take&& take) {
    const int depth = begin_points(brackets);
    for (std::size_t i = 0; i < count; ++i) take(next_point());
    end_points(depth);
    return open_;
  }

  [[noreturn]] void fail() const;

 private:
  int begin_points(Brackets brackets);
  Point next_point();
  void end_points(int depth);

  TypeId type_;
  std::string_view text_;
  std::string_view rest_;
  bool open_ = false;
};

void append_number(std::string& out, const FormatSettings& format, double number);
void append_pair(std::string& out, const FormatSettings& format, const Point& point);
/// Appends (x,y).
void append_point(std::string& out, const FormatSettings& format, const Point& point);
/// Appends (x,y),(x,y)…
void append_points(std::string& out, const FormatSettings& format, const Points& points);

}  // namespace geometry
}  // namespace swizzle::sql
