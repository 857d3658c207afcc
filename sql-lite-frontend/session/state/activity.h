#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// A text that one thread writes, without a lock, and any thread reads. Texts longer than
/// `capacity` are cut.
template <std::size_t capacity>
class PublishedText {
 public:
  void store(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), capacity);
    // Odd while the text changes. The release stores below publish it with the first of them.
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    const std::size_t whole = size / 8;
    for (std::size_t i = 0; i < whole; ++i) store_word(i, text.data() + 8 * i, 8);
    if (size % 8 != 0) store_word(whole, text.data() + 8 * whole, size % 8);
    size_.store(size, std::memory_order_release);
    // Release: publishes the text with the even number.
    version_.store(version + 2, std::memory_order_release);
  }

  /// Copies the present text, whole or in the middle of a change. For callers that must not
  /// allocate.
  std::size_t peek(std::span<char> into) const noexcept {
    // Acquire: as below.
    const std::size_t size =
        std::min({size_.load(std::memory_order_acquire), capacity, into.size()});
    for (std::size_t at = 0; at < size; at += 8) {
      const std::uint64_t word = words_[at / 8].load(std::memory_order_acquire);
      std::memcpy(into.data() + at, &word, std::min<std::size_t>(8, size - at));
    }
    return size;
  }

  [[nodiscard]] std::string load() const {
    for (;;) {
      // Acquire: the text read below is not older than this version.
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      std::string text(std::min(size_.load(std::memory_order_acquire), capacity), '\0');
      for (std::size_t at = 0; at < text.size(); at += 8) {
        // Acquire: a word from a later store brings that store's odd version with it.
        const std::uint64_t word = words_[at / 8].load(std::memory_order_acquire);
        std::memcpy(text.data() + at, &word, std::min<std::size_t>(8, text.size() - at));
      }
      if (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before) continue;
      // Cut between characters, not within one.
      if (text.size() == capacity) {
        std::size_t end = text.size();
        while (end > 0 && (static_cast<unsigned char>(text[end - 1]) & 0xc0U) == 0x80U) --end;
        if (end > 0 && (static_cast<unsigned char>(text[end - 1]) & 0x80U) != 0) --end;
        text.resize(end);
      }
      return text;
    }
  }

 private:
  void store_word(std::size_t index, const char* bytes, std::size_t count) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    words_[index].store(word, std::memory_order_release);
  }

  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::size_t> size_{0};
  std::array<std::atomic<std::uint64_t>, capacity / 8> words_{};
};

/// A session's activity, for pg_stat_activity in other sessions. Written by the session alone.
struct Activity {
  enum class State : std::uint8_t { idle, active, idle_in_transaction, idle_in_failed };

  void begin(std::string_view text, std::int64_t now) noexcept {
    query.store(text);
    query_start.store(now, std::memory_order_relaxed);
    change(State::active, now);
  }
  void change(State to, std::int64_t now) noexcept {
    state_change.store(now, std::memory_order_relaxed);
    state.store(to, std::memory_order_relaxed);
  }

  PublishedText<1024> query;
  PublishedText<64> application;
  std::atomic<std::int64_t> transaction_start{0};  ///< 0: there is none
  std::atomic<std::int64_t> query_start{0};
  std::atomic<std::int64_t> state_change{0};
  std::atomic<State> state{State::idle};
  std::int64_t connected_at = 0;  ///< does not change while others can see it
};

}  // namespace swizzle::sql
