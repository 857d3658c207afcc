#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/memory_account.h"

/// tsvector: words, each once, with the places where they stand in a text.
namespace swizzle::sql {

/// A word has fewer bytes, a place is no larger, a word has no more of them: PostgreSQL's limits.
inline constexpr std::size_t kWordLimit = 2047;
inline constexpr std::uint16_t kLastPlace = 16383;
inline constexpr std::size_t kMostPlaces = 255;
inline constexpr std::size_t kMostVectorBytes = (1U << 20U) - 1;

/// A place and its weight: D (0) to A (3).
struct WordPlace {
  std::uint16_t bits = 0;
  WordPlace() = default;
  constexpr WordPlace(unsigned place, unsigned weight) noexcept
      : bits(static_cast<std::uint16_t>(place | weight << 14U)) {}
  [[nodiscard]] constexpr unsigned place() const noexcept { return bits & 0x3fffU; }
  [[nodiscard]] constexpr unsigned weight() const noexcept { return bits >> 14U; }
};

/// The places of a word, as they stand in a value.
class WordPlaces {
 public:
  WordPlaces() = default;
  explicit WordPlaces(Bytes bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / 2; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] WordPlace operator[](std::size_t index) const noexcept {
    WordPlace place;
    place.bits = load<std::uint16_t>(bytes_.data() + 2 * index);
    return place;
  }

 private:
  Bytes bytes_;
};

/// Reads a value: u32 count | u32 begin per word | per word u16 length, u16 places, letters,
/// places.
class TextVectorView {
 public:
  /// Throws SqlError XX001 on malformed bytes.
  explicit TextVectorView(const Value& value);
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::string_view word(std::size_t index) const;
  [[nodiscard]] WordPlaces places(std::size_t index) const;
  /// The first word that is not below.
  [[nodiscard]] std::size_t lower_bound(std::string_view word) const;

 private:
  [[nodiscard]] std::size_t begin_of(std::size_t index) const;
  Bytes bytes_;
  std::size_t count_ = 0;
};

/// A word and its place; place 0: unknown. Its letters lie in the arena.
struct WordMet {
  std::string_view word;
  WordPlace place;
};
using WordsMet = CountedVector<WordMet>;
inline WordsMet words_met(const Arena& arena) {
  return WordsMet{CountedAllocator<WordMet>{arena.account()}};
}

/// Makes a vector of words in any order. Throws SqlError 54000 if all words together are too long.
Value make_text_vector(Arena& arena, WordsMet words);

/// Bytes of PostgreSQL's form, by which it orders before it looks at words.
std::size_t vector_reference_bytes(const TextVectorView& view);
/// Compares in PostgreSQL's order, by sizes first.
int compare_text_vectors(const Value& left, const Value& right);

/// 'word':1A,2 …
Value read_text_vector(Arena& arena, std::string_view text);
void print_text_vector(const Value& value, std::string& out);
Value receive_text_vector(Arena& arena, Bytes bytes);
void send_text_vector(const Value& value, std::string& out);

/// Appends the word with its quotes, as in both types.
void append_quoted_word(std::string_view word, std::string& out);
/// 'A' to 'D'.
constexpr char weight_letter(unsigned weight) noexcept {
  return static_cast<char>('D' - weight);
}

}  // namespace swizzle::sql
