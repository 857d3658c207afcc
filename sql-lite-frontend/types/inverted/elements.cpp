#include "sql-lite-frontend/types/inverted/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/inverted/json_events.h"
#include "sql-lite-frontend/types/inverted/stored_hash.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/text/trigrams.h"

namespace swizzle::sql {
namespace {

// The first byte of an element; kEmptyMarker is another.
constexpr char kWhole = 0x02;
constexpr char kHashed = 0x03;

/// Longer texts are represented by their beginning and a hash of the whole.
constexpr std::size_t kMostTextBytes = 240;
constexpr std::size_t kWorkOfElement = 200;

/// Elements on their way into a list.
class Taken {
 public:
  explicit Taken(Arena& arena)
      : arena_(arena), list_(CountedAllocator<std::string_view>{arena.account()}) {}
  void add(std::string_view element) {
    yield_point(kWorkOfElement);
    list_.push_back(arena_.copy(element));
  }
  /// Each once, ascending.
  ElementList list() && {
    std::ranges::sort(list_);
    list_.erase(std::ranges::unique(list_).begin(), list_.end());
    return std::move(list_);
  }

 private:
  Arena& arena_;
  ElementList list_;
};

std::string hashed_element(std::uint64_t hash) {
  std::string key(1, kHashed);
  std::byte bytes[sizeof hash];
  store_big_endian(bytes, hash);
  return key += as_text(Bytes{bytes, sizeof bytes});
}

/// Returns a length of at most `most` that cuts no character in two.
std::size_t cut_at(std::string_view text, std::size_t most) {
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80U) --most;
  return most;
}

std::string array_element(TypeId type, const Value& element) {
  std::string key(1, kWhole);
  append_key(key, {type, SortDirection::ascending, NullsOrder::absent}, element);
  return key.size() <= kMostElementBytes ? key : hashed_element(stored_hash(key, 0));
}

void take_array(const Value& value, Taken& taken) {
  const ArrayView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    if (!element.is_null()) taken.add(array_element(view.element_type(), element));
  }
  if (view.size() == 0) taken.add(kEmptyMarker);
}

std::string scalar_element(const JsonEvent& scalar) {
  if (json_kind(scalar.raw) != JsonKind::string) {
    return text_element(kJsonOtherTag, plain_json_number(scalar.raw));
  }
  return text_element(scalar.in_object ? kJsonStringTag : kJsonKeyTag, json_text_of(scalar.raw));
}

void take_jsonb(std::string_view json, Taken& taken) {
  JsonEvents events{json};
  while (const auto event = events.next()) {
    if (event->kind == JsonEvent::Kind::key) {
      taken.add(text_element(kJsonKeyTag, json_text_of(event->raw)));
    } else if (event->kind == JsonEvent::Kind::scalar) {
      taken.add(scalar_element(*event));
    }
  }
}

// Of paths: the value on top, a member's, and a scalar at the end.
constexpr std::uint64_t kTop = 1;
std::uint64_t hash_of_member(std::string_view key, std::uint64_t path) {
  return stored_hash(key, stored_hash("k", path));
}
std::uint64_t hash_of_text(std::string_view text, std::uint64_t path) {
  return stored_hash(text, stored_hash("s", path));
}
std::uint64_t hash_of_other(std::string_view raw, std::uint64_t path) {
  return stored_hash(plain_json_number(raw), stored_hash("o", path));
}
std::uint64_t hash_of_scalar(std::string_view raw, std::uint64_t path) {
  return json_kind(raw) == JsonKind::string ? hash_of_text(json_text_of(raw), path)
                                            : hash_of_other(raw, path);
}

void take_jsonb_paths(std::string_view json, Taken& taken) {
  std::vector<std::uint64_t> open;
  std::uint64_t path = kTop;  // of the value that comes next
  JsonEvents events{json};
  while (const auto event = events.next()) {
    switch (event->kind) {
      case JsonEvent::Kind::begin:
        open.push_back(path);
        break;
      case JsonEvent::Kind::key:
        path = hash_of_member(json_text_of(event->raw), open.back());
        break;
      case JsonEvent::Kind::scalar:
        taken.add(hashed_element(hash_of_scalar(event->raw, path)));
        break;
      case JsonEvent::Kind::end:
        open.pop_back();
        if (!open.empty()) path = open.back();
        break;
    }
  }
}

void take_words(const Value& vector, Taken& taken) {
  const TextVectorView view{vector};
  for (std::size_t i = 0; i < view.size(); ++i) taken.add(text_element(kNoTag, view.word(i)));
}

void take_trigrams(std::string_view text, Taken& taken) {
  for (const Trigram& one : each_once(trigrams_of(text).list)) {
    taken.add(text_element(kNoTag, {one.data(), one.size()}));
  }
}

void take_pairs(const Value& value, Taken& taken) {
  const HstoreView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const HstorePair pair = view.pair(i);
    taken.add(text_element(kPairKeyTag, pair.key));
    if (pair.value) {
      // Two pairs may look alike here: rows are asked themselves.
      taken.add(text_element(kPairValueTag, fmt::format("{}={}", pair.key, *pair.value)));
    } else {
      taken.add(text_element(kPairNullTag, pair.key));
    }
  }
}

}  // namespace

std::string text_element(char tag, std::string_view text) {
  std::string key(1, kWhole);
  if (tag != kNoTag) key.push_back(tag);
  if (text.size() <= kMostTextBytes) {
    key += text;
  } else {
    key += text.substr(0, cut_at(text, kMostTextBytes));
    // In letters: the text must not have a zero byte before its end.
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::uint64_t rest = stored_hash(text, 0), i = 0; i < 16; ++i, rest >>= 4U) {
      key.push_back(kDigits[rest & 15U]);
    }
  }
  key.push_back('\0');
  return key;
}

std::string text_prefix(char tag, std::string_view beginning) {
  std::string key(1, kWhole);
  if (tag != kNoTag) key.push_back(tag);
  if (beginning.size() > kMostTextBytes) {
    beginning = beginning.substr(0, cut_at(beginning, kMostTextBytes));
  }
  return key += beginning;
}

std::string jsonb_path_element(std::span<const std::string_view> keys, std::string_view scalar,
                               ScalarKind kind) {
  std::uint64_t path = kTop;
  for (const std::string_view key : keys) path = hash_of_member(key, path);
  return hashed_element(kind == ScalarKind::text ? hash_of_text(scalar, path)
                                                 : hash_of_other(scalar, path));
}

std::string_view plain_json_number(std::string_view number) noexcept {
  if (number.find('.') == std::string_view::npos) return number;
  number = number.substr(0, number.find_last_not_of('0') + 1);
  return number.ends_with('.') ? number.substr(0, number.size() - 1) : number;
}

ElementList elements_of(ElementClass id, const Value& value, Arena& arena) {
  Taken taken{arena};
  switch (id) {
    case ElementClass::array:
      take_array(value, taken);
      break;
    case ElementClass::jsonb:
      take_jsonb(json_text(value), taken);
      break;
    case ElementClass::jsonb_path:
      take_jsonb_paths(json_text(value), taken);
      break;
    case ElementClass::words:
      take_words(value, taken);
      break;
    case ElementClass::trigrams:
      take_trigrams(value.as_text(), taken);
      break;
    case ElementClass::pairs:
      take_pairs(value, taken);
      break;
  }
  return std::move(taken).list();
}

}  // namespace swizzle::sql
