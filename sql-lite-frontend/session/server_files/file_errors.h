#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Returns the SQLSTATE that PostgreSQL has for a failed call on a file.
SqlState state_of_file_error(int error) noexcept;
/// Returns the error of a failed call on a file: `message` and the system's reason.
SqlError file_error(int error, std::string_view message);
/// Describes how a child process ended, by the status that waitpid() gave.
std::string end_of_child(int status);
/// True for one that a pipe without a reader has ended, or for the shell of such a one.
bool was_cut_off(int status) noexcept;

}  // namespace swizzle::sql
