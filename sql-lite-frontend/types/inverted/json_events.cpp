#include "sql-lite-frontend/types/inverted/json_events.h"

#include <algorithm>

#include "base/runtime/long_work.h"

namespace swizzle::sql {

/// Takes a string with its quotes, a number or a keyword.
std::string_view JsonEvents::take_token() {
  const std::size_t begin = at_;
  if (json_[at_] == '"') {
    for (++at_; at_ < json_.size() && json_[at_] != '"'; ++at_) {
      if (json_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, json_.size());
  } else {
    at_ = std::min(json_.find_first_of(",:]} \t\n\r", at_), json_.size());
  }
  yield_point(at_ - begin);
  return json_.substr(begin, at_ - begin);
}

std::optional<JsonEvent> JsonEvents::next() {
  using EventKind = JsonEvent::Kind;
  while (at_ < json_.size()) {
    const char letter = json_[at_];
    switch (letter) {
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        ++at_;
        continue;
      case ':':
        ++at_;
        awaits_key_ = false;
        continue;
      case ',':
        ++at_;
        awaits_key_ = !open_.empty() && open_.back() == '{';
        continue;
      case '{':
      case '[':
        open_.push_back(letter);
        awaits_key_ = letter == '{';
        ++at_;
        return JsonEvent{EventKind::begin, json_.substr(at_ - 1, 1), false};
      case '}':
      case ']':
        if (!open_.empty()) open_.pop_back();
        awaits_key_ = false;
        ++at_;
        return JsonEvent{EventKind::end, {}, false};
      default:
        break;
    }
    const bool in_object = !open_.empty() && open_.back() == '{';
    const EventKind kind = in_object && awaits_key_ ? EventKind::key : EventKind::scalar;
    return JsonEvent{kind, take_token(), in_object};
  }
  return std::nullopt;
}

std::string json_text_of(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) {
    return std::string{quoted.substr(1, quoted.size() - 2)};
  }
  return json_string_value(quoted);
}

}  // namespace swizzle::sql
