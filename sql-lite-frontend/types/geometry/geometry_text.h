#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/geometry/shapes.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

struct FormatSettings;

namespace geometry {

/// Reads the text forms of geometric types, which are alike and full of parentheses that may be
/// left out. A text that does not fit is 22P02 in the type's name.
class TextReader {
 public:
  TextReader(TypeId type, std::string_view text) noexcept : type_{type}, text_{text}, rest_{text} {}

  void skip_space();
  bool take(char c);
  [[nodiscard]] bool at(char c) const noexcept { return rest_.starts_with(c); }
  void expect(char c);
  /// Takes the one that is there, or fails.
  void expect_end();

  double number();
  /// x,y or (x,y).
  Point pair();
  /// Counts the points of x,y,x,y…: nothing if numbers do not come in pairs.
  [[nodiscard]] std::optional<std::size_t> count_points() const noexcept;
  /// True if no other parenthesis follows the next one.
  [[nodiscard]] bool has_only_one_parenthesis() const noexcept;
  /// Takes the first parenthesis of "((". False: the text goes on otherwise.
  bool take_outer_parenthesis();

  enum class Brackets : unsigned char { refused, allowed };
  /// Reads as many points, within parentheses or without any, or in brackets: then they are open.
  /// `take` is called for each. Returns whether they are open.
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
/// (x,y)
void append_point(std::string& out, const FormatSettings& format, const Point& point);
/// (x,y),(x,y)…
void append_points(std::string& out, const FormatSettings& format, const Points& points);

}  // namespace geometry
}  // namespace swizzle::sql
