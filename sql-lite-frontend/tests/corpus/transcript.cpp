#include "sql-lite-frontend/tests/corpus/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql::corpus {
namespace {

constexpr std::uint32_t kFirstUserType = 16384;

std::string type_name(std::uint32_t oid, std::int32_t modifier) {
  // Numbers of user-defined types differ in each run, so show none.
  std::string name = is_built_in(TypeId{oid}) ? std::string{type_info(TypeId{oid}).name}
                     : oid >= kFirstUserType  ? "user-defined"
                                              : std::to_string(oid);
  if (modifier != kNoTypmod) name += fmt::format("({})", modifier);
  return name;
}

/// Escapes line breaks, and in a text that has any also backslashes, so that it fits on one line.
std::string on_one_line(std::string_view text) {
  if (text.find_first_of("\r\n") == std::string_view::npos) return std::string{text};
  std::string line;
  for (const char letter : text) {
    if (letter == '\\') {
      line += "\\\\";
    } else if (letter == '\n') {
      line += "\\n";
    } else if (letter == '\r') {
      line += "\\r";
    } else {
      line += letter;
    }
  }
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

void Transcript::flush_rows() {
  if (request_.unordered) std::ranges::sort(rows_);
  for (std::string& row : rows_) lines_.push_back(std::move(row));
  rows_.clear();
}

void Transcript::parameter_description(std::span<const std::uint32_t> type_oids) {
  std::string text = "? ";
  for (const std::uint32_t oid : type_oids) {
    if (text.size() > 2) text += ", ";
    text += type_name(oid, kNoTypmod);
  }
  lines_.push_back(std::move(text));
}

void Transcript::row_description(std::span<const OutputColumn> columns) {
  flush_rows();
  std::string text;
  for (const OutputColumn& column : columns) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", column.name, type_name(column.type_oid, column.type_modifier));
  }
  described_ = lines_.size();
  lines_.push_back(": " + on_one_line(text));
}

void Transcript::data_row(const OutputRow& row) {
  described_.reset();
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += '|';
    text += row.text(i).value_or("(null)");
  }
  rows_.push_back("  " + on_one_line(text));
}

void Transcript::command_complete(std::string_view tag) {
  flush_rows();
  lines_.push_back(fmt::format("= {}", tag));
}

void Transcript::copy_out_end() {
  for (const std::string_view line : lines_of(copied_)) {
    rows_.push_back("  " + on_one_line(line));
  }
}

std::expected<std::optional<Bytes>, Diagnostic> Transcript::copy_in_data() {
  if (std::exchange(copy_sent_, true)) return std::optional<Bytes>{};
  return std::optional{as_bytes(request_.copy_data)};
}

void Transcript::add(std::string_view prefix, const Diagnostic& diagnostic) {
  const auto line = [&](std::string text) {
    lines_.push_back(std::string{prefix} + std::move(text));
  };
  const std::string severity = diagnostic.severity == Severity::error
                                   ? std::string{}
                                   : fmt::format("{} ", severity_name(diagnostic.severity));
  line(fmt::format("{}{} {}", severity, diagnostic.state.code(), on_one_line(diagnostic.message)));
  const auto field = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) line(fmt::format("  {}: {}", name, on_one_line(value)));
  };
  field("DETAIL", diagnostic.detail);
  field("HINT", diagnostic.hint);
  if (diagnostic.position != 0) field("POSITION", std::to_string(diagnostic.position));
  field("CONTEXT", on_one_line(diagnostic.where));
  field("SCHEMA", diagnostic.schema);
  field("TABLE", diagnostic.table);
  field("COLUMN", diagnostic.column);
  field("TYPE", diagnostic.datatype);
  field("CONSTRAINT", diagnostic.constraint);
}

void Transcript::notice(const Diagnostic& diagnostic) {
  flush_rows();
  add("~ ", diagnostic);
}

void Transcript::error(const Diagnostic& diagnostic) {
  flush_rows();
  if (described_) lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(*described_));
  add("! ", diagnostic);
}

std::string Transcript::take() && {
  flush_rows();
  std::string text;
  for (const std::string_view line : lines_of(request_.text)) text += fmt::format("> {}\n", line);
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

namespace {

Outcome run_extended(Session& session, const Request& request, Transcript& transcript) {
  if (Outcome parsed = session.parse("", request.text, {}, transcript); !parsed) return parsed;
  if (Outcome described = session.describe_statement("", transcript); !described) return described;
  std::vector<std::optional<Bytes>> values;
  for (const auto& value : *request.parameters) {
    values.push_back(value ? std::optional{as_bytes(*value)} : std::nullopt);
  }
  if (Outcome bound = session.bind({"", "", {}, values, {}}, transcript); !bound) return bound;
  return session.execute("", 0, transcript);
}

}  // namespace

std::string run(Session& session, const Request& request) {
  Transcript transcript{request};
  Outcome outcome;
  if (request.parameters) {
    outcome = run_extended(session, request, transcript);
    const Outcome synced = session.sync(transcript);
    if (outcome && !synced) outcome = synced;
  } else {
    outcome = session.simple_query(request.text, transcript);
  }
  if (!outcome) transcript.error(outcome.error());
  return std::move(transcript).take();
}

}  // namespace swizzle::sql::corpus
