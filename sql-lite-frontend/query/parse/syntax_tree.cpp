#include "sql-lite-frontend/query/parse/syntax_tree.h"

#include <pg_query.h>

#include <cstdlib>
#include <new>

#include "sql-lite-frontend/query/parse/library_memory.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

extern "C" {

// Parts of pg_query_parse_protobuf(); the library's header shows only the whole.
struct MemoryContextData;
struct RawParse {
  void* tree;
  char* stderr_buffer;
  PgQueryError* error;
};
MemoryContextData* pg_query_enter_memory_context();
void pg_query_exit_memory_context(MemoryContextData* context);
RawParse pg_query_raw_parse(const char* text);
PgQueryProtobuf pg_query_nodes_to_protobuf(const void* tree);
void pg_query_free_error(PgQueryError* error);
}

namespace swizzle::sql {
namespace {

/// False if the stack or the memory is too small for it. Everything between here and the escape is
/// C, without anything to clean up: what was allocated goes with the memory context.
bool pack(const void* tree, std::size_t& used) {
  LibraryDescent own;
  if (setjmp(own.escape) != 0) {
    own.end();
    return false;
  }
  own.begin();
  // Into the caller's PackedTree; what the library returns is empty.
  std::free(pg_query_nodes_to_protobuf(tree).data);  // NOLINT(cppcoreguidelines-no-malloc)
  own.end();
  used = own.used();
  return true;
}

}  // namespace

SyntaxTree::SyntaxTree(const std::string& text, MemoryAccount* account) {
  check_stack();
  MemoryContextData* const context = pg_query_enter_memory_context();
  bool fits = true;
  std::exception_ptr refusal;
  {
    LibraryMemory memory{account};
    const RawParse parsed = pg_query_raw_parse(text.c_str());
    if (parsed.error != nullptr) {
      if (!memory.refusal()) error_ = SyntaxError{parsed.error->message, parsed.error->cursorpos};
      pg_query_free_error(parsed.error);
    } else {
      fits = pack(parsed.tree, stack_used_);
    }
    std::free(parsed.stderr_buffer);  // NOLINT(cppcoreguidelines-no-malloc): as the library made it
    pg_query_exit_memory_context(context);
    packed_.close();
    refusal = memory.refusal();
  }
  if (refusal) std::rethrow_exception(refusal);
  if (!fits) throw_stack_too_deep();
  if (packed_.outcome() == PackedTree::Outcome::out_of_memory) throw std::bad_alloc{};
  if (packed_.outcome() == PackedTree::Outcome::unknown_field) {
    throw SqlError{sqlstate::internal_error, "the parser made a node of no known kind"};
  }
  share_.set(account, packed_.held_bytes());
}

void SyntaxTree::check_stack_to_read_back() const {
  // 1.9 KB for a level that took 80 bytes, and more for what then walks over it.
  constexpr std::size_t kReadingFactor = 28;
  constexpr std::size_t kAtLeast = std::size_t{64} << 10;
  if (!stack_has(stack_used_ * kReadingFactor + kAtLeast)) throw_stack_too_deep();
}

}  // namespace swizzle::sql
