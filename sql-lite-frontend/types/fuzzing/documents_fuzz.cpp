// Fuzz target of text search: the first line is a query, the rest a document.

#include "sql-lite-frontend/types/fuzzing/values.h"

namespace swizzle::sql::fuzzing {
namespace {

void search(std::string_view text) {
  if (!is_text(text)) return;
  const auto [one, two] = split_lines(text);
  Values values;
  const std::string document = quoted(two) + "::text";
  for (const char* config : {"simple", "english"}) {
    const std::string by = quoted(config) + "::regconfig, ";
    const std::string vector = "to_tsvector(" + by + document + ")";
    values.evaluate("strip(" + vector + ")");
    for (const char* reader :
         {"to_tsquery", "plainto_tsquery", "phraseto_tsquery", "websearch_to_tsquery"}) {
      const std::string query = std::string{reader} + "(" + by + quoted(one) + "::text)";
      values.evaluate(vector + "@@" + query);
      values.evaluate("ts_rank(" + vector + ", " + query + ")");
      values.evaluate("ts_rank_cd(" + vector + ", " + query + ")");
      values.evaluate("ts_headline(" + by + document + ", " + query + ")");
      values.evaluate("ts_rewrite(" + query + ", " + query + ", " + quoted(one) + "::tsquery)");
    }
  }
  values.evaluate(quoted(two) + "::tsvector@@" + quoted(one) + "::tsquery");
  values.evaluate(quoted(one) + "::tsquery@>" + quoted(two) + "::tsquery");
}

}  // namespace
}  // namespace swizzle::sql::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swizzle::sql::fuzzing::search(swizzle::fuzzing::as_text_of(data, size));
  return 0;
}
