#pragma once

#include <cstdint>
#include <utility>

namespace swizzle {

/// Byte offset in the log. 0: before the log, since no record starts there.
enum class Lsn : std::uint64_t { none = 0, max = UINT64_MAX };

/// Number of a page in the data file. 0 is the file header, so never a page of a tree.
enum class PageId : std::uint64_t { none = 0 };

/// Number of a tree. 0: the directory, the tree of trees.
enum class TreeId : std::uint32_t { directory = 0 };

/// Number of a transaction; 64 bits, so that it never wraps. 0: no transaction, as in records of
/// system transactions.
enum class TxnId : std::uint64_t { none = 0 };

constexpr std::uint64_t raw(Lsn lsn) noexcept {
  return std::to_underlying(lsn);
}
constexpr std::uint64_t raw(PageId page) noexcept {
  return std::to_underlying(page);
}
constexpr std::uint32_t raw(TreeId tree) noexcept {
  return std::to_underlying(tree);
}
constexpr std::uint64_t raw(TxnId txn) noexcept {
  return std::to_underlying(txn);
}

}  // namespace swizzle
