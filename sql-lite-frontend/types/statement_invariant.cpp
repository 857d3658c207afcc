#include "sql-lite-frontend/types/statement_invariant.h"

#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::detail {

void statement_fault(const char* condition, std::source_location at) {
  std::string_view file = at.file_name();
  if (const auto folder = file.find("sql-lite-frontend/"); folder != std::string_view::npos) {
    file.remove_prefix(folder);
  }
  throw_error(sqlstate::internal_error, "invariant violated at {}:{}: {}", file, at.line(),
              condition);
}

namespace {

/// Returns the type in "… [with T = const swizzle::sql::Table]", without its namespace.
std::string_view type_named(std::string_view function) noexcept {
  const auto begin = function.rfind("T = ");
  if (begin == std::string_view::npos) return function;
  std::string_view type = function.substr(begin + 4);
  type = type.substr(0, type.find_first_of("];"));
  return type.substr(type.rfind(':') + 1);
}

}  // namespace

void missing_fault(const char* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  // The program may be loaded anywhere; addr2line needs the offset from its load address.
  Dl_info program{};
  const bool is_known = ::dladdr(reinterpret_cast<void*>(address), &program) != 0;
  const auto base = is_known ? reinterpret_cast<std::uintptr_t>(program.dli_fbase) : 0;
  throw_error(sqlstate::internal_error, "a {} is missing, at address {:#x} of the program",
              type_named(function), address - base - 1);
}

}  // namespace swizzle::sql::detail
