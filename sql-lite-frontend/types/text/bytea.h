#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace swizzle::sql {

/// Parses bytea's text form, "\x…" or with escapes. Throws 22P02, 22023.
std::string parse_bytea(std::string_view text);
/// Returns -1 for any other character.
int hex_digit(char c);
void append_hex(std::string& out, Bytes bytes);
/// Ignores blanks. Throws 22023.
std::string parse_hex(std::string_view text);
void append_bytea_escaped(std::string& out, Bytes bytes);

}  // namespace swizzle::sql
