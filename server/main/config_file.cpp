#include "server/main/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "server/session/descriptor.h"

namespace swizzle::server {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

/// Takes one line apart, from front to back.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.empty() || rest_.front() == '#';
  }
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string take_name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_character);
    return take_until(static_cast<std::size_t>(end - rest_.begin()));
  }
  std::string take_plain_value() {
    return take_until(std::min(rest_.find_first_of(" \t\r#"), rest_.size()));
  }
  /// After the opening quote. False: it is never closed.
  bool take_quoted_value(std::string& value) {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\'' && (rest_.empty() || rest_.front() != '\'')) return true;
      if ((c == '\'' || c == '\\') && !rest_.empty()) {
        value.push_back(rest_.front());
        rest_.remove_prefix(1);
      } else {
        value.push_back(c);
      }
    }
    return false;
  }

 private:
  std::string take_until(std::size_t end) {
    std::string taken{rest_.substr(0, end)};
    rest_.remove_prefix(end);
    return taken;
  }
  std::string_view rest_;
};

Error file_failure(std::string_view what, const std::string& path) {
  const SqlState state = errno == ENOENT ? sqlstate::undefined_file : sqlstate::io_error;
  return Error{state,
               fmt::format("could not {} file \"{}\": {}", what, path, std::strerror(errno))};
}

}  // namespace

Result<std::vector<Assignment>> parse_config(std::string_view text, std::string_view file_name) {
  std::vector<Assignment> assignments;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    LineReader line{text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.at_end()) continue;
    Assignment assignment{line.take_name(), {}, fmt::format("{}, line {}", file_name, number)};
    line.take('=');
    bool is_well_formed = !assignment.name.empty();
    if (line.take('\'')) {
      is_well_formed = line.take_quoted_value(assignment.value) && is_well_formed;
    } else {
      line.skip_blanks();
      assignment.value = line.take_plain_value();
      is_well_formed = !assignment.value.empty() && is_well_formed;
    }
    if (!is_well_formed || !line.at_end()) {
      return fail(sqlstate::config_file_error,
                  fmt::format("syntax error in {}", assignment.origin));
    }
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

std::string quote_config_value(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') quoted.push_back(c == '\'' ? '\'' : '\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

Result<std::string> read_text_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return fail(file_failure("open", path));
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_failure("read", path));
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

Result<> write_text_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  const Descriptor file{
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!file.is_open()) return fail(file_failure("create", temporary));
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(file_failure("write", temporary));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) return fail(file_failure("sync", temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(file_failure("rename", temporary));
  return {};
}

}  // namespace swizzle::server
