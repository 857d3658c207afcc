#include "sql-lite-frontend/types/json_value.h"

#include <algorithm>

#include "sql-lite-frontend/types/json.h"
#include "sql-lite-frontend/types/json_parts.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr int kMaxDepth = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue whole() {
    JsonValue value = read(0);
    skip_blanks();
    if (at_ != text_.size()) malformed();
    return value;
  }

 private:
  [[noreturn]] static void malformed() {
    throw SqlError{sqlstate::data_corrupted, "a stored JSON value is malformed"};
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  char peek() {
    skip_blanks();
    if (at_ == text_.size()) malformed();
    return text_[at_];
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  JsonValue read(int depth) {
    if (depth > kMaxDepth) malformed();
    JsonValue value;
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '{') {
      read_object(value, depth);
    } else if (first == '[') {
      read_array(value, depth);
    } else if (first == '"') {
      value.kind = JsonValue::Kind::string;
      value.text = read_string();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      value.text = text_.substr(begin, at_ - begin);
      if (value.text.empty()) malformed();
      value.kind = first == 'n'                   ? JsonValue::Kind::null
                   : first == 't' || first == 'f' ? JsonValue::Kind::boolean
                                                  : JsonValue::Kind::number;
    }
    value.raw = text_.substr(begin, at_ - begin);
    return value;
  }

  void read_object(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::object;
    ++at_;
    if (take('}')) return;
    do {
      if (peek() != '"') malformed();
      std::string key = read_string();
      if (!take(':')) malformed();
      value.members.emplace_back(std::move(key), read(depth + 1));
    } while (take(','));
    if (!take('}')) malformed();
  }

  void read_array(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::array;
    ++at_;
    if (take(']')) return;
    do {
      value.items.push_back(read(depth + 1));
    } while (take(','));
    if (!take(']')) malformed();
  }

  std::string read_string() {
    const std::size_t begin = at_++;
    bool escaped = false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        escaped = true;
        ++at_;
      }
      ++at_;
    }
    if (at_ >= text_.size()) malformed();
    ++at_;
    const std::string_view quoted = text_.substr(begin, at_ - begin);
    if (!escaped) return std::string{quoted.substr(1, quoted.size() - 2)};
    return json_string_value(quoted);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void print(const JsonValue& value, std::string& out) {
  switch (value.kind) {
    case JsonValue::Kind::string:
      return append_json_string(value.text, out);
    case JsonValue::Kind::array: {
      out += '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ", ";
        print(value.items[i], out);
      }
      out += ']';
      return;
    }
    case JsonValue::Kind::object: {
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
    case JsonValue::Kind::null:
    case JsonValue::Kind::boolean:
    case JsonValue::Kind::number:
      out += value.text;
      return;
  }
}

}  // namespace

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

JsonValue take_json_apart(std::string_view text) {
  return Parser{text}.whole();
}

std::string print_json(const JsonValue& value) {
  std::string out;
  print(value, out);
  return out;
}

}  // namespace swizzle::sql
