#include "sql-lite-frontend/types/json/json_value.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"

namespace swizzle::sql {
namespace {

void print(const JsonValue& value, std::string& out) {
  check_stack();
  switch (value.kind) {
    case JsonKind::string:
      return append_json_string(value.text, out);
    case JsonKind::array: {
      out += '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ", ";
        print(value.items[i], out);
      }
      out += ']';
      return;
    }
    case JsonKind::object: {
      out += '{';
      for (std::size_t i = 0; i < value.members.size(); ++i) {
        if (i > 0) out += ", ";
        append_json_string(value.members[i].first, out);
        out += ": ";
        print(value.members[i].second, out);
      }
      out += '}';
      return;
    }
    case JsonKind::null:
    case JsonKind::boolean:
    case JsonKind::number:
      out += value.text;
      return;
  }
}

/// Parser of valid JSON text: builds the tree in one pass.
class Taker {
 public:
  Taker(std::string_view text, MemoryAccount* account) : text_{text}, account_{account} {}

  JsonValue value() {
    check_stack();
    yield_point(kWorkOfValue);
    JsonValue taken;
    count_in(taken.items, account_);
    count_in(taken.members, account_);
    taken.kind = json_kind(rest());
    pass_blanks();
    const std::size_t begin = at_;
    switch (taken.kind) {
      case JsonKind::object:
        while (comes_another('}')) {
          std::string name = json_string_value(string());
          pass_blanks();
          ++at_;  // the colon
          taken.members.emplace_back(std::move(name), value());
        }
        break;
      case JsonKind::array:
        while (comes_another(']')) taken.items.push_back(value());
        break;
      case JsonKind::string:
        taken.text = json_string_value(string());
        break;
      case JsonKind::number:
      case JsonKind::boolean:
      case JsonKind::null:
        at_ = std::min(text_.find_first_of(",]} \t\n\r", at_), text_.size());
        taken.text = text_.substr(begin, at_ - begin);
        break;
    }
    taken.raw = text_.substr(begin, at_ - begin);
    return taken;
  }

 private:
  static constexpr std::size_t kWorkOfValue = 100;

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void pass_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  /// Pre: at an opening bracket, a comma or the closing bracket. Steps over it; returns true if
  /// another part follows, false after `end`.
  bool comes_another(char end) {
    pass_blanks();
    if (at_ == text_.size()) return false;
    const bool opens = text_[at_] == '{' || text_[at_] == '[';
    const bool is_over = text_[at_] == end;
    ++at_;
    pass_blanks();
    if (opens && at_ < text_.size() && text_[at_] == end) {
      ++at_;
      return false;
    }
    return !is_over;
  }

  std::string_view string() {
    const std::size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  MemoryAccount* account_;
  std::size_t at_ = 0;
};

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::JsonValue(const JsonValue& other) : kind(other.kind), raw(other.raw), text(other.text) {
  check_stack();
  items = other.items;
  members = other.members;
}
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) {
  return *this = JsonValue{other};
}
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;

/// Destroys the tree without recursion, however deep it is: inner containers are moved to a list
/// first.
JsonValue::~JsonValue() {
  std::vector<JsonValue> inner;
  const auto take_from = [&](JsonValue& value) {
    const auto take = [&](JsonValue& part) {
      if (!part.items.empty() || !part.members.empty()) inner.push_back(std::move(part));
    };
    std::ranges::for_each(value.items, take);
    std::ranges::for_each(value.members, take, &std::pair<std::string, JsonValue>::second);
  };
  take_from(*this);
  while (!inner.empty()) {
    JsonValue last = std::move(inner.back());
    inner.pop_back();
    take_from(last);
  }
}

const JsonValue* JsonValue::member(std::string_view name) const {
  for (auto at = members.rbegin(); at != members.rend(); ++at) {
    if (at->first == name) return &at->second;
  }
  return nullptr;
}

const JsonValue* JsonValue::item(std::int64_t index) const {
  const auto size = static_cast<std::int64_t>(items.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &items[static_cast<std::size_t>(index)] : nullptr;
}

JsonValue take_json_apart(std::string_view text, MemoryAccount* account) {
  return Taker{text, account}.value();
}

std::string print_json(const JsonValue& value) {
  std::string out;
  print(value, out);
  return out;
}

}  // namespace swizzle::sql
