// Fuzz target of JSON: the first line is a document, the second another one, a key or a path.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void read(std::string_view text) {
  if (!is_text(text)) return;
  const auto [one, two] = split_lines(text);
  Values values;
  for (const TypeId type : {TypeId::json, TypeId::jsonb}) values.read_and_write(type, one);
  const std::string a = quoted(one) + "::jsonb";
  const std::string b = quoted(two) + "::jsonb";
  const std::string word = quoted(two) + "::text";
  for (const char* sign : {"||", "@>", "<@", "=", "<"}) values.evaluate(a + sign + b);
  for (const char* sign : {"->", "->>", "-", "?"}) values.evaluate(a + sign + word);
  for (const char* sign : {"#>", "#>>", "#-"}) values.evaluate(a + sign + quoted(two) + "::text[]");
  values.evaluate("jsonb_pretty(" + a + ")");
  values.evaluate("jsonb_strip_nulls(" + a + ")");
  values.evaluate("jsonb_set(" + a + ", array['a'], " + b + ")");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::read(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
