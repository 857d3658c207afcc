#include "sql-lite-frontend/types/json/json_containment.h"

#include <cstring>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json_parts.h"

namespace swizzle::sql {
namespace {

/// So much of a part is compared with each element of the whole.
constexpr std::size_t kMostPartBytes = 256;
constexpr int kMostDepth = 4;

/// Behind the string that begins at `at`.
const char* behind_string(const char* at, const char* end) noexcept {
  for (++at;;) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return end;
    int backslashes = 0;
    for (const char* before = at - 1; *before == '\\'; --before) ++backslashes;
    ++at;
    if (backslashes % 2 == 0) return at;
    if (at >= end) return end;
  }
}

/// Behind the value that begins at `at`.
const char* behind_value(const char* at, const char* end) noexcept {
  if (*at == '"') return behind_string(at, end);
  if (*at != '{' && *at != '[') {
    while (at < end && *at != ',' && *at != ']' && *at != '}') ++at;
    return at;
  }
  int depth = 0;
  while (at < end) {
    const char c = *at;
    if (c == '"') {
      at = behind_string(at, end);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) break;
  }
  return at;
}

/// The members or elements of a value in jsonb's spelling, which has blanks only behind commas and
/// colons.
class Parts {
 public:
  explicit Parts(std::string_view json) noexcept
      : at_(json.data() + 1), end_(json.data() + json.size() - 1), is_object_(json[0] == '{') {}

  bool next() noexcept {
    if (at_ >= end_) return false;
    if (is_object_) {
      const char* const begin = at_;
      at_ = behind_string(at_, end_);
      key_ = {begin, static_cast<std::size_t>(at_ - begin)};
      at_ += 2;
    }
    const char* const begin = at_;
    at_ = behind_value(at_, end_);
    value_ = {begin, static_cast<std::size_t>(at_ - begin)};
    at_ += 2;
    return true;
  }
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] std::string_view value() const noexcept { return value_; }

 private:
  const char* at_;
  const char* end_;
  bool is_object_;
  std::string_view key_;
  std::string_view value_;
};

bool is_scalar(std::string_view json) noexcept {
  return json[0] != '{' && json[0] != '[';
}
bool is_number(std::string_view json) noexcept {
  return json[0] == '-' || (json[0] >= '0' && json[0] <= '9');
}
std::string_view without_zeros(std::string_view number) noexcept {
  if (number.find('.') == std::string_view::npos) return number;
  number = number.substr(0, number.find_last_not_of('0') + 1);
  return number.ends_with('.') ? number.substr(0, number.size() - 1) : number;
}
bool same_scalar(std::string_view left, std::string_view right) noexcept {
  if (left == right) return true;
  return is_number(left) && is_number(right) && without_zeros(left) == without_zeros(right);
}

bool contains(std::string_view whole, std::string_view part, bool is_top);

bool array_contains(std::string_view whole, std::string_view part) {
  for (Parts wanted{part}; wanted.next();) {
    count_work(whole.size());
    bool found = false;
    for (Parts has{whole}; !found && has.next();) {
      found =
          is_scalar(wanted.value())
              ? is_scalar(has.value()) && same_scalar(has.value(), wanted.value())
              : has.value()[0] == wanted.value()[0] && contains(has.value(), wanted.value(), false);
    }
    if (!found) return false;
  }
  return true;
}

/// Keys stand by their lengths, then by their bytes, in both.
bool object_contains(std::string_view whole, std::string_view part) {
  Parts has{whole};
  for (Parts wanted{part}; wanted.next();) {
    for (;;) {
      if (!has.next()) return false;
      if (has.key() == wanted.key()) break;
    }
    if (is_scalar(wanted.value()) || is_scalar(has.value())) {
      if (!is_scalar(wanted.value()) || !is_scalar(has.value()) ||
          !same_scalar(has.value(), wanted.value())) {
        return false;
      }
    } else if (has.value()[0] != wanted.value()[0] ||
               !contains(has.value(), wanted.value(), false)) {
      return false;
    }
  }
  return true;
}

bool contains(std::string_view whole, std::string_view part, bool is_top) {
  check_stack();
  count_work(whole.size());
  if (is_scalar(part)) {
    if (is_scalar(whole)) return same_scalar(whole, part);
    if (whole[0] != '[' || !is_top) return false;
    for (Parts has{whole}; has.next();) {
      if (is_scalar(has.value()) && same_scalar(has.value(), part)) return true;
    }
    return false;
  }
  if (whole[0] != part[0]) return false;
  return part[0] == '{' ? object_contains(whole, part) : array_contains(whole, part);
}

/// Few, and nothing escaped.
bool is_simple(std::string_view part) noexcept {
  if (part.empty() || part.size() > kMostPartBytes) return false;
  int depth = 0;
  for (const char c : part) {
    if (c == '\\') return false;
    if ((c == '{' || c == '[') && ++depth > kMostDepth) return false;
    if (c == '}' || c == ']') --depth;
  }
  return true;
}

}  // namespace

std::optional<bool> contains_few(std::string_view whole, std::string_view part) {
  if (whole.empty() || !is_simple(part)) return std::nullopt;
  return contains(whole, part, true);
}

}  // namespace swizzle::sql
