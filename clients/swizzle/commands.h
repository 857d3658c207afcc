#pragma once

#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizzle::clients {

/// What stands before and after the command's name.
struct CommandLine {
  std::string connection;          ///< libpq's connection string; empty: as PGHOST etc. say
  std::vector<std::string> words;  ///< what follows the command
};

/// A word that cannot be understood: exit code 2 and a hint.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each returns the program's exit code. Throws UsageError, and pqxx's errors.
int run_sql(const CommandLine& line);
int run_load(const CommandLine& line);
int run_top(const CommandLine& line);
int run_verify(const CommandLine& line);
int run_backup(const CommandLine& line);
int run_restore(const CommandLine& line);

}  // namespace swizzle::clients
