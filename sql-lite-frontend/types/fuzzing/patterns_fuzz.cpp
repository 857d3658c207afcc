// Fuzz target of LIKE and regular expressions: the first line is a pattern, the rest a text.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void match(std::string_view text) {
  if (!is_text(text)) return;
  const auto [pattern, subject] = split_lines(text);
  Values values;
  const std::string a = quoted(subject) + "::text";
  const std::string b = quoted(pattern) + "::text";
  for (const char* sign : {"~~", "!~~", "~~*", "!~~*", "~", "!~*"}) values.evaluate(a + sign + b);
  values.evaluate(a + "~~ like_escape(" + b + ", '#')");
  values.evaluate(a + "~ similar_to_escape(" + b + ")");
  values.evaluate("regexp_replace(" + a + ", " + b + ", '<\\\\1\\\\&>', 'g')");
  values.evaluate("substring(" + a + ", " + b + ")");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::match(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
