// Fuzz target of jsonpath: the first line is a path, the rest a document.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void run(std::string_view text) {
  if (!is_text(text)) return;
  const auto [one, two] = split_lines(text);
  Values values;
  const std::string path = quoted(one) + "::jsonpath";
  const std::string document = quoted(two) + "::jsonb";
  for (const char* sign : {"@?", "@@"}) values.evaluate(document + sign + path);
  for (const char* silent : {"true", "false"}) {
    const std::string rest = ", '{\"x\": [1, \"a\", null]}'::jsonb, " + quoted(silent) + "::bool)";
    for (const char* function : {"jsonb_path_query_array", "jsonb_path_exists", "jsonb_path_match",
                                 "jsonb_path_query_first", "jsonb_path_query_array_tz"}) {
      values.evaluate(std::string{function} + "(" + document + ", " + path + rest);
    }
  }
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::run(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
