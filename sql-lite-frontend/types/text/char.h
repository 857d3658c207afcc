#pragma once

#include <string>
#include <string_view>

/// The text of "char", which is one byte.
namespace swizzle::sql {

/// The byte that three octal digits behind a backslash say, or the text's first.
unsigned char char_of_text(std::string_view text) noexcept;
/// The byte, or its octal digits where it is not of ASCII.
void append_char(unsigned char byte, std::string& out);

}  // namespace swizzle::sql
