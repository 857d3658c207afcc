#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sql-lite-frontend/catalog/oid.h"
#include "sql-lite-frontend/statement/lasting_share.h"
#include "storage/held_view.h"

namespace swizzle::sql {

/// An opened large object, with the place at which it is read and written next.
struct LargeObjectDescriptor {
  Oid object = kNoOid;
  bool may_read = false;
  bool may_write = false;
  std::int64_t place = 0;
  /// View of one that only reads, from the time when it was opened; without one the statement's own
  /// view counts.
  HeldView view;
  std::uint64_t number = 0;  ///< counts what was opened before
};

/// The large objects that a transaction has opened. Must be destroyed before the transaction ends.
class LargeObjectDescriptors {
 public:
  /// Returns the number of the descriptor: the lowest that is free.
  std::int32_t add(LargeObjectDescriptor descriptor);
  /// Throws 42704 unless it is open.
  LargeObjectDescriptor& at(std::int32_t descriptor);
  void close(std::int32_t descriptor);
  /// Closes those of an object that is removed.
  void close_all_of(Oid object) noexcept;

  /// For savepoints: what is opened after a mark is closed when they are rolled back to.
  [[nodiscard]] std::uint64_t mark() const noexcept { return next_number_; }
  void roll_back_to(std::uint64_t mark) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return open_.capacity() * sizeof open_[0]; }

  LastingShare share;  ///< memory of the descriptors

 private:
  std::vector<std::optional<LargeObjectDescriptor>> open_;
  std::uint64_t next_number_ = 1;
};

}  // namespace swizzle::sql
