#include "sql-lite-frontend/execute/identifiers.h"

#include <cctype>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
std::vector<std::string> split_identifier(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  const auto malformed = [] { return SqlError{sqlstate::invalid_name, "invalid name syntax"}; };
  const auto skip_blanks = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  };
  for (;;) {
    skip_blanks();
    std::string part;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) throw malformed();
        if (text[at] == '"') {
          if (at + 1 < text.size() && text[at + 1] == '"') {
            ++at;
          } else {
            ++at;
            break;
          }
        }
        part += text[at];
      }
    } else {
      while (at < text.size() && text[at] != '.' &&
             !std::isspace(static_cast<unsigned char>(text[at]))) {
        part += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at++])));
      }
    }
    if (part.empty()) throw malformed();
    parts.push_back(std::move(part));
    skip_blanks();
    if (at == text.size()) return parts;
    if (text[at++] != '.') throw malformed();
  }
}

std::string cast_target(TypeId type, std::int32_t typmod) {
  if (typmod != kNoTypmod) return format_type(type, typmod);
  if (type == TypeId::bpchar) return "bpchar";
  return element_type(type) == TypeId::bpchar ? "bpchar[]" : format_type(type);
}

}  // namespace swizzle::sql
