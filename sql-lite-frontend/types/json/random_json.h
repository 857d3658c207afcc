#pragma once

#include <random>
#include <string>

#include "sql-lite-frontend/types/json/jsonb_directory.h"

/// Test helpers for json and jsonb.
namespace swizzle::sql {

/// Sets other directory rules for a scope.
class DirectoriesBy {
 public:
  explicit DirectoriesBy(const JsonbDirectoryRules& rules) { set_jsonb_directory_rules(rules); }
  DirectoriesBy(const DirectoriesBy&) = delete;
  DirectoriesBy& operator=(const DirectoriesBy&) = delete;
  ~DirectoriesBy() { set_jsonb_directory_rules({}); }
};
/// Rules under which every part but the first gets an entry.
inline constexpr JsonbDirectoryRules kEveryPart{.least_bytes = 1, .stride = 1};

inline std::string random_json(std::mt19937& random, int depth) {
  constexpr const char* kScalars[] = {
      "1",      "-2.50",     "null",    "true",
      R"("a")", R"("q\"}")", R"("\\")", R"("a longer text, with [brackets] and {braces} in it")"};
  constexpr const char* kKeys[] = {"a",     "b",     "aa", "ab",   R"(q\")",
                                   R"(\\)", R"(\n)", "",   "name", "a long key of twenty"};
  const auto below = [&](std::size_t n) { return random() % n; };
  if (depth == 0 || below(3) == 0) return kScalars[below(std::size(kScalars))];
  const bool is_object = below(2) == 0;
  std::string out = is_object ? "{" : "[";
  for (std::size_t i = below(6); i > 0; --i) {
    if (out.size() > 1) out += ",";
    if (is_object) out += std::string{"\""} + kKeys[below(std::size(kKeys))] + "\":";
    out += random_json(random, depth - 1);
  }
  return out + (is_object ? "}" : "]");
}

}  // namespace swizzle::sql
