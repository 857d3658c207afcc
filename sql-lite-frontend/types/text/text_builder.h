#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

namespace swizzle::sql {

/// Builds a text of any length. Growing does not copy the existing text, lets other fibers run, and
/// throws 54000 as soon as the text exceeds a value's maximum size.
class TextBuilder {
 public:
  /// Builds a text for `arena`, to whose account the memory is charged.
  explicit TextBuilder(Arena& arena) noexcept : arena_(arena) {}
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  ~TextBuilder();

  void append(std::string_view text) {
    if (text.size() > room()) [[unlikely]]
      return append_slowly(text);
    text.copy(next_, text.size());
    next_ += text.size();
  }
  TextBuilder& operator+=(std::string_view text) {
    append(text);
    return *this;
  }
  void push_back(char letter) { append({&letter, 1}); }
  void append(std::size_t count, char letter);
  [[nodiscard]] std::size_t size() const noexcept {
    return finished_bytes_ + static_cast<std::size_t>(next_ - begin_);
  }

  /// Returns the text as a value in the arena and clears the builder.
  [[nodiscard]] Value finish();

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t used = 0;
  };

  [[nodiscard]] std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - next_); }
  void append_slowly(std::string_view text);
  void begin_chunk(std::size_t wanted);

  Arena& arena_;
  std::vector<Chunk> finished_;
  std::size_t finished_bytes_ = 0;
  std::unique_ptr<char[]> current_;
  MemoryShare share_;  ///< charged from the second chunk on: smaller texts are short-lived
  char* begin_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace swizzle::sql
