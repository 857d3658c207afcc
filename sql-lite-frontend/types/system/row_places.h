#pragma once

#include <cstdint>
#include <optional>

namespace swizzle::sql {

/// ctid of rows whose key is one number: a hidden row id, or a primary key of one integer column.
/// Keys from 1 on count from (0,1), with kRowsOfBlock rows in a block. Keys from 0 down have blocks
/// from kFirstNegativeBlock on, numbers that sessions give have those from kFirstGivenBlock on.
/// A key that fits neither gets a number from its session.
struct RowPlaces {
  static constexpr std::int64_t kRowsOfBlock = std::int64_t{1} << 15;
  static constexpr std::int64_t kFirstNegativeBlock = std::int64_t{1} << 31;
  static constexpr std::int64_t kFirstGivenBlock = std::int64_t{3} << 30;
  static constexpr std::int64_t kGivenNumbers = (std::int64_t{1} << 30) * kRowsOfBlock;

  /// A tid as its value holds it: the block, and 16 bits of the offset, which begins at 1.
  static constexpr std::int64_t tid(std::int64_t block, std::int64_t offset) noexcept {
    return block << 16 | offset;
  }
  static constexpr std::int64_t block_of(std::int64_t tid) noexcept { return tid >> 16; }
  static constexpr std::int64_t offset_of(std::int64_t tid) noexcept { return tid & 0xffff; }
  static constexpr bool is_given(std::int64_t tid) noexcept {
    return block_of(tid) >= kFirstGivenBlock;
  }

  /// Returns the ctid of the row with that key; nothing if the key is too far from 0.
  static constexpr std::optional<std::int64_t> place_of(std::int64_t key) noexcept {
    constexpr std::int64_t kPositive = kFirstNegativeBlock * kRowsOfBlock;
    constexpr std::int64_t kNegative = (kFirstGivenBlock - kFirstNegativeBlock) * kRowsOfBlock;
    if (key >= 1 && key <= kPositive) return nth(0, key - 1);
    if (key <= 0 && key > -kNegative) return nth(kFirstNegativeBlock, -key);
    return std::nullopt;
  }
  /// Returns the key of the row with that ctid; nothing if no key has it. Pre: it is not given.
  static constexpr std::optional<std::int64_t> key_of(std::int64_t tid) noexcept {
    const std::int64_t block = block_of(tid);
    const std::int64_t offset = offset_of(tid);
    if (offset < 1 || offset > kRowsOfBlock) return std::nullopt;
    if (block < kFirstNegativeBlock) return block * kRowsOfBlock + offset;
    return -((block - kFirstNegativeBlock) * kRowsOfBlock + offset - 1);
  }
  /// Returns the smallest positive key whose ctid is at or after `tid`.
  static constexpr std::int64_t first_key_from(std::int64_t tid) noexcept {
    return first_key_after(offset_of(tid) == 0 ? tid : tid - 1);
  }
  /// Returns the smallest positive key whose ctid is after `tid`.
  static constexpr std::int64_t first_key_after(std::int64_t tid) noexcept {
    const std::int64_t offset = offset_of(tid);
    return block_of(tid) * kRowsOfBlock + (offset < kRowsOfBlock ? offset : kRowsOfBlock) + 1;
  }

 private:
  static constexpr std::int64_t nth(std::int64_t first_block, std::int64_t n) noexcept {
    return tid(first_block + n / kRowsOfBlock, n % kRowsOfBlock + 1);
  }
};

}  // namespace swizzle::sql
