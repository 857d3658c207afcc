#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "storage/buffer/frame.h"

namespace swizzle {

/// The leaf of the last key, so that a caller that comes again for the key, or for its neighbour,
/// need not descend again. Pins nothing and may be stale in any way; the version tells if the frame
/// still has the same content.
class LeafHint {
 public:
  enum class Nearness : std::uint8_t {
    far,
    same,
    // All but the last byte is the same, so it is in the same leaf as a rule.
    before,
    behind,
  };

  void remember(TreeId tree, Bytes key, Frame& frame, LatchVersion version) noexcept {
    stays_ = frame_ == &frame && tree == tree_ ? std::min(stays_ + 1U, kSettled) : 0U;
    frame_ = nullptr;
    if (key.empty() || key.size() > key_.size()) return;
    tree_ = tree;
    frame_ = &frame;
    version_ = version;
    key_size_ = static_cast<std::uint32_t>(key.size());
    std::memcpy(key_.data(), key.data(), key.size());
  }

  void forget() noexcept { frame_ = nullptr; }

  /// True if the last few keys were in this leaf: then its fences are worth a look for the next
  /// key, near or not. That happens to ascending keys if many share a leaf.
  [[nodiscard]] bool is_settled_in(TreeId tree) const noexcept {
    return frame_ != nullptr && tree == tree_ && stays_ == kSettled;
  }

  [[nodiscard]] Nearness nearness(TreeId tree, Bytes key) const noexcept {
    if (frame_ == nullptr || tree != tree_ || key.size() != key_size_) return Nearness::far;
    const std::size_t front = key.size() - 1;
    if (std::memcmp(key.data(), key_.data(), front) != 0) return Nearness::far;
    if (key[front] == key_[front]) return Nearness::same;
    return key[front] < key_[front] ? Nearness::before : Nearness::behind;
  }

  /// Pre: nearness() was not far, or is_settled_in().
  [[nodiscard]] Frame& frame() const noexcept { return *frame_; }
  [[nodiscard]] LatchVersion version() const noexcept { return version_; }

 private:
  static constexpr std::uint32_t kSettled = 2;

  Frame* frame_ = nullptr;
  std::uint32_t stays_ = 0;
  LatchVersion version_ = 0;
  TreeId tree_{};
  std::uint32_t key_size_ = 0;
  std::array<std::byte, 40> key_;
};

}  // namespace swizzle
