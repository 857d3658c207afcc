#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// Text of a range, split into its bounds. Nothing: infinite bound.
struct RangeText {
  bool empty = false;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// Parses "[1,2)", "(,\"a b\"]" or "empty". Throws 22P02.
RangeText read_range_text(std::string_view text);
/// Appends a bound, quoted if necessary.
void append_bound(std::string& out, std::string_view bound);

/// Splits a multirange's text into ranges.
class MultirangeText {
 public:
  /// Throws 22P02 unless the text begins with a brace.
  explicit MultirangeText(std::string_view text);
  /// Returns the text of the next range; nothing at the end. Throws 22P02.
  std::optional<std::string_view> next();

 private:
  [[noreturn]] void malformed(std::string_view detail) const;
  void skip_space();
  std::string_view take_range();

  std::string_view text_;
  std::string_view rest_;
  bool first_ = true;
};

}  // namespace swizzle::sql
