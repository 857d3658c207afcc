#pragma once

#include <optional>
#include <string>
#include <vector>

namespace swizzle::clients {

// The commands of the program. Each returns the program's exit code and throws pqxx's errors.
// `connection` is libpq's connection string; PGHOST etc. complete it.

int run_sql(const std::string& connection, std::vector<std::string> scripts);

struct LoadOptions {
  std::string table;
  std::string file;
  char delimiter = ',';
  bool has_header = false;
};
int run_load(const std::string& connection, const LoadOptions& options);

struct TopOptions {
  double seconds = 1;
  std::optional<unsigned> turns;
};
int run_top(const std::string& connection, const TopOptions& options);

int run_verify(const std::string& connection, const std::vector<std::string>& tables);

/// `since` is an earlier backup of which the new one is an increment; empty: a full backup.
int run_backup(const std::string& connection, const std::string& directory,
               const std::string& since);

/// `options` are swizzle-backup's. `directories` are the backups, oldest first, and the directory
/// to be made.
int run_restore(const std::vector<std::string>& options,
                const std::vector<std::string>& directories);

}  // namespace swizzle::clients
