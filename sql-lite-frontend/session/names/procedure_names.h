#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

struct Function;

/// The function that regprocedure's text names with its argument types: "abs(integer)". Nothing
/// where there is none; 42704 for an unknown type, 22P02 for a text without parentheses.
std::optional<std::uint32_t> find_procedure(Session::State& session, std::string_view text);

/// "abs(integer)".
std::string procedure_name(const Function& function);

}  // namespace swizzle::sql
