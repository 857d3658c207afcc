#include <fmt/format.h>

#include <optional>

#include "base/settings/settings.h"

namespace swizzle {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

// Parser of one line.
class LineParser {
 public:
  explicit LineParser(std::string_view line) noexcept : rest_(line) { skip_space(); }

  [[nodiscard]] bool at_end() const noexcept { return rest_.empty() || rest_.front() == '#'; }
  // Returns the text at the current position, for the message.
  [[nodiscard]] std::string_view near() const noexcept {
    return rest_.empty() ? "end of line" : rest_.substr(0, rest_.find_first_of(" \t\r"));
  }

  // Reads a name: letters, digits, _, $ and dots between the parts of an extension's name.
  std::optional<std::string> name() {
    std::string result;
    while (!rest_.empty() && (is_letter(rest_.front()) || (!result.empty() && may_follow()))) {
      const char c = take();
      result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (result.empty() || result.back() == '.') return std::nullopt;
    skip_space();
    return result;
  }

  void equals_sign() noexcept {
    if (rest_.starts_with('=')) take();
    skip_space();
  }

  std::optional<std::string> value() {
    auto result = rest_.starts_with('\'') ? quoted() : bare();
    skip_space();
    return result;
  }

 private:
  [[nodiscard]] bool may_follow() const noexcept {
    const char c = rest_.front();
    return is_digit(c) || c == '$' || c == '.';
  }

  char take() noexcept {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void skip_space() noexcept {
    while (!rest_.empty() && is_space(rest_.front())) take();
  }

  std::optional<std::string> bare() {
    std::string result;
    constexpr std::string_view kMarks = "-+._:/";
    while (!rest_.empty() && (is_letter(rest_.front()) || is_digit(rest_.front()) ||
                              kMarks.find(rest_.front()) != std::string_view::npos)) {
      result += take();
    }
    if (result.empty()) return std::nullopt;
    return result;
  }

  std::optional<std::string> quoted() {
    std::string result;
    take();
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        result += unescaped();
      } else if (c != '\'') {
        result += c;
      } else if (rest_.starts_with('\'')) {
        result += take();
      } else {
        return result;
      }
    }
    return std::nullopt;
  }

  char unescaped() noexcept {
    const char c = take();
    switch (c) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      default:
        break;
    }
    if (c < '0' || c > '7') return c;
    int code = c - '0';
    for (int digits = 1; digits < 3 && !rest_.empty(); ++digits) {
      if (rest_.front() < '0' || rest_.front() > '7') break;
      code = code * 8 + (take() - '0');
    }
    return static_cast<char>(code);
  }

  std::string_view rest_;
};

}  // namespace

Result<std::vector<SettingAssignment>> parse_settings_file(std::string_view text,
                                                           std::string_view file_name) {
  std::vector<SettingAssignment> assignments;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    LineParser line{text.substr(0, end)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.at_end()) continue;
    auto name = line.name();
    if (name) line.equals_sign();
    auto value = name ? line.value() : std::nullopt;
    if (!value || !line.at_end()) {
      return fail(sqlstate::config_file_error,
                  fmt::format("syntax error in file \"{}\" line {}, near token \"{}\"", file_name,
                              number, line.near()));
    }
    assignments.push_back({std::move(*name), std::move(*value),
                           fmt::format("file \"{}\" line {}", file_name, number)});
  }
  return assignments;
}

}  // namespace swizzle
