#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "sql-lite-frontend/query/parse/packed_tree.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// The parser library's report on a text that is not SQL.
struct SyntaxError {
  std::string message;
  int character_position = 0;  ///< from 1; 0 is unknown
};

/// A text as the parser library reads it. The library recurses over what it has read without
/// measuring its stack, and takes memory without asking, so that is done for it (library_memory.h).
class SyntaxTree {
 public:
  /// Throws SqlError 54001 when the text nests too deeply for the stack, 53200 when it takes more
  /// memory than the account has; without one it is not counted.
  explicit SyntaxTree(const std::string& text, MemoryAccount* account = nullptr);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
  ~SyntaxTree() = default;

  [[nodiscard]] const std::optional<SyntaxError>& error() const noexcept { return error_; }
  /// Tree in protobuf's encoding. Empty if there is an error.
  [[nodiscard]] Bytes bytes() const noexcept { return packed_.bytes(); }
  /// Before the library is to read the bytes back, for which it takes far more of the stack than it
  /// took to make them. Throws SqlError 54001.
  void check_stack_to_read_back() const;

 private:
  std::optional<SyntaxError> error_;
  MemoryShare share_;
  PackedTree packed_;
  std::size_t stack_used_ = 0;
};

}  // namespace swizzle::sql
