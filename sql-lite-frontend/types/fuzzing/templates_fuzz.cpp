// Fuzz target of to_char and similar functions: the first line is a template, the rest a value.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void format(std::string_view text) {
  if (!is_text(text)) return;
  const auto [pattern, value] = split_lines(text);
  Values values;
  const std::string a = quoted(value);
  const std::string end = ", " + quoted(pattern) + ")";
  for (const char* type :
       {"numeric", "int4", "int8", "float8", "timestamp", "timestamptz", "interval"}) {
    values.evaluate("to_char(" + a + "::" + type + end);
  }
  for (const char* name : {"to_number", "to_date", "to_timestamp"}) {
    values.evaluate(name + ("(" + a) + "::text" + end);
  }
  values.evaluate("format(" + quoted(pattern) + ", " + a + "::text, " + a + "::text)");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::format(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
