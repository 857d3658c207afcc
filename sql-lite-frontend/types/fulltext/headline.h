#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"

namespace swizzle::sql {

/// Options of ts_headline(), as "MaxWords=20, StartSel=<em>".
struct HeadlineOptions {
  std::string start = "<b>";
  std::string stop = "</b>";
  std::string delimiter = " ... ";
  int most_words = 35;
  int least_words = 15;
  int short_word = 3;
  int fragments = 0;
  bool all = false;
};
/// Throws SqlError 22023.
HeadlineOptions read_headline_options(std::string_view text);

/// Returns the excerpt of a text that best shows the words found by a query, with these words
/// marked.
std::string headline(const TextConfig& config, std::string_view text, const QueryTree& query,
                     const HeadlineOptions& options, MemoryAccount* account);

}  // namespace swizzle::sql
