#include "server/observability/json_text.h"

#include <fmt/format.h>

#include <iterator>

namespace swizzle::server {

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    switch (letter) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(letter) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(letter));
        } else {
          out += letter;
        }
    }
  }
  out += '"';
}

}  // namespace swizzle::server
