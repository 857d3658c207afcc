#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/key_table.h"

namespace swizzle::sql {

/// Stored rows: copies of the values of some slots.
class RowStore {
 public:
  /// Place for rows beyond work_mem. to_file and to_file_of_run spill to a temporary file;
  /// to_file_of_run is for plan nodes that need their rows until the end of the run, when they are
  /// freed. With keep_in_memory, the owner limits the memory.
  enum class Overflow : std::uint8_t { keep_in_memory, to_file, to_file_of_run };
  explicit RowStore(Overflow overflow = Overflow::keep_in_memory) noexcept : overflow_(overflow) {}

  void set_slots(std::vector<Slot> slots) { slots_ = std::move(slots); }
  [[nodiscard]] const std::vector<Slot>& slots() const noexcept { return slots_; }

  /// Stores the current values of the slots; returns the row's number. Throws SqlError 53200 if the
  /// session's memory limit would be exceeded.
  std::size_t keep(Execution& execution) {
    if (overflow_ != Overflow::keep_in_memory && is_full(execution)) [[unlikely]]
      return keep_in_file(execution);
    if (!has_begun_) [[unlikely]]
      begin(execution);
    for (const Slot slot : slots_) values_.push_back(execution.slots[slot].copy_to(arena_));
    return in_memory_++;
  }
  /// Reads a stored row into the slots. Values read from a file are in the row arena.
  void restore(Execution& execution, std::size_t row) const {
    if (row >= in_memory_) [[unlikely]] {
      restore_from_file(execution, row - in_memory_);
      return;
    }
    const Value* from = values_.data() + row * slots_.size();
    for (const Slot slot : slots_) execution.slots[slot] = *from++;
  }
  [[nodiscard]] std::size_t size() const noexcept {
    return file_ ? in_memory_ + file_->places.size() : in_memory_;
  }
  /// Returns the arena of the rows, in which the owner may store related data.
  Arena& arena(Execution& execution) noexcept {
    arena_.count_in(execution.memory);
    return arena_;
  }
  /// Returns the memory in use.
  [[nodiscard]] std::size_t held_bytes() const noexcept {
    return arena_.reserved_bytes() + values_.capacity() * sizeof(Value);
  }
  /// Removes all rows and frees most of the memory.
  void clear() {
    clear_for_next_run(values_);
    clear_for_next_run(arena_);
    forget();
  }
  /// Removes all rows and frees all memory.
  void release() {
    sql::release(values_);
    arena_.release();
    forget();
  }

 private:
  /// Spilled rows, which follow those in memory.
  struct InFile {
    explicit InFile(WorkMemory& memory)
        : rows(*memory.files), reader(rows), places(CountedAllocator<std::uint64_t>{&memory}) {}
    RowFile rows;
    RowFile::Reader reader;
    CountedVector<std::uint64_t> places;
  };
  [[nodiscard]] bool is_full(const Execution& execution) const noexcept;
  void begin(Execution& execution);
  void forget() noexcept {
    in_memory_ = 0;
    file_.reset();
    has_begun_ = false;
  }
  std::size_t keep_in_file(Execution& execution);
  void restore_from_file(Execution& execution, std::size_t row) const;

  std::vector<Slot> slots_;
  CountedVector<Value> values_;
  std::size_t in_memory_ = 0;
  bool has_begun_ = false;  ///< there has been a row since it was cleared
  Overflow overflow_;
  std::unique_ptr<InFile> file_;
  Arena arena_;
};

}  // namespace swizzle::sql
