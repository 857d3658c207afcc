#pragma once

#include <string>
#include <string_view>

namespace swizzle::server {

/// Appends `text` as a JSON string. Pre: UTF-8.
void append_json_text(std::string& out, std::string_view text);

}  // namespace swizzle::server
