#include "sql-lite-frontend/types/json/jsonb_directory.h"

#include <algorithm>
#include <limits>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kNarrow = sizeof(std::uint16_t);
constexpr std::uint32_t kWide = sizeof(std::uint32_t);
constexpr std::uint32_t kHeadNumbers = 3;
constexpr std::uint32_t kInnerNumbers = 3;
constexpr std::uint32_t kHeadBytes = sizeof(std::uint32_t);

JsonbDirectoryRules rules;

/// Longest text whose directory always fits two-byte numbers: at worst, when each level holds only
/// the next one, a directory is six times as long as its text.
constexpr std::size_t kMostNarrowBytes = 8192;
std::uint32_t width_for(std::size_t text_bytes) noexcept {
  return text_bytes <= kMostNarrowBytes ? kNarrow : kWide;
}
/// Sizes of a directory: how many numbers it has, and all bytes with the key heads.
struct DirectoryShape {
  std::size_t numbers = 0;
  std::size_t bytes = 0;
};
DirectoryShape shape_of(bool is_object, std::uint32_t width, std::size_t entries,
                        std::size_t inner) {
  const std::size_t numbers = kHeadNumbers + entries * (is_object ? 1 : 2) + inner * kInnerNumbers;
  return {numbers, 1 + numbers * width + (is_object ? entries * kHeadBytes : 0)};
}

[[noreturn]] void corrupt() {
  throw SqlError{SqlState{"XX001"}, "a jsonb value's directory is not of its text"};
}

/// Builds directories in two passes: scans the text once and collects the entries of all containers
/// that are long enough; then lays out their directories, each before its inner ones.
class DirectoryWriter {
 public:
  DirectoryWriter(std::string_view text, MemoryAccount* account)
      : text_(text),
        containers_{CountedAllocator<Container>{account}},
        entries_{CountedAllocator<Entry>{account}} {}

  std::string directory() && {
    read();
    if (containers_.empty()) return {};
    lay_out();
    std::string out(containers_.front().whole_bytes, '\0');
    write(reinterpret_cast<std::byte*>(out.data()));
    return out;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Container {
    std::uint32_t parent = kNone;
    std::uint32_t begin = 0;  ///< position in the text
    std::uint32_t bytes = 0;  ///< length in the text
    std::uint32_t count = 0;
    std::uint32_t entry_count = 0;
    std::uint32_t inner_count = 0;
    std::uint32_t last_entry = 1;  ///< place of the last entry; the first part needs none
    std::uint32_t own_bytes = 0;   ///< size of its directory without the inner ones
    std::uint32_t whole_bytes = 0;
    std::uint32_t at = 0;          ///< position of its directory in the whole
    std::uint32_t next_inner = 0;  ///< position of the next inner directory, from `at`
    std::uint32_t written = 0;     ///< entries written so far
    std::uint32_t written_inner = 0;
  };
  struct Entry {
    std::uint32_t of;
    std::uint32_t number;
    std::uint32_t place;
    std::uint32_t head;
  };
  /// A container whose end has not been reached.
  struct Open {
    std::uint32_t container;
    std::uint32_t first_entry;
  };

  void read() {
    const char* const end = text_.data() + text_.size();
    for (const char* at = text_.data(); at < end;) {
      const char* const begin = at;
      switch (*at) {
        case '}':
        case ']':
          close(++at);
          continue;
        case ',':
          at += 2;
          continue;
        case '{':
        case '[':
          meet_value(begin);
          open(at++);
          continue;
        case '"':
          at = behind_json_string(at, end);
          if (at < end && *at == ':') {
            meet_part(begin, at);
            at += 2;
            continue;
          }
          break;
        default:
          at = behind_json_value(at, end);
      }
      meet_value(begin);
    }
    yield_point(text_.size() / 4 + 1);
  }

  [[nodiscard]] std::uint32_t place_of(const char* at) const noexcept {
    return static_cast<std::uint32_t>(at - text_.data());
  }
  void open(const char* at) {
    Container made;
    made.begin = place_of(at);
    if (!open_.empty()) made.parent = open_.back().container;
    open_.push_back({static_cast<std::uint32_t>(containers_.size()),
                     static_cast<std::uint32_t>(entries_.size())});
    containers_.push_back(made);
  }
  void close(const char* behind) {
    const Open last = open_.back();
    open_.pop_back();
    Container& closed = containers_[last.container];
    closed.bytes = place_of(behind) - closed.begin;
    const bool says_something = closed.entry_count > 0 || closed.inner_count > 0;
    if (closed.bytes < rules.least_bytes || !says_something) {
      // Containers within a short one are shorter still: drop them too.
      containers_.resize(last.container);
      entries_.resize(last.first_entry);
    } else if (closed.parent != kNone) {
      ++containers_[closed.parent].inner_count;
    }
  }
  /// Pre: the value is an array's element or a member's value. A member's part began at its key.
  void meet_value(const char* begin) {
    if (!open_.empty() && !is_object(containers_[open_.back().container])) {
      meet_part(begin, nullptr);
    }
  }
  /// Notes a part. `key_end` is the end of a member's key, or null.
  void meet_part(const char* begin, const char* key_end) {
    const std::uint32_t of = open_.back().container;
    Container& container = containers_[of];
    const std::uint32_t number = container.count++;
    const std::uint32_t place = place_of(begin) - container.begin;
    if (place - container.last_entry < rules.stride) return;
    container.last_entry = place;
    ++container.entry_count;
    const std::uint32_t head = key_end == nullptr ? 0 : head_of_quoted({begin, key_end});
    entries_.push_back({of, number, place, head});
  }

  static std::uint32_t head_of_quoted(std::string_view quoted) {
    if (quoted.contains('\\')) return jsonb_key_head(json_string_value(quoted));
    return jsonb_key_head(quoted.substr(1, quoted.size() - 2));
  }
  [[nodiscard]] bool is_object(const Container& container) const noexcept {
    return text_[container.begin] == '{';
  }

  void lay_out() {
    for (Container& container : containers_) {
      container.own_bytes =
          static_cast<std::uint32_t>(shape_of(is_object(container), width_for(container.bytes),
                                              container.entry_count, container.inner_count)
                                         .bytes);
      container.whole_bytes = container.own_bytes;
      container.next_inner = container.own_bytes;
    }
    for (std::size_t i = containers_.size(); i-- > 1;) {
      containers_[containers_[i].parent].whole_bytes += containers_[i].whole_bytes;
    }
    for (std::size_t i = 1; i < containers_.size(); ++i) {
      Container& parent = containers_[containers_[i].parent];
      containers_[i].at = parent.at + parent.next_inner;
      parent.next_inner += containers_[i].whole_bytes;
    }
  }

  void write(std::byte* out) {
    for (Container& container : containers_) {
      out[container.at] = static_cast<std::byte>(width_for(container.bytes));
      put(out, container, 0, container.count);
      put(out, container, 1, container.entry_count);
      put(out, container, 2, container.inner_count);
      if (container.parent != kNone) write_inner(out, container);
    }
    for (const Entry& entry : entries_) {
      Container& of = containers_[entry.of];
      const std::uint32_t index = of.written++;
      put(out, of, kHeadNumbers + index, entry.place);
      if (is_object(of)) {
        std::byte* const heads = out + of.at + of.own_bytes - of.entry_count * kHeadBytes;
        store(heads + index * kHeadBytes, entry.head);
      } else {
        put(out, of, kHeadNumbers + of.entry_count + index, entry.number);
      }
    }
  }
  void write_inner(std::byte* out, const Container& container) {
    Container& parent = containers_[container.parent];
    const std::size_t behind = shape_of(is_object(parent), 0, parent.entry_count, 0).numbers;
    const std::size_t first = behind + kInnerNumbers * parent.written_inner++;
    put(out, parent, first, container.begin - parent.begin);
    put(out, parent, first + 1, container.at - parent.at);
    put(out, parent, first + 2, container.whole_bytes);
  }
  static void put(std::byte* out, const Container& of, std::size_t number, std::uint32_t value) {
    const std::uint32_t width = width_for(of.bytes);
    std::byte* const at = out + of.at + 1 + number * width;
    if (width == kNarrow) {
      store(at, static_cast<std::uint16_t>(value));
    } else {
      store(at, value);
    }
  }

  std::string_view text_;
  CountedVector<Container> containers_;  // each before its inner ones
  CountedVector<Entry> entries_;         // grouped by container, in text order
  std::vector<Open> open_;
};

}  // namespace

JsonbDirectory::JsonbDirectory(const Jsonb& whole) : whole_(whole) {
  const Bytes bytes = whole.directory;
  const char bracket = whole.text.empty() ? ' ' : whole.text[0];
  if (bracket != '{' && bracket != '[') corrupt();
  width_ = std::to_integer<std::uint32_t>(bytes[0]);
  is_object_ = bracket == '{';
  if ((width_ != kNarrow && width_ != kWide) || bytes.size() < 1 + kHeadNumbers * width_) corrupt();
  count_ = static_cast<std::uint32_t>(at(0));
  entry_count_ = static_cast<std::uint32_t>(at(1));
  inner_count_ = static_cast<std::uint32_t>(at(2));
  if (bytes.size() < shape_of(is_object_, width_, entry_count_, inner_count_).bytes) corrupt();
}

std::size_t JsonbDirectory::at(std::size_t number) const noexcept {
  const std::byte* const from = whole_.directory.data() + 1 + number * width_;
  return width_ == kNarrow ? load<std::uint16_t>(from) : load<std::uint32_t>(from);
}

std::size_t JsonbDirectory::place(std::uint32_t entry) const {
  const std::size_t place = at(kHeadNumbers + entry);
  if (place == 0 || place >= whole_.text.size()) corrupt();
  if (is_object_ && whole_.text[place] != '"') corrupt();
  return place;
}

std::string_view JsonbDirectory::key(std::uint32_t entry) const {
  const std::string_view from = whole_.text.substr(place(entry));
  const char* const behind = behind_json_string(from.data(), from.data() + from.size());
  return from.substr(0, static_cast<std::size_t>(behind - from.data()));
}

std::uint32_t JsonbDirectory::head(std::uint32_t entry) const noexcept {
  const std::size_t numbers = shape_of(true, width_, entry_count_, inner_count_).numbers;
  return load<std::uint32_t>(whole_.directory.data() + 1 + numbers * width_ +
                             std::size_t{entry} * kHeadBytes);
}

std::uint32_t JsonbDirectory::first_with_head(std::uint32_t wanted) const noexcept {
  std::uint32_t low = 0;
  for (std::uint32_t high = entry_count_; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (head(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void JsonbDirectory::prefetch(std::uint32_t first, std::uint32_t behind) const noexcept {
  for (std::uint32_t entry = first; entry < behind; ++entry) {
    __builtin_prefetch(whole_.text.data() + at(kHeadNumbers + entry));
  }
}

std::uint32_t JsonbDirectory::number(std::uint32_t entry) const noexcept {
  return static_cast<std::uint32_t>(at(std::size_t{kHeadNumbers} + entry_count_ + entry));
}

Jsonb JsonbDirectory::part(std::string_view value) const {
  const auto wanted = static_cast<std::size_t>(value.data() - whole_.text.data());
  const std::size_t first = shape_of(is_object_, 0, entry_count_, 0).numbers;
  std::uint32_t low = 0;
  for (std::uint32_t high = inner_count_; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (at(first + kInnerNumbers * middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const std::size_t found = first + kInnerNumbers * low;
  if (low == inner_count_ || at(found) != wanted) return {value};
  const std::size_t begin = at(found + 1);
  const std::size_t bytes = at(found + 2);
  const std::size_t all = whole_.directory.size();
  if (bytes == 0 || begin > all || bytes > all - begin) corrupt();
  return {value, whole_.directory.subspan(begin, bytes)};
}

std::uint32_t jsonb_key_head(std::string_view key) noexcept {
  constexpr std::size_t kLongest = 255;
  std::uint32_t head = static_cast<std::uint32_t>(std::min(key.size(), kLongest));
  // Keys of 255 bytes and more share one length byte. Their letters stay out of the head, since the
  // order of keys of different lengths does not depend on them.
  const std::size_t letters = key.size() < kLongest ? 3 : 0;
  for (std::size_t i = 0; i < 3; ++i) {
    head <<= 8U;
    if (i < letters && i < key.size()) head |= static_cast<unsigned char>(key[i]);
  }
  return head;
}

void set_jsonb_directory_rules(const JsonbDirectoryRules& wanted) {
  rules = wanted;
}

std::string jsonb_directory(std::string_view text, MemoryAccount* account) {
  if (text.size() < rules.least_bytes) return {};
  return DirectoryWriter{text, account}.directory();
}

}  // namespace swizzle::sql
