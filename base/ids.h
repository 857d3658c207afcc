#pragma once

#include <cstdint>
#include <utility>

namespace swizzle {

/// A byte offset in the log. 0 is "before the log": no record starts there.
enum class Lsn : std::uint64_t { none = 0, max = UINT64_MAX };

/// The number of a page in the data file. 0 names the file header, so it is never a tree page.
enum class PageId : std::uint64_t { none = 0 };

/// 0 is the directory, the tree of trees.
enum class TreeId : std::uint32_t { directory = 0 };

/// 64 bits never wrap. 0 is "no transaction", which system transactions carry in the log.
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
