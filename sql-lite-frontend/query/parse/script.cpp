#include "sql-lite-frontend/script.h"

#include <new>
#include <string>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

std::string_view statement_after(std::string_view script, std::size_t others) {
  // A tree takes a hundred times its text, and this one is charged to no account.
  constexpr std::size_t kLongest = std::size_t{64} << 10U;
  if (script.size() > kLongest) return script;
  // Nearly always there is one statement, with a semicolon at most.
  if (script.find(';') >= script.find_last_not_of("; \t\r\n")) return script;
  try {
    Arena arena;
    const auto statements = parse_script(arena, std::string{script});
    return others < statements.size() ? statement_text(script, *statements[others]) : script;
  } catch (const SqlError&) {
    return script;
  } catch (const std::bad_alloc&) {
    return script;
  }
}

}  // namespace swizzle::sql
