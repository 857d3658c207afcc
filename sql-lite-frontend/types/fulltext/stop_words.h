#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Lists of words that do not indicate a text's subject. English's comes with the server, others
/// from files that it is given.
namespace swizzle::sql {

class StopWords {
 public:
  explicit StopWords(std::vector<std::string> words);
  [[nodiscard]] bool contains(std::string_view word) const;

 private:
  std::vector<std::string> words_;  ///< ascending
};
using StopWordsPtr = std::shared_ptr<const StopWords>;

/// Null: there is no list of that name.
StopWordsPtr stop_words(std::string_view name);

/// Adds a list in the format of PostgreSQL's files: a word a line. English's is not replaced. Call
/// at start-up, before the first use. 22021 if it is not UTF-8.
Result<> add_stop_words(const std::string& name, std::string_view text);

}  // namespace swizzle::sql
