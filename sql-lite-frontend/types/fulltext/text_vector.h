#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/memory_account.h"

/// tsvector: distinct words with their positions in a text.
namespace swizzle::sql {

/// PostgreSQL's limits: bytes of a word, largest position, positions of a word.
inline constexpr std::size_t kWordLimit = 2047;
inline constexpr std::uint16_t kLastPlace = 16383;
inline constexpr std::size_t kMostPlaces = 255;
inline constexpr std::size_t kMostVectorBytes = (1U << 20U) - 1;

/// A position and its weight: D (0) to A (3).
struct WordPlace {
  std::uint16_t bits = 0;
  WordPlace() = default;
  constexpr WordPlace(unsigned place, unsigned weight) noexcept
      : bits(static_cast<std::uint16_t>(place | weight << 14U)) {}
  [[nodiscard]] constexpr unsigned place() const noexcept { return bits & 0x3fffU; }
  [[nodiscard]] constexpr unsigned weight() const noexcept { return bits >> 14U; }
};

/// The positions of a word in an encoded value.
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

/// Decodes a value: u32 count | u32 begin per word | per word u16 length, u16 positions, letters,
/// positions.
class TextVectorView {
 public:
  /// Throws SqlError XX001 on malformed bytes.
  explicit TextVectorView(const Value& value);
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::string_view word(std::size_t index) const;
  [[nodiscard]] WordPlaces places(std::size_t index) const;
  /// Returns the first word that is not less.
  [[nodiscard]] std::size_t lower_bound(std::string_view word) const;

 private:
  [[nodiscard]] std::size_t begin_of(std::size_t index) const;
  Bytes bytes_;
  std::size_t count_ = 0;
};

/// A word and its position; 0: unknown. The letters are in the arena.
struct WordMet {
  std::string_view word;
  WordPlace place;
};
using WordsMet = CountedVector<WordMet>;
inline WordsMet words_met(const Arena& arena) {
  return WordsMet{CountedAllocator<WordMet>{arena.account()}};
}

/// Builds a vector from words in any order. Throws SqlError 54000 if their total length is too
/// large.
Value make_text_vector(Arena& arena, WordsMet words);

/// Size of PostgreSQL's encoding, which it compares before the words.
std::size_t vector_reference_bytes(const TextVectorView& view);
/// Compares in PostgreSQL's order: sizes first.
int compare_text_vectors(const Value& left, const Value& right);

/// Parses 'word':1A,2 …
Value read_text_vector(Arena& arena, std::string_view text);
void print_text_vector(const Value& value, std::string& out);
Value receive_text_vector(Arena& arena, Bytes bytes);
void send_text_vector(const Value& value, std::string& out);

/// Appends the word in quotes, as in the text of both types.
void append_quoted_word(std::string_view word, std::string& out);
/// Returns 'A' to 'D'.
constexpr char weight_letter(unsigned weight) noexcept {
  return static_cast<char>('D' - weight);
}

}  // namespace swizzle::sql
