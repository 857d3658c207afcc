#include "sql-lite-frontend/types/json/plain_json.h"

#include <simdjson.h>

namespace swizzle::sql {

bool is_plain_json(std::string_view text) {
  // Nothing in here yields or checks for cancel, which limits the length: a byte takes at most a
  // nanosecond.
  constexpr std::size_t kLongest = 256 * 1024;
  if (text.size() > kLongest) return false;
  // The parser keeps memory for the longest text of the thread. Thread-local is safe, since nothing
  // here parks.
  thread_local simdjson::dom::parser parser;
  return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

}  // namespace swizzle::sql
