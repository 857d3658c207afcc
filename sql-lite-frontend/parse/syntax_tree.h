#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"

namespace swizzle::sql {

/// What the parser library says of a text that is not SQL.
struct SyntaxError {
  std::string message;
  int character_position = 0;  ///< from 1; 0 is unknown
};

/// A text as the parser library reads it. The library recurses over what it has read without
/// measuring its stack, so that is done for it here: `palloc`, which it calls at each level, is
/// ours first (see CMakeLists.txt).
class SyntaxTree {
 public:
  /// Throws SqlError 54001 when the text nests too deeply for the stack.
  explicit SyntaxTree(const std::string& text);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
  ~SyntaxTree();

  [[nodiscard]] const std::optional<SyntaxError>& error() const noexcept { return error_; }
  /// In protobuf's encoding. Empty if there is an error.
  [[nodiscard]] Bytes bytes() const noexcept { return {data_, size_}; }
  /// Before the library is to read the bytes back, for which it takes far more of the stack than it
  /// took to make them. Throws SqlError 54001.
  void check_stack_to_read_back() const;

 private:
  std::optional<SyntaxError> error_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t stack_used_ = 0;
};

}  // namespace swizzle::sql
