#include "sql-lite-frontend/query/parse/syntax_tree.h"

#include <array>
#include <bit>
#include <csetjmp>

#include "sql-lite-frontend/query/parse/library_tree.h"
#include "sql-lite-frontend/types/check_stack.h"

extern "C" {
#include <lib/stringinfo.h>
#include <parser/parser.h>
#include <postgres_deparse.h>
}

namespace swizzle::sql {
namespace {

/// Unpacks an SQLSTATE: the library packs its five characters in six bits each.
SqlState unpacked_state(int packed) {
  std::array<char, 5> letters{};
  for (char& letter : letters) {
    letter = static_cast<char>((static_cast<unsigned>(packed) & 0x3fU) + '0');
    packed = static_cast<int>(static_cast<unsigned>(packed) >> 6U);
  }
  return std::bit_cast<SqlState>(letters);
}

std::string text_or_nothing(const char* said) {
  return said == nullptr ? std::string{} : std::string{said};
}

}  // namespace

SyntaxTree::Context::Context() : context(pg_query_enter_memory_context()) {}

SyntaxTree::Context::~Context() {
  pg_query_exit_memory_context(context);
}

bool SyntaxTree::run(auto work) {
  check_stack();
  volatile bool is_done = false;
  sigjmp_buf* const outer = PG_exception_stack;
  ErrorContextCallback* const callbacks = error_context_stack;
  sigjmp_buf here;
  MemoryContextSwitchTo(context_.context);
  memory_.begin();
  if (sigsetjmp(here, 0) == 0) {
    PG_exception_stack = &here;
    work();
    is_done = true;
  }
  LibraryMemory::end();
  PG_exception_stack = outer;
  error_context_stack = callbacks;
  MemoryContextSwitchTo(context_.context);
  if (!is_done && !memory_.refusal()) {
    const ErrorData& error = *CopyErrorData();
    error_ =
        SyntaxError{unpacked_state(error.sqlerrcode), text_or_nothing(error.message),
                    text_or_nothing(error.detail), text_or_nothing(error.hint), error.cursorpos};
  }
  if (!is_done) FlushErrorState();
  MemoryContextSwitchTo(TopMemoryContext);
  if (memory_.refusal()) std::rethrow_exception(memory_.refusal());
  return is_done;
}

SyntaxTree::SyntaxTree(const std::string& script, MemoryAccount* account) : memory_(account) {
  run([&] { statements_ = raw_parser(script.c_str(), RAW_PARSE_DEFAULT); });
}

ast::Items<ast::RawStmt> SyntaxTree::copy_to(Arena& arena) const {
  return ast::TreeCopy{arena}.statements(statements_);
}

std::string SyntaxTree::printed(void* statement) {
  // The library checks the stack only in expressions and queries, not everywhere it recurses.
  constexpr std::size_t kKilobytesPerLevel = 2;
  Arena copy;
  ast::TreeCopy tree{copy};
  tree.statements(statements_);
  check_stack_for(tree.levels() * kKilobytesPerLevel);

  ::RawStmt whole{};
  whole.type = T_RawStmt;
  whole.stmt = static_cast<::Node*>(statement);
  StringInfoData out{};
  const bool is_printed = run([&] {
    initStringInfo(&out);
    deparseRawStmt(&out, &whole);
  });
  return is_printed ? std::string{out.data, static_cast<std::size_t>(out.len)} : std::string{};
}

}  // namespace swizzle::sql
