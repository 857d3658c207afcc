#include "sql-lite-frontend/execute/identifiers.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Words that cannot stand as a column's name without quotes: all but the unreserved keywords.
constexpr std::array kKeywords = std::to_array<std::string_view>({
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization",
    "between", "bigint", "binary", "bit", "boolean", "both", "case", "cast", "char", "character",
    "check", "coalesce", "collate", "collation", "column", "concurrently", "constraint", "create",
    "cross", "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable", "desc",
    "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
    "for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having",
    "ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into",
    "is", "isnull", "join", "lateral", "leading", "least", "left", "like", "limit", "localtime",
    "localtimestamp", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
    "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps",
    "overlay", "placing", "position", "precision", "primary", "real", "references", "returning",
    "right", "row", "select", "session_user", "setof", "similar", "smallint", "some", "substring",
    "symmetric", "table", "tablesample", "then", "time", "timestamp", "to", "trailing", "treat",
    "trim", "true", "union", "unique", "user", "using", "values", "varchar", "variadic", "verbose",
    "when", "where", "window", "with", "xmlattributes", "xmlconcat", "xmlelement", "xmlexists",
    "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable",
});
static_assert(std::ranges::is_sorted(kKeywords));

bool is_plain(std::string_view name) {
  if (name.empty() || !(std::islower(static_cast<unsigned char>(name[0])) || name[0] == '_')) {
    return false;
  }
  return std::ranges::all_of(name, [](char letter) {
    return std::islower(static_cast<unsigned char>(letter)) ||
           std::isdigit(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$';
  });
}

std::string doubled(std::string_view text, char quote) {
  std::string out;
  for (const char letter : text) {
    out += letter;
    if (letter == quote) out += quote;
  }
  return out;
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  if (is_plain(name) && !std::ranges::binary_search(kKeywords, name)) return std::string{name};
  return '"' + doubled(name, '"') + '"';
}

std::string quote_literal(std::string_view text) {
  const std::string inner = doubled(text, '\'');
  if (!inner.contains('\\')) return "'" + inner + "'";
  return "E'" + doubled(inner, '\\') + "'";
}

std::vector<std::string> split_identifier(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  const auto malformed = [] {
    return SqlError{sqlstate::invalid_name, "invalid name syntax"};
  };
  const auto skip_blanks = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  };
  for (;;) {
    skip_blanks();
    std::string part;
    if (at < text.size() && text[at] == '"') {
      for (++at;; ++at) {
        if (at >= text.size()) throw malformed();
        if (text[at] == '"') {
          if (at + 1 < text.size() && text[at + 1] == '"') {
            ++at;
          } else {
            ++at;
            break;
          }
        }
        part += text[at];
      }
    } else {
      while (at < text.size() && text[at] != '.' &&
             !std::isspace(static_cast<unsigned char>(text[at]))) {
        part += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at++])));
      }
    }
    if (part.empty()) throw malformed();
    parts.push_back(std::move(part));
    skip_blanks();
    if (at == text.size()) return parts;
    if (text[at++] != '.') throw malformed();
  }
}

}  // namespace swizzle::sql
