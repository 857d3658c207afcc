#include "sql-lite-frontend/tests/corpus/script.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace swizzle::sql::corpus {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char letter) {
    return std::isspace(static_cast<unsigned char>(letter));
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Reads a comment on a line of its own, which describes the request that follows.
void read_mark(std::string_view comment, Request& request) {
  comment = trimmed(comment.substr(2));
  const std::size_t colon = comment.find(':');
  const std::string_view word = comment.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view{} : trimmed(comment.substr(colon + 1));
  if (word == "unordered") request.unordered = true;
  if (word == "differs") request.differs = rest;
  if (word == "connect") request.connect = rest;
  if (word != "parameters") return;
  request.parameters.emplace();
  std::size_t at = 0;
  while (at <= rest.size()) {
    const std::size_t end = std::min(rest.find('|', at), rest.size());
    const std::string_view value = trimmed(rest.substr(at, end - at));
    if (value == "(null)") {
      request.parameters->emplace_back(std::nullopt);
    } else if (!value.empty()) {
      request.parameters->emplace_back(std::string{value});
    }
    at = end + 1;
  }
}

bool reads_copy_data(std::string_view text) {
  std::string lower;
  for (const char letter : trimmed(text)) {
    const auto code = static_cast<unsigned char>(letter);
    const char plain = std::isspace(code) ? ' ' : static_cast<char>(std::tolower(code));
    if (plain != ' ' || lower.empty() || lower.back() != ' ') lower += plain;
  }
  return lower.starts_with("copy ") && lower.contains(" from stdin");
}

}  // namespace

std::vector<Request> read_script(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::vector<Request> requests;
  Request request;
  std::string line;
  int number = 0;
  while (std::getline(file, line)) {
    ++number;
    if (request.text.empty()) {
      if (line.starts_with("--")) {
        read_mark(line, request);
        continue;
      }
      if (trimmed(line).empty()) continue;
      request.line = number;
    }
    if (!request.text.empty()) request.text += '\n';
    request.text += line;
    if (!trimmed(line).ends_with(';')) continue;
    if (reads_copy_data(request.text)) {
      while (std::getline(file, line) && ++number && line != "\\.") {
        request.copy_data += line + "\n";
      }
    }
    requests.push_back(std::move(request));
    request = {};
  }
  return requests;
}

std::vector<std::string> read_answers(const std::filesystem::path& path,
                                      const std::vector<Request>& requests) {
  std::ifstream file{path};
  std::vector<std::string> answers;
  std::string line;
  std::getline(file, line);  // the heading
  bool more = static_cast<bool>(std::getline(file, line));
  for (const Request& request : requests) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(request.text, '\n')) + 1;
    std::string answer;
    // The echo of the request, then everything up to the next echo.
    for (std::size_t i = 0; more && i < lines; ++i) {
      answer += line + "\n";
      more = static_cast<bool>(std::getline(file, line));
    }
    while (more && !line.starts_with(">")) {
      answer += line + "\n";
      more = static_cast<bool>(std::getline(file, line));
    }
    answers.push_back(std::move(answer));
  }
  if (more) throw std::runtime_error{path.string() + ": answers to no request from " + line};
  return answers;
}

void write_answers(const std::filesystem::path& path, const std::string& heading,
                   const std::vector<std::string>& answers) {
  std::ofstream file{path};
  file << heading << "\n";
  for (const std::string& answer : answers) file << answer;
  if (!file.flush()) throw std::runtime_error{path.string() + ": cannot be written"};
}

}  // namespace swizzle::sql::corpus
