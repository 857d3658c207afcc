#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "wal/record.h"

namespace swizzle::wal {

/// Names and descriptions of record kinds, for people who read a log. Storage registers its own and
/// keeps redo and undo in a table of the same shape, so that no switch over kinds is repeated.
class RecordKinds {
 public:
  /// Prints a record's payload, without its header.
  using Describe = std::function<std::string(const Record&)>;

  /// Knows the log's own kinds.
  RecordKinds();

  /// Pre: the kind is storage's, and not registered yet. `name` outlives this object.
  void add(RecordKind kind, std::string_view name, Describe describe = {});
  /// "kind 77" when nobody registered it.
  [[nodiscard]] std::string name(RecordKind kind) const;
  /// One line. A kind without Describe shows the size and the first bytes of its payload.
  [[nodiscard]] std::string describe(const Record& record) const;

 private:
  struct Entry {
    std::string_view name;
    Describe describe;
  };
  std::array<Entry, 256> entries_;
};

/// The bytes in hexadecimal, cut off after `most` of them.
std::string hexadecimal(Bytes bytes, std::size_t most);

}  // namespace swizzle::wal
