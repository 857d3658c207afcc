#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Scripts of statements and their answers as text, as scripts/sqldiff/script.py describes them.
namespace swizzle::sql::corpus {

struct Request {
  int line = 0;
  std::string text;
  bool unordered = false;
  /// Sent through Parse and Bind with these values; nullopt is NULL.
  std::optional<std::vector<std::optional<std::string>>> parameters;
  /// Database, if it is the first request of a new connection; empty: it is not.
  std::string connect;
  /// Reason why our answer is known to differ from PostgreSQL's; empty: it must not.
  std::string differs;
  std::string copy_data;
};

std::vector<Request> read_script(const std::filesystem::path& path);

/// The stored answers of a script, one text per request. Throws when there are more answers.
std::vector<std::string> read_answers(const std::filesystem::path& path,
                                      const std::vector<Request>& requests);
void write_answers(const std::filesystem::path& path, const std::string& heading,
                   const std::vector<std::string>& answers);

}  // namespace swizzle::sql::corpus
