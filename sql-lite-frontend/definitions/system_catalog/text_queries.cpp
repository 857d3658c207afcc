// ts_stat() and ts_rewrite() over the rows of a query given as text.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/query_rows.h"
#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Refuses a query with other columns than so many of the type.
auto requiring(std::size_t columns, TypeId type, std::string_view refusal) {
  return [=](std::span<const OutputTarget> told) {
    const auto fits = [type](const OutputTarget& column) { return column.type == type; };
    if (told.size() != columns || !std::ranges::all_of(told, fits))
      throw SqlError{sqlstate::invalid_parameter_value, std::string{refusal}};
  };
}

/// Number of texts that contain a word, and number of its occurrences.
struct WordCount {
  std::int32_t texts = 0;
  std::int32_t places = 0;
};
using Counts = std::map<std::string_view, WordCount, std::less<>,
                        CountedAllocator<std::pair<const std::string_view, WordCount>>>;

/// A bit for each weight; letters that are none mean nothing.
unsigned weights_of(std::string_view letters) {
  unsigned wanted = 0;
  for (const char letter : letters) {
    const int upper = std::toupper(static_cast<unsigned char>(letter));
    if (upper >= 'A' && upper <= 'D') wanted |= 1U << static_cast<unsigned>('D' - upper);
  }
  return wanted;
}

std::int32_t places_counted(const WordPlaces& places, unsigned weights) {
  if (weights == 0) return places.empty() ? 1 : static_cast<std::int32_t>(places.size());
  std::int32_t count = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    count += static_cast<std::int32_t>((weights >> places[i].weight()) & 1U);
  return count;
}

std::unique_ptr<SetCursor> word_statistics(FunctionContext& context, Arguments a) {
  const unsigned weights = a.size() > 1 ? weights_of(a[1].as_text()) : 0;
  Counts counts{
      CountedAllocator<std::pair<const std::string_view, WordCount>>{context.arena.account()}};
  const auto check =
      requiring(1, builtin_id::tsvector, "ts_stat query must return one tsvector column");
  for_each_row_of(context_of(context), a[0].as_text(), RefusedQuery::as_cursor, check,
                  [&](std::span<const Value> row) {
                    if (row[0].is_null()) return;
                    const TextVectorView vector{row[0]};
                    for (std::size_t i = 0; i < vector.size(); ++i) {
                      const std::int32_t places = places_counted(vector.places(i), weights);
                      if (places == 0) continue;
                      auto known = counts.find(vector.word(i));
                      if (known == counts.end()) {
                        known = counts.try_emplace(context.arena.copy(vector.word(i))).first;
                      }
                      ++known->second.texts;
                      known->second.places += places;
                    }
                  });
  std::vector<Value> rows;
  rows.reserve(counts.size());
  constexpr TypeId kTypes[] = {TypeId::text, TypeId::int4, TypeId::int4};
  for (const auto& [word, count] : counts) {
    const Value fields[] = {Value::from_text(word), Value::from_int(count.texts),
                            Value::from_int(count.places)};
    rows.push_back(make_record(context.arena, kTypes, fields));
  }
  return rows_cursor(std::move(rows));
}

Value rewrite_by_rows(FunctionContext& context, Arguments a) {
  const auto with_three = std::ranges::find_if(
      functions_named("ts_rewrite"),
      [](const Function* function) { return function->arguments.size() == 3; });
  Value query = a[0];
  const auto check =
      requiring(2, builtin_id::tsquery, "ts_rewrite query must return two tsquery columns");
  for_each_row_of(context_of(context), a[1].as_text(), RefusedQuery::as_cursor, check,
                  [&](std::span<const Value> row) {
                    if (row[0].is_null() || row[1].is_null()) return;
                    const std::array parts{query, row[0].copy_to(context.arena),
                                           row[1].copy_to(context.arena)};
                    query = (*with_three)->scalar(context, parts).copy_to(context.arena);
                  });
  return query;
}

}  // namespace

void add_text_query_functions() {
  static constexpr ScalarEntry kScalars[] = {{"ts_rewrite(tsquery,text)", rewrite_by_rows}};
  static constexpr SetEntry kSets[] = {{"ts_stat(text)", word_statistics},
                                       {"ts_stat(text,text)", word_statistics}};
  static const bool is_added = (add_builtin_functions({.scalars = kScalars, .sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
