#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Scripts of statements, and their answers, in the text form described in
/// scripts/sqldiff/script.py.
namespace swizzle::sql::corpus {

struct Request {
  int line = 0;
  std::string text;
  bool unordered = false;
  /// Parameters, sent through Parse and Bind; nullopt is NULL.
  std::optional<std::vector<std::optional<std::string>>> parameters;
  /// Database of a new connection that begins with this request; empty: none begins.
  std::string connect;
  /// Reason for a known difference from PostgreSQL's answer; empty: there must be none.
  std::string differs;
  std::string copy_data;
};

std::vector<Request> read_script(const std::filesystem::path& path);

/// Returns the stored answers, one text per request. Throws if there are more answers than
/// requests.
std::vector<std::string> read_answers(const std::filesystem::path& path,
                                      const std::vector<Request>& requests);
void write_answers(const std::filesystem::path& path, const std::string& heading,
                   const std::vector<std::string>& answers);

}  // namespace swizzle::sql::corpus
