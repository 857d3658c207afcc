#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/memory/aligned_buffer.h"
#include "storage/latch/spin_latch.h"
#include "storage/page/page.h"

namespace swizzle {

struct EngineParts;
class LeafTidier;

/// Leaves that were untidy when the database was stopped or crashed, of which no hint tells any
/// more. They are in the file of untidy pages as far as they were written before the last
/// checkpoint; recovery redoes the others. Gives the tidier hints for them, a few at a time.
class Leftovers {
 public:
  explicit Leftovers(EngineParts& engine) : engine_(engine), page_(kPageBytes) {}
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  /// Call before sessions begin.
  void start();
  /// Notes a page that was redone. Thread-safe.
  void redone(const std::byte* page) noexcept;
  /// Gives hints for some leaves. Parks to read their pages. For the tidier's task.
  void hint_some(LeafTidier& tidier);

 private:
  struct Leaf {
    TreeId tree;
    std::string key;
  };
  void hint_for(LeafTidier& tidier, const Leaf& leaf);
  bool hint_redone(LeafTidier& tidier);
  bool hint_written(LeafTidier& tidier);

  EngineParts& engine_;
  SpinLatch redone_mutex_;
  std::deque<Leaf> redone_;
  std::size_t redone_bytes_ = 0;

  // Private to the task.
  /// Trees that may go without a word to the table: prepared transactions have created them.
  std::set<TreeId> passed_over_;
  AlignedBuffer page_;
  PageId next_{};
  bool is_over_ = false;
};

}  // namespace swizzle
