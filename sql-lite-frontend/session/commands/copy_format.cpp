#include "sql-lite-frontend/session/commands/copy_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

namespace {

/// True if the text ends with a backslash that escapes the next character.
bool ends_with_escape(std::string_view text) {
  const std::size_t other = text.find_last_not_of('\\');
  const std::size_t backslashes = text.size() - (other == std::string_view::npos ? 0 : other + 1);
  return backslashes % 2 != 0;
}

}  // namespace

void require_copy_room(std::size_t held, std::size_t more) {
  constexpr std::size_t kMost = (std::size_t{1} << 30U) - 1;
  if (held + more <= kMost) return;
  throw SqlError{sqlstate::program_limit_exceeded, "out of memory"}.with_detail(fmt::format(
      "Cannot enlarge string buffer containing {} bytes by {} more bytes.", held, more));
}

void CopyReader::add(std::string_view data) {
  require_copy_room(buffer_.size() - position_, data.size());
  buffer_.append(data);
}

/// A line of text format, without its end. After a backslash, a line end is data.
std::optional<std::string_view> CopyReader::take_line() {
  std::size_t end = buffer_.find('\n', std::max(searched_, position_));
  const auto before = [&](std::size_t at) {
    return std::string_view{buffer_}.substr(position_, at - position_);
  };
  while (end != std::string::npos && ends_with_escape(before(end))) {
    end = buffer_.find('\n', end + 1);
  }
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (!at_end_ || position_ == buffer_.size()) return std::nullopt;
    const std::string_view rest = std::string_view{buffer_}.substr(position_);
    position_ = buffer_.size();
    return rest;
  }
  std::string_view line{buffer_.data() + position_, end - position_};
  position_ = searched_ = end + 1;
  if (line.ends_with('\r') && !ends_with_escape(line.substr(0, line.size() - 1))) {
    line.remove_suffix(1);
  }
  return line;
}

/// A CSV record, which ends at a line end outside quotes.
std::optional<std::string_view> CopyReader::take_csv_record() {
  std::size_t at = std::max(searched_, position_);
  for (; at < buffer_.size(); ++at) {
    const char letter = buffer_[at];
    if (in_quotes_ && letter == options_.escape && options_.escape != options_.quote) {
      if (at + 1 == buffer_.size() && !at_end_) break;
      ++at;
    } else if (letter == options_.quote) {
      in_quotes_ = !in_quotes_;
    } else if (letter == '\n' && !in_quotes_) {
      std::string_view record{buffer_.data() + position_, at - position_};
      position_ = searched_ = at + 1;
      if (record.ends_with('\r')) record.remove_suffix(1);
      return record;
    }
  }
  searched_ = at;
  if (!at_end_ || position_ == buffer_.size()) return std::nullopt;
  const std::string_view rest = std::string_view{buffer_}.substr(position_);
  if (in_quotes_) {
    record_ = rest;
    throw SqlError{sqlstate::bad_copy_file_format, "unterminated CSV quoted field"};
  }
  position_ = buffer_.size();
  return rest;
}

std::optional<std::span<const CopyReader::Field>> CopyReader::next() {
  if (ended_) return std::nullopt;
  if (position_ > (1U << 16U)) {
    buffer_.erase(0, position_);
    searched_ -= std::min(searched_, position_);
    position_ = 0;
  }
  record_.reset();
  const bool csv = options_.kind == CopyOptions::Kind::csv;
  const auto line = csv ? take_csv_record() : take_line();
  if (!line) return std::nullopt;
  // In CSV it is data, as in PostgreSQL since 18.
  if (!csv && *line == "\\.") {
    ended_ = true;
    return std::nullopt;
  }
  record_ = line;
  ++line_;
  fields_.clear();
  if (!csv && line->find('\\') == std::string_view::npos) {
    split_plain(*line);
    return fields_;
  }
  unescaped_.clear();
  pieces_.clear();
  if (csv) {
    split_csv(*line);
  } else {
    split_text(*line);
  }
  for (const Piece& piece : pieces_) {
    fields_.push_back({std::string_view{unescaped_}.substr(piece.begin, piece.size), piece.is_null,
                       piece.was_quoted, piece.is_default});
  }
  return fields_;
}

namespace {

int octal_digit(char letter) {
  return letter >= '0' && letter <= '7' ? letter - '0' : -1;
}
int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

/// The character after a backslash; advances `at` past the sequence.
char unescape(std::string_view text, std::size_t& at) {
  const char letter = text[at++];
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case 'x': {
      int value = 0;
      int digits = 0;
      while (digits < 2 && at < text.size() && hex_digit(text[at]) >= 0) {
        value = value * 16 + hex_digit(text[at++]);
        ++digits;
      }
      return digits == 0 ? 'x' : static_cast<char>(value);
    }
    default:
      break;
  }
  if (octal_digit(letter) < 0) return letter;
  int value = octal_digit(letter);
  for (int digits = 1; digits < 3 && at < text.size() && octal_digit(text[at]) >= 0; ++digits) {
    value = value * 8 + octal_digit(text[at++]);
  }
  return static_cast<char>(value);
}

}  // namespace

/// A line in which nothing is escaped: its fields stay where they are.
void CopyReader::split_plain(std::string_view line) {
  while (true) {
    const std::size_t end = line.find(options_.delimiter);
    const std::string_view field = line.substr(0, end);
    fields_.push_back({field, field == options_.null, false, field == options_.default_marker});
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

void CopyReader::split_text(std::string_view line) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t raw_begin = at;
    const std::size_t begin = unescaped_.size();
    while (at < line.size() && line[at] != options_.delimiter) {
      if (line[at] == '\\' && at + 1 < line.size()) {
        ++at;
        unescaped_ += unescape(line, at);
      } else {
        unescaped_ += line[at++];
      }
    }
    // The markers are compared before escapes are undone.
    const std::string_view raw = line.substr(raw_begin, at - raw_begin);
    pieces_.push_back({begin, unescaped_.size() - begin, raw == options_.null, false,
                       raw == options_.default_marker});
    if (at == line.size()) return;
    ++at;
  }
}

void CopyReader::split_csv(std::string_view line) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = unescaped_.size();
    bool was_quoted = false;
    bool in_quotes = false;
    while (at < line.size() && (in_quotes || line[at] != options_.delimiter)) {
      const char letter = line[at];
      if (in_quotes && letter == options_.escape && at + 1 < line.size() &&
          (line[at + 1] == options_.quote || line[at + 1] == options_.escape)) {
        unescaped_ += line[at + 1];
        at += 2;
      } else if (letter == options_.quote) {
        in_quotes = !in_quotes;
        was_quoted = true;
        ++at;
      } else {
        unescaped_ += letter;
        ++at;
      }
    }
    const std::string_view text{unescaped_.data() + begin, unescaped_.size() - begin};
    pieces_.push_back({begin, text.size(), !was_quoted && text == options_.null, was_quoted,
                       !was_quoted && text == options_.default_marker});
    if (at == line.size()) return;
    ++at;
  }
}

void append_copy_text(std::string& out, std::string_view value, const CopyOptions& options) {
  for (const char letter : value) {
    switch (letter) {
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (letter == options.delimiter) out += '\\';
        out += letter;
    }
  }
}

void append_copy_csv(std::string& out, std::string_view value, const CopyOptions& options,
                     bool force_quote, bool only_column) {
  const bool special = std::ranges::any_of(value, [&](char letter) {
    return letter == options.delimiter || letter == options.quote || letter == '\n' ||
           letter == '\r';
  });
  const bool end_marker = only_column && value == "\\.";
  if (!force_quote && !special && !end_marker && value != options.null) {
    out += value;
    return;
  }
  out += options.quote;
  for (const char letter : value) {
    if (letter == options.quote || letter == options.escape) out += options.escape;
    out += letter;
  }
  out += options.quote;
}

}  // namespace swizzle::sql
