#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Lists of stop words: words that do not indicate a text's subject. Those of PostgreSQL's
/// configurations are built in; others are read from files that the server is given.
namespace swizzle::sql {

class StopWords {
 public:
  explicit StopWords(std::vector<std::string> words);
  [[nodiscard]] bool contains(std::string_view word) const;

 private:
  std::vector<std::string> words_;  ///< ascending
};
using StopWordsPtr = std::shared_ptr<const StopWords>;

/// Returns null if there is no list of that name.
StopWordsPtr stop_words(std::string_view name);

/// Adds a list in the format of PostgreSQL's files: one word per line. Replaces one of that name.
/// Must be called at start-up, before the first use. 22021 if it is not UTF-8.
Result<> add_stop_words(const std::string& name, std::string_view text);

}  // namespace swizzle::sql
