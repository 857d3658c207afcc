#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"

namespace swizzle::sql {

/// A tree of the parser library in protobuf's encoding. The library's own way asks each node twice
/// for each of the 260 kinds that it could be of, half of what a long statement costs; here a node
/// is asked of what kind it is. Written from the back, so that the length of what is nested is
/// known when it comes before it.
///
/// The library calls for it with an object of its own making (see CMakeLists.txt), on the thread
/// that has one of these.
class PackedTree {
 public:
  /// Receives the trees that the library packs on this thread from now on.
  PackedTree() noexcept;
  PackedTree(const PackedTree&) = delete;
  PackedTree& operator=(const PackedTree&) = delete;
  ~PackedTree();

  /// `message`: a ProtobufCMessage. Recurses no deeper, and with less of the stack for each level,
  /// than the library does.
  void pack(const void* message) noexcept;

  enum class Outcome : std::uint8_t { none, whole, out_of_memory, unknown_field };
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] Bytes bytes() const noexcept {
    return {memory_.get() + begin_, capacity_ - begin_};
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return capacity_; }
  /// Ends the capture: the library packs later messages of this thread by itself.
  void close() noexcept;

 private:
  class Writer;

  std::unique_ptr<std::byte[]> memory_;  // NOLINT(cppcoreguidelines-avoid-c-arrays)
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  Outcome outcome_ = Outcome::none;
};

}  // namespace swizzle::sql
