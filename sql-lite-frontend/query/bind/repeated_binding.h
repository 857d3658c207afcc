#pragma once

#include <cstddef>
#include <cstdint>

namespace swizzle::sql {

/// Counts nodes that are bound more than once, such as those in the first operand of BETWEEN and
/// IN. Their number doubles with each level of nesting. Throws 54001 when it exceeds the limit.
class RepeatedBinding {
 public:
  /// `each_of_a_list`: a list's subject is bound for each member. This counts only when nested,
  /// since the list itself may be long.
  enum class For : std::uint8_t { one_more, each_of_a_list };
  /// While an object of this class exists, bound expressions count as bound once more.
  class Again {
   public:
    explicit Again(RepeatedBinding& all, For what = For::one_more) noexcept
        : depth_(what == For::one_more ? all.depth_ : all.lists_) {
      ++depth_;
    }
    Again(const Again&) = delete;
    Again& operator=(const Again&) = delete;
    ~Again() { --depth_; }

   private:
    int& depth_;
  };

  /// Counts a bound node.
  void note_node() {
    if (depth_ != 0 || lists_ > 1) count(1);
  }
  void count(std::size_t nodes);

 private:
  std::size_t nodes_ = 0;
  int depth_ = 0;
  int lists_ = 0;
};

}  // namespace swizzle::sql
