#include "sql-lite-frontend/types/json/plain_json.h"

#include <simdjson.h>

namespace swizzle::sql {

bool is_plain_json(std::string_view text) {
  // It neither rests nor asks whether it is to go on; a byte is a nanosecond at most.
  constexpr std::size_t kLongest = 256 * 1024;
  if (text.size() > kLongest) return false;
  // Its memory is as much as the longest text took; nothing here parks.
  thread_local simdjson::dom::parser parser;
  return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

}  // namespace swizzle::sql
