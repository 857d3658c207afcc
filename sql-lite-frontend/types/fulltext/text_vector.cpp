#include "sql-lite-frontend/types/fulltext/text_vector.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kHead = 4;
constexpr std::size_t kWorkOfWord = 60;

[[noreturn]] void malformed() {
  throw SqlError{SqlState{"XX001"}, "a stored tsvector is malformed"};
}

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

/// Appends the positions of one word: each once with its greatest weight, up to the limit.
void append_places(std::string& out, std::span<const WordMet> met) {
  std::size_t count = 0;
  unsigned last = 0;
  for (const WordMet& one : met) {
    const unsigned place = one.place.place();
    if (place == 0 || place == last) continue;
    if (count == kMostPlaces || last == kLastPlace) break;
    put(out, one.place.bits);
    last = place;
    ++count;
  }
}

template <class T>
int order(const T& left, const T& right) {
  return left < right ? -1 : (right < left ? 1 : 0);
}

int compare_places(const WordPlaces& left, const WordPlaces& right) {
  if (left.size() != right.size()) return left.size() > right.size() ? -1 : 1;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].place() != right[i].place()) return left[i].place() > right[i].place() ? -1 : 1;
    if (left[i].weight() != right[i].weight()) {
      return left[i].weight() > right[i].weight() ? -1 : 1;
    }
  }
  return 0;
}

}  // namespace

std::size_t vector_reference_bytes(const TextVectorView& view) {
  std::size_t letters = 0;
  for (std::size_t i = 0; i < view.size(); ++i) {
    letters += view.word(i).size();
    const std::size_t places = view.places(i).size();
    if (places != 0) letters = (letters + 1) / 2 * 2 + 2 + 2 * places;
  }
  return 8 + 4 * view.size() + letters;
}

TextVectorView::TextVectorView(const Value& value) : bytes_(value.as_bytes()) {
  if (bytes_.size() < kHead) malformed();
  count_ = load<std::uint32_t>(bytes_.data());
  if (count_ > (bytes_.size() - kHead) / 8) malformed();
}

std::size_t TextVectorView::begin_of(std::size_t index) const {
  const std::size_t at = load<std::uint32_t>(bytes_.data() + kHead + 4 * index);
  if (at + 4 > bytes_.size()) malformed();
  const std::size_t end = at + 4 + load<std::uint16_t>(bytes_.data() + at) +
                          2 * std::size_t{load<std::uint16_t>(bytes_.data() + at + 2)};
  if (end > bytes_.size()) malformed();
  return at;
}

std::string_view TextVectorView::word(std::size_t index) const {
  const std::size_t at = begin_of(index);
  return as_text(bytes_.subspan(at + 4, load<std::uint16_t>(bytes_.data() + at)));
}

WordPlaces TextVectorView::places(std::size_t index) const {
  const std::size_t at = begin_of(index);
  const std::size_t letters = load<std::uint16_t>(bytes_.data() + at);
  const std::size_t count = load<std::uint16_t>(bytes_.data() + at + 2);
  return WordPlaces{bytes_.subspan(at + 4 + letters, 2 * count)};
}

std::size_t TextVectorView::lower_bound(std::string_view wanted) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (word(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Value make_text_vector(Arena& arena, WordsMet words) {
  yield_point(words.size() * kWorkOfWord);
  std::ranges::sort(words, [](const WordMet& left, const WordMet& right) {
    if (const int by_word = left.word.compare(right.word); by_word != 0) return by_word < 0;
    if (left.place.place() != right.place.place()) return left.place.place() < right.place.place();
    return left.place.weight() > right.place.weight();
  });
  std::string begins;
  std::string body;
  std::uint32_t count = 0;
  std::size_t letters = 0;
  const auto words_end = words.end();
  std::size_t different = 0;
  for (auto at = words.begin(); at != words_end;) {
    const std::string_view word = at->word;
    at = std::find_if(at, words_end, [&](const WordMet& one) { return one.word != word; });
    ++different;
  }
  const std::size_t start = kHead + 4 * different;
  for (auto at = words.begin(); at != words_end; ++count) {
    const std::string_view word = at->word;
    const auto end =
        std::find_if(at, words_end, [&](const WordMet& one) { return one.word != word; });
    std::string places;
    append_places(places, {at, end});
    put(begins, static_cast<std::uint32_t>(start + body.size()));
    put(body, static_cast<std::uint16_t>(word.size()));
    put(body, static_cast<std::uint16_t>(places.size() / 2));
    body += word;
    body += places;
    letters += word.size();
    if (letters > kMostVectorBytes) {
      throw_error(sqlstate::program_limit_exceeded,
                  "string is too long for tsvector ({} bytes, max {} bytes)", letters,
                  kMostVectorBytes);
    }
    at = end;
  }
  std::string value;
  put(value, count);
  value += begins;
  value += body;
  return make_text(arena, value);
}

int compare_text_vectors(const Value& left, const Value& right) {
  const TextVectorView a{left};
  const TextVectorView b{right};
  if (const int by_bytes = order(vector_reference_bytes(a), vector_reference_bytes(b));
      by_bytes != 0) {
    return by_bytes;
  }
  if (a.size() != b.size()) return order(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool has_places = !a.places(i).empty();
    if (has_places != !b.places(i).empty()) return has_places ? -1 : 1;
    if (const int by_word = order(a.word(i), b.word(i)); by_word != 0) return by_word;
    if (const int by_place = compare_places(a.places(i), b.places(i)); by_place != 0) {
      return by_place;
    }
  }
  return 0;
}

void append_quoted_word(std::string_view word, std::string& out) {
  out += '\'';
  for (const char c : word) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  out += '\'';
}

void print_text_vector(const Value& value, std::string& out) {
  const TextVectorView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) out += ' ';
    append_quoted_word(view.word(i), out);
    const WordPlaces places = view.places(i);
    for (std::size_t k = 0; k < places.size(); ++k) {
      out += k == 0 ? ':' : ',';
      out += std::to_string(places[k].place());
      if (places[k].weight() != 0) out += weight_letter(places[k].weight());
    }
  }
}

}  // namespace swizzle::sql
