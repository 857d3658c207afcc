#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sqlstate.h"
#include "sql-lite-frontend/query/parse/ast_nodes.h"
#include "sql-lite-frontend/query/parse/library_memory.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/memory_account.h"

// The parser library's.
struct List;
struct MemoryContextData;

namespace swizzle::sql {

/// The parser library's report on a text that is not SQL.
struct SyntaxError {
  SqlState state;
  std::string message;
  std::string detail;
  std::string hint;
  int character_position = 0;  ///< from 1; 0 is unknown
};

/// A text as the parser library reads it: PostgreSQL's own nodes, in a memory context of the
/// library's. Its memory is counted, and its stack measured, for it (library_memory.h). Stays on
/// the thread that made it.
class SyntaxTree {
 public:
  /// Throws SqlError 53200 when the tree takes more memory than the account has; without one it is
  /// not counted.
  explicit SyntaxTree(const std::string& text, MemoryAccount* account = nullptr);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
  ~SyntaxTree() = default;

  [[nodiscard]] const std::optional<SyntaxError>& error() const noexcept { return error_; }
  /// The library's list of RawStmt. Null if there is an error, or nothing in the text.
  [[nodiscard]] const ::List* statements() const noexcept { return statements_; }
  /// The same as our nodes. Throws SqlError 54001.
  [[nodiscard]] ast::Items<ast::RawStmt> copy_to(Arena& arena) const;

  /// `statement`, a node of the library's, as SQL. Empty where the library cannot print it. Throws
  /// SqlError 54001.
  [[nodiscard]] std::string printed(void* statement);

 private:
  class Context {
   public:
    Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context();
    MemoryContextData* context;
  };

  /// False if the library raised an error. Between here and there is only C, without anything to
  /// clean up: what was allocated goes with the memory context. Throws what memory or stack refuse.
  bool run(auto work);

  LibraryMemory memory_;
  Context context_;
  ::List* statements_ = nullptr;
  std::optional<SyntaxError> error_;
};

}  // namespace swizzle::sql
