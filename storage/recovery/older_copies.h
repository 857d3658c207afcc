#pragma once

#include <cstddef>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "wal/reader.h"

namespace swizzle {

/// Older copies of pages outside the database, and the log since they were made. Thread-safe;
/// parks.
class OlderCopies {
 public:
  struct Copy {
    /// LSN of the page; none: there is no usable copy.
    Lsn lsn = Lsn::none;
    /// The copy has every change before this one.
    Lsn complete_to = Lsn::none;
  };
  OlderCopies() = default;
  OlderCopies(const OlderCopies&) = delete;
  OlderCopies& operator=(const OlderCopies&) = delete;
  virtual ~OlderCopies() = default;

  /// Fills `into` with the page, or with zeros.
  virtual Result<Copy> read(PageId page, std::byte* into) = 0;
  /// Returns a reader of the database's log and, before what that still has, of the archive.
  virtual Result<wal::Reader> reader(wal::ReadPattern pattern) = 0;
  /// Name for messages.
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace swizzle
