#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sqlstate.h"
#include "sql-lite-frontend/query/parse/ast_nodes.h"
#include "sql-lite-frontend/query/parse/library_memory.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/memory_account.h"

// Types of the parser library.
struct List;
struct MemoryContextData;

namespace swizzle::sql {

/// Syntax error as the parser library reports it.
struct SyntaxError {
  SqlState state;
  std::string message;
  std::string detail;
  std::string hint;
  int character_position = 0;  ///< from 1; 0: unknown
};

/// Parse tree of the parser library: PostgreSQL's own nodes, in a memory context of the library.
/// library_memory.h charges its memory and measures its stack. Must stay on the thread that made
/// it.
class SyntaxTree {
 public:
  /// Throws SqlError 53200 if the account is exhausted; without an account nothing is charged.
  explicit SyntaxTree(const std::string& text, MemoryAccount* account = nullptr);
  SyntaxTree(const SyntaxTree&) = delete;
  SyntaxTree& operator=(const SyntaxTree&) = delete;
  ~SyntaxTree() = default;

  [[nodiscard]] const std::optional<SyntaxError>& error() const noexcept { return error_; }
  /// Returns the library's list of RawStmt; null if there is an error or the text has no statement.
  [[nodiscard]] const ::List* statements() const noexcept { return statements_; }
  /// Copies them to our nodes. Throws SqlError 54001.
  [[nodiscard]] ast::Items<ast::RawStmt> copy_to(Arena& arena) const;

  /// Prints a node of the library as SQL; empty if the library cannot print it. Throws SqlError
  /// 54001.
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

  /// Calls `work`; returns false if the library raised an error, which jumps past frames of C
  /// alone. Memory goes with the memory context. Throws the refusal of memory or stack.
  bool run(auto work);

  LibraryMemory memory_;
  Context context_;
  ::List* statements_ = nullptr;
  std::optional<SyntaxError> error_;
};

}  // namespace swizzle::sql
