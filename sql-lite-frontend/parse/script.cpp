#include "sql-lite-frontend/script.h"

#include <new>
#include <string>

#include "sql-lite-frontend/parse/parser.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

std::string_view statement_after(std::string_view script, std::size_t others) {
  // One statement, as nearly always, and then at most a semicolon.
  if (script.find(';') >= script.find_last_not_of("; \t\r\n")) return script;
  try {
    return for_bytes(script.size(), [&] {
      Arena arena;
      const auto statements = parse_script(arena, std::string{script});
      return others < statements.size() ? statement_text(script, *statements[others]) : script;
    });
  } catch (const SqlError&) {
    return script;
  } catch (const std::bad_alloc&) {
    return script;
  }
}

}  // namespace swizzle::sql
