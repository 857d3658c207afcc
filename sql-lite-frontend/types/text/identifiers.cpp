#include "sql-lite-frontend/types/text/identifiers.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

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
  constexpr TypeId kBit{1560};
  if (typmod != kNoTypmod) return format_type(type, typmod);
  // Without a length, "character" and "bit" mean length 1.
  const TypeId element = is_array(type) ? element_type(type) : type;
  if (element != TypeId::bpchar && element != kBit) return format_type(type);
  const std::string_view name = element == kBit ? "\"bit\"" : "bpchar";
  return fmt::format("{}{}", name, is_array(type) ? "[]" : "");
}

std::string stored_cast_target(TypeId type, std::int32_t typmod) {
  if (!is_user_type(type)) return cast_target(type, typmod);
  return fmt::format("\"#{}\"{}", raw(without_array(type)), is_user_array(type) ? "[]" : "");
}

namespace {

/// Returns 0 if the name holds no such number.
std::uint32_t stored_number(std::string_view name, std::string_view mark = "#") {
  if (!name.starts_with(mark)) return 0;
  std::uint32_t number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + mark.size(), last, number);
  return error == std::errc{} && end == last ? number : 0;
}

}  // namespace

TypeId type_of_stored_name(std::string_view name) {
  const TypeId type{stored_number(name)};
  return is_user_type(type) && !is_user_array(type) ? type : TypeId::none;
}

std::string stored_routine_name(std::uint32_t oid) {
  return fmt::format("\"#{}\"", oid);
}

std::string stored_operator_name(std::uint32_t oid) {
  return fmt::format("\"#o{}\"", oid);
}
std::string stored_cast_name(std::uint32_t function) {
  return fmt::format("\"#c{}\"", function);
}
std::string stored_collation_name(std::uint32_t oid) {
  return fmt::format("\"#l{}\"", oid);
}
std::uint32_t collation_of_stored_name(std::string_view name) {
  return stored_number(name, "#l");
}
std::uint32_t operator_of_stored_name(std::string_view name) {
  return stored_number(name, "#o");
}
std::uint32_t cast_of_stored_name(std::string_view name) {
  return stored_number(name, "#c");
}

std::uint32_t routine_of_stored_name(std::string_view name) {
  return stored_number(name);
}

}  // namespace swizzle::sql
