#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace swizzle::server {

/// One line of a settings file, or one -c option.
struct Assignment {
  std::string name;
  std::string value;
  /// "swizzle.conf, line 3" or "command line".
  std::string origin;
};

/// PostgreSQL's format: `name = value` or `name value`, values in single quotes where they need
/// them ('' and \' stand for a quote), # begins a comment. F0000 with the line.
Result<std::vector<Assignment>> parse_config(std::string_view text, std::string_view file_name);

/// A value as it must be written into the file.
[[nodiscard]] std::string quote_config_value(std::string_view value);

/// The whole of a small file. 58P01 or 58030.
Result<std::string> read_text_file(const std::string& path);
/// Replaces the file, durably, with mode 0600.
Result<> write_text_file(const std::string& path, std::string_view text);

}  // namespace swizzle::server
