#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// A range as it is written, its bounds not yet read. Nothing: that end is infinite.
struct RangeText {
  bool empty = false;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// "[1,2)", "(,\"a b\"]", "empty". 22P02.
RangeText read_range_text(std::string_view text);
/// A bound as it stands in a range's text.
void append_bound(std::string& out, std::string_view bound);

/// Takes one range after the other off a multirange's text.
class MultirangeText {
 public:
  /// 22P02 where no brace stands in front.
  explicit MultirangeText(std::string_view text);
  /// The text of the next range; nothing behind the last. 22P02.
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
