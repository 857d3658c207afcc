#include "sql-lite-frontend/types/fulltext/word_reader.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_operator(char c) noexcept {
  return c == '!' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<';
}

}  // namespace

void WordReader::fail() const {
  throw_error(sqlstate::syntax_error, "syntax error in {}: \"{}\"",
              what_ == Of::vector ? "tsvector" : "tsquery", text_);
}

void WordReader::skip_blanks() noexcept {
  while (!at_end() && is_blank(text_[at_])) ++at_;
}

void WordReader::take_escaped() {
  if (++at_ >= text_.size()) {
    throw_error(sqlstate::syntax_error, "there is no escaped character: \"{}\"", text_);
  }
  word_ += text_[at_++];
}

void WordReader::read_bare() {
  const std::size_t begin = at_;
  while (!at_end()) {
    const char c = text_[at_];
    const bool ends =
        is_blank(c) || (c == ':' && at_ != begin) || (what_ == Of::query && is_operator(c));
    if (ends) break;
    if (c == '\\') {
      take_escaped();
    } else {
      word_ += c;
      ++at_;
    }
  }
  if (word_.empty()) fail();
}

void WordReader::read_quoted() {
  for (++at_;;) {
    if (at_end()) fail();
    const char c = text_[at_];
    if (c == '\\') {
      take_escaped();
      continue;
    }
    ++at_;
    if (c == '\'') {
      if (at_end() || text_[at_] != '\'') break;
      ++at_;
    }
    word_ += c;
  }
  if (word_.empty()) fail();
}

unsigned WordReader::read_place() {
  if (at_end() || !is_digit(text_[at_])) fail();
  std::uint64_t place = 0;
  for (; !at_end() && is_digit(text_[at_]); ++at_) {
    place =
        std::min<std::uint64_t>(place * 10 + static_cast<unsigned>(text_[at_] - '0'), INT32_MAX);
  }
  if (place == 0) {
    throw_error(sqlstate::syntax_error, "wrong position info in tsvector: \"{}\"", text_);
  }
  return static_cast<unsigned>(std::min<std::uint64_t>(place, kLastPlace));
}

unsigned WordReader::read_weight() {
  unsigned weight = 0;
  for (; !at_end() && text_[at_] != ',' && !is_blank(text_[at_]); ++at_) {
    const char c = text_[at_];
    if (is_digit(c)) continue;
    constexpr std::string_view kLetters = "dcba";
    const auto found = c == '*' ? std::size_t{3} : kLetters.find(static_cast<char>(c | 0x20));
    if (found == std::string_view::npos || weight != 0) fail();
    weight = static_cast<unsigned>(found);
  }
  return weight;
}

void WordReader::read_places(WordsMet& places) {
  const std::size_t before = places.size();
  if (!at_end() && text_[at_] == ':') {
    do {
      ++at_;
      yield_point(1);
      const unsigned place = read_place();
      places.push_back({{}, WordPlace{place, read_weight()}});
    } while (!at_end() && text_[at_] == ',');
  }
  if (places.size() == before) places.emplace_back();
}

bool WordReader::next(WordsMet* places) {
  skip_blanks();
  word_.clear();
  if (at_end()) return false;
  const std::size_t begin = at_;
  if (text_[at_] == '\'') {
    read_quoted();
  } else {
    read_bare();
  }
  yield_point(at_ - begin);
  if (word_.size() >= kWordLimit) {
    throw_error(sqlstate::program_limit_exceeded, "word is too long ({} bytes, max {} bytes)",
                word_.size(), kWordLimit - 1);
  }
  if (places != nullptr) read_places(*places);
  return true;
}

Value read_text_vector(Arena& arena, std::string_view text) {
  WordReader reader{text, WordReader::Of::vector};
  WordsMet words = words_met(arena);
  for (std::size_t done = 0; reader.next(&words);) {
    const std::string_view word = arena.copy(reader.word());
    for (; done < words.size(); ++done) words[done].word = word;
  }
  return make_text_vector(arena, std::move(words));
}

Value receive_text_vector(Arena& arena, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto fail = [](std::string_view why) {
    throw_error(sqlstate::invalid_binary_representation, "{}", why);
  };
  const auto count = reader.take<std::int32_t>();
  if (count < 0) fail("invalid size of tsvector");
  WordsMet words = words_met(arena);
  for (std::int32_t i = 0; i < count; ++i) {
    yield_point(1);
    std::string word;
    for (char c = 0; (c = reader.take<char>()) != 0;) word += c;
    verify_utf8(word);
    if (word.size() > kWordLimit) fail("invalid tsvector: lexeme too long");
    const auto places = reader.take<std::uint16_t>();
    if (places > kMostPlaces + 1) fail("unexpected number of tsvector positions");
    const std::string_view kept = arena.copy(word);
    if (places == 0) words.push_back({kept, {}});
    unsigned last = 0;
    for (unsigned k = 0; k < places; ++k) {
      WordPlace place;
      place.bits = reader.take<std::uint16_t>();
      if (k > 0 && place.place() <= last) fail("position information is misordered");
      last = place.place();
      words.push_back({kept, place});
    }
  }
  reader.finish();
  return make_text_vector(arena, std::move(words));
}

void send_text_vector(const Value& value, std::string& out) {
  const TextVectorView view{value};
  append_big_endian(out, static_cast<std::int32_t>(view.size()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    out += view.word(i);
    out += '\0';
    const WordPlaces places = view.places(i);
    append_big_endian(out, static_cast<std::int16_t>(places.size()));
    for (std::size_t k = 0; k < places.size(); ++k) append_big_endian(out, places[k].bits);
  }
}

}  // namespace swizzle::sql
