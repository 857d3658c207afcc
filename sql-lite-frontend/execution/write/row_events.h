#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Log of row events, in order, for an actor that handles them later. An event consists of a
/// number, whose meaning its owner defines, and copied values. An event without values takes about
/// 20 bytes; events beyond work_mem go to a temporary file. Used by one thread or fiber.
class RowEvents {
 public:
  void add(WorkMemory& memory, std::int64_t what, std::span<const Value> values);
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint64_t size() const noexcept { return rows_ ? rows_->rows() : 0; }
  /// Removes all events and frees most of the memory.
  void clear() noexcept;

  /// Position in the log, for cut() and Reader.
  struct Mark {
    std::uint64_t size = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Mark mark() const noexcept {
    return rows_ ? Mark{rows_->rows(), rows_->bytes()} : Mark{};
  }
  /// Removes the events added after the mark. Pre: the mark is of this log, and the events before
  /// it have not been removed since.
  void cut(const Mark& mark) noexcept;

  /// Reads from the first event, or from a mark, to the last. Events may be added meanwhile, but
  /// not removed.
  class Reader {
   public:
    explicit Reader(const RowEvents& events);
    Reader(const RowEvents& events, const Mark& from);
    /// Moves to the next event; false at the end.
    bool next();
    [[nodiscard]] std::int64_t what() const noexcept { return values_.front().as_int8(); }
    /// Valid until the next call.
    [[nodiscard]] std::span<const Value> values() const noexcept {
      return std::span{values_}.subspan(1);
    }

   private:
    std::optional<RowFile::Reader> rows_;
    std::vector<Value> values_;
  };

 private:
  std::unique_ptr<RowFile> rows_;  ///< null: there has been none
  std::vector<Value> row_;
  MemoryShare share_;
};

/// Interface of an owner of events.
class EventActor {
 public:
  EventActor() = default;
  EventActor(const EventActor&) = delete;
  EventActor& operator=(const EventActor&) = delete;
  virtual ~EventActor() = default;
  virtual void act_on(Execution& execution, std::int64_t event, std::span<const Value> values) = 0;
  /// Called after all events of the same statement have been handled.
  virtual void act_last(Execution& /*execution*/) {}
};

}  // namespace swizzle::sql
