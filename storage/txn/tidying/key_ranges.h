#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"

namespace swizzle {

/// A bounded set of key ranges in trees, in the order of trees and keys. Overlapping ranges become
/// one. When the set is full, neighbours of one tree are merged in pairs, with the gap between
/// them: it loses precision, not keys. Not thread-safe.
class KeyRanges {
 public:
  static constexpr std::size_t kMostRanges = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

  struct Range {
    TreeId tree;
    std::string low;
    std::string high;  ///< included
    [[nodiscard]] Bytes low_key() const noexcept { return as_bytes(low); }
    [[nodiscard]] Bytes high_key() const noexcept { return as_bytes(high); }
  };

  /// Pre: low is not above high.
  void add(TreeId tree, Bytes low, Bytes high);
  void add(const Range& range) { add(range.tree, range.low_key(), range.high_key()); }
  /// Removes and returns the first range at or after a position, or the first of all if there is
  /// none.
  std::optional<Range> take_from(TreeId tree, std::string_view key);
  /// Removes the keys of a tree from `low` on, up to `below` if there is one.
  void remove(TreeId tree, std::string_view low, std::optional<std::string_view> below);
  [[nodiscard]] bool is_empty() const noexcept { return ranges_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ranges_.size(); }
  /// Number of ranges lost, because there were more trees than the set has room for.
  [[nodiscard]] std::size_t lost() const noexcept { return lost_; }
  void clear() noexcept;

 private:
  using Key = std::pair<TreeId, std::string>;
  using KeyView = std::pair<TreeId, std::string_view>;
  struct Less {
    using is_transparent = void;
    static KeyView view(const Key& key) noexcept { return {key.first, key.second}; }
    static KeyView view(const KeyView& key) noexcept { return key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return view(a) < view(b);
    }
  };
  void make_coarser();
  void drop_last() noexcept;
  [[nodiscard]] bool is_full() const noexcept {
    return ranges_.size() > kMostRanges || bytes_ > kMostBytes;
  }

  std::map<Key, std::string, Less> ranges_;  ///< from the low key to the high one
  std::size_t bytes_ = 0;
  std::size_t lost_ = 0;
};

}  // namespace swizzle
