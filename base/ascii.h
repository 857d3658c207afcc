#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace swizzle {

/// Returns ASCII letters in lower case, other bytes unchanged: the form in which names of settings
/// and units are compared.
inline std::string lower_case(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

}  // namespace swizzle
