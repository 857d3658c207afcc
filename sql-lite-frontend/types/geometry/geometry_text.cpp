#include "sql-lite-frontend/types/geometry/geometry_text.h"

#include <algorithm>
#include <charconv>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql::geometry {
namespace {

constexpr std::size_t kPerNumber = 60;

}  // namespace

void TextReader::fail() const {
  throw_invalid_syntax(type_, text_);
}

void TextReader::skip_space() {
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
}

bool TextReader::take(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

void TextReader::expect(char c) {
  if (!take(c)) fail();
}

void TextReader::expect_end() {
  if (!rest_.empty()) fail();
}

double TextReader::number() {
  yield_point(kPerNumber);
  skip_space();
  const std::string_view begin = rest_;
  const bool negative = take('-');
  if (!negative) take('+');
  if (at('-') || at('+')) fail();
  const bool hexadecimal = rest_.starts_with("0x") || rest_.starts_with("0X");
  if (hexadecimal) rest_.remove_prefix(2);
  double value = 0;
  const auto [end, error] =
      std::from_chars(rest_.data(), rest_.data() + rest_.size(), value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument) fail();
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  if (error == std::errc::result_out_of_range)
    throw_error(sqlstate::numeric_value_out_of_range,
                "\"{}\" is out of range for type double precision",
                begin.substr(0, begin.size() - rest_.size()));
  skip_space();
  return negative ? -value : value;
}

Point TextReader::pair() {
  skip_space();
  const bool enclosed = take('(');
  const double x = number();
  expect(',');
  const double y = number();
  if (enclosed) {
    expect(')');
    skip_space();
  }
  return {x, y};
}

std::optional<std::size_t> TextReader::count_points() const noexcept {
  const auto commas = static_cast<std::size_t>(std::ranges::count(rest_, ','));
  if (commas % 2 == 0) return std::nullopt;
  return (commas + 1) / 2;
}

bool TextReader::has_only_one_parenthesis() const noexcept {
  return at('(') && rest_.rfind('(') == 0;
}

bool TextReader::take_outer_parenthesis() {
  if (!at('(')) return false;
  std::string_view inner = rest_.substr(1);
  while (!inner.empty() && is_space(inner.front())) inner.remove_prefix(1);
  if (!inner.starts_with('(')) return false;
  rest_ = inner;
  return true;
}

int TextReader::begin_points(Brackets brackets) {
  skip_space();
  open_ = take('[');
  if (open_) {
    if (brackets == Brackets::refused) fail();
    return 1;
  }
  if (take_outer_parenthesis()) return 1;
  if (!has_only_one_parenthesis()) return 0;
  take('(');
  skip_space();
  return 1;
}

Point TextReader::next_point() {
  const Point point = pair();
  take(',');
  return point;
}

void TextReader::end_points(int depth) {
  if (depth == 0) return;
  if (!take(')') && !(open_ && take(']'))) fail();
  skip_space();
}

void append_number(std::string& out, const FormatSettings& format, double number) {
  append_float8(out, number, format.extra_float_digits);
}

void append_pair(std::string& out, const FormatSettings& format, const Point& point) {
  append_number(out, format, point.x);
  out.push_back(',');
  append_number(out, format, point.y);
}

void append_point(std::string& out, const FormatSettings& format, const Point& point) {
  out.push_back('(');
  append_pair(out, format, point);
  out.push_back(')');
}

void append_points(std::string& out, const FormatSettings& format, const Points& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    yield_point(kPerNumber);
    if (i > 0) out.push_back(',');
    append_point(out, format, points[i]);
  }
}

}  // namespace swizzle::sql::geometry
