#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "wal/record.h"

namespace swizzle::wal {

/// Names and descriptions of record kinds, for programs that print a log. Storage registers its own
/// kinds and has a table of the same shape for redo and undo, so no switch over kinds is repeated.
class RecordKinds {
 public:
  /// Prints a record's payload, without its header.
  using Describe = std::function<std::string(const Record&)>;

  /// Registers the log's own kinds.
  RecordKinds();

  /// Pre: the kind is storage's, and not registered yet. `name` outlives this object.
  void add(RecordKind kind, std::string_view name, Describe describe = {});
  /// Returns the kind's name; "kind 77" for an unregistered one.
  [[nodiscard]] std::string name(RecordKind kind) const;
  /// Describes a record in one line. For a kind without Describe: the size and first bytes of its
  /// payload.
  [[nodiscard]] std::string describe(const Record& record) const;

 private:
  struct Entry {
    std::string_view name;
    Describe describe;
  };
  std::array<Entry, 256> entries_;
};

/// Returns the bytes in hexadecimal, at most `most` of them.
std::string hexadecimal(Bytes bytes, std::size_t most);

}  // namespace swizzle::wal
