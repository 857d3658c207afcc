#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/execution/rows/row_file.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Log of events on rows, in order, for an actor that handles them later. An event is a number,
/// which its owner understands, and values, which are copied. An event of one number takes about 20
/// bytes; those that do not fit work_mem go to a temporary file. Of one thread or fiber.
class RowEvents {
 public:
  void add(WorkMemory& memory, std::int64_t what, std::span<const Value> values);
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint64_t size() const noexcept { return rows_ ? rows_->rows() : 0; }
  /// Little of the memory stays.
  void clear() noexcept;

  /// A point to come back to.
  struct Mark {
    std::uint64_t size = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Mark mark() const noexcept {
    return rows_ ? Mark{rows_->rows(), rows_->bytes()} : Mark{};
  }
  /// Forgets the events added after the mark. Pre: it is of these events, and nothing before it was
  /// forgotten since.
  void cut(const Mark& mark) noexcept;

  /// Reads from the first event, or from a mark, to the last. Events may be added meanwhile, but
  /// not removed.
  class Reader {
   public:
    explicit Reader(const RowEvents& events);
    Reader(const RowEvents& events, const Mark& from);
    /// False at the end.
    bool next();
    [[nodiscard]] std::int64_t what() const noexcept { return values_.front().as_int8(); }
    /// Until the next call.
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

/// Handles events later.
class EventActor {
 public:
  EventActor() = default;
  EventActor(const EventActor&) = delete;
  EventActor& operator=(const EventActor&) = delete;
  virtual ~EventActor() = default;
  virtual void act_on(Execution& execution, std::int64_t event, std::span<const Value> values) = 0;
  /// Acts after all events that the same statement has left.
  virtual void act_last(Execution& /*execution*/) {}
};

}  // namespace swizzle::sql
