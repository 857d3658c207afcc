#pragma once

#include <string>
#include <string_view>

/// The text of "char", which is one byte.
namespace swizzle::sql {

/// Returns the byte given by a backslash and three octal digits, or the text's first byte.
unsigned char char_of_text(std::string_view text) noexcept;
/// Appends the byte; as octal digits if it is not ASCII.
void append_char(unsigned char byte, std::string& out);

}  // namespace swizzle::sql
