#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/query/parse/printed_statement.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

// Where things are in the parser library's encoding.
constexpr std::uint32_t kViewStatement = 87;
constexpr std::uint32_t kViewQuery = 3;
constexpr std::uint32_t kCreateAsStatement = 94;
constexpr std::uint32_t kCreateAsQuery = 1;

/// The query of CREATE VIEW or CREATE MATERIALIZED VIEW.
std::optional<Bytes> query_in(Bytes statement) {
  if (const auto view = field_of(statement, kViewStatement)) return field_of(*view, kViewQuery);
  const auto create_as = field_of(statement, kCreateAsStatement);
  return create_as ? field_of(*create_as, kCreateAsQuery) : std::nullopt;
}

}  // namespace

std::string view_query_text(const Statement& whole) {
  const SyntaxTree parsed{whole.text()};
  std::string text;
  if (!parsed.error()) {
    const auto statement = statement_at(parsed, whole.location);
    const auto query = statement ? query_in(*statement) : std::nullopt;
    if (query) text = printed_statement(parsed, as_text(*query));
  }
  if (text.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "this view's query cannot be stored"};
  }
  return text;
}

}  // namespace swizzle::sql
