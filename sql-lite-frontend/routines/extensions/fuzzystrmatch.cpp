// fuzzystrmatch: distances between texts, and codes of words by their sound.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/phonetics.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr std::size_t kMostLetters = 255;
constexpr SqlState kEmptyOutput{"2200F"};

Value text_of(FunctionContext& context, const std::string& text) {
  return Value::from_text(context.arena.copy(std::string_view{text}));
}

/// Costs of an edit.
struct Costs {
  std::int64_t insertion = 1;
  std::int64_t removal = 1;
  std::int64_t replacement = 1;
};
Costs costs_of(Arguments a) {
  return {a[2].as_int4(), a[3].as_int4(), a[4].as_int4()};
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  for (; !text.empty(); text.remove_prefix(utf8_length(text.front())))
    characters += decode_character(text);
  return characters;
}

/// Returns the least cost of the edits that make the one text the other.
std::int64_t distance(std::string_view from_text, std::string_view to_text, Costs costs) {
  const auto from_size = static_cast<std::int64_t>(count_characters(from_text));
  const auto to_size = static_cast<std::int64_t>(count_characters(to_text));
  if (from_size == 0) return to_size * costs.insertion;
  if (to_size == 0) return from_size * costs.removal;
  if (std::max(from_size, to_size) > std::int64_t{kMostLetters}) {
    throw_error(sqlstate::invalid_parameter_value,
                "levenshtein argument exceeds maximum length of {} characters", kMostLetters);
  }
  const std::u32string from = characters_of(from_text);
  const std::u32string to = characters_of(to_text);
  // Costs for the first characters of `from`, and those with one less of `to`.
  std::vector<std::int64_t> row(from.size() + 1);
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<std::int64_t>(i) * costs.removal;
  for (const char32_t wanted : to) {
    std::int64_t diagonal = row[0];
    row[0] += costs.insertion;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::int64_t replaced = diagonal + (from[i] == wanted ? 0 : costs.replacement);
      diagonal = row[i + 1];
      row[i + 1] = std::min({diagonal + costs.insertion, row[i] + costs.removal, replaced});
    }
  }
  return row.back();
}

Value as_int4(std::int64_t number) {
  if (number != static_cast<std::int32_t>(number))
    throw SqlError{sqlstate::numeric_value_out_of_range, "levenshtein distance out of range"};
  return Value::from_int(number);
}

Value levenshtein(FunctionContext& /*context*/, Arguments a) {
  return as_int4(distance(a[0].as_text(), a[1].as_text(), {}));
}
Value levenshtein_with_costs(FunctionContext& /*context*/, Arguments a) {
  return as_int4(distance(a[0].as_text(), a[1].as_text(), costs_of(a)));
}

/// A distance beyond `most` counts as the next one; a negative `most` is no bound.
Value bounded_distance(Arguments a, Costs costs, std::int64_t most) {
  const std::int64_t found = distance(a[0].as_text(), a[1].as_text(), costs);
  const bool has_edits = !a[0].as_text().empty() && !a[1].as_text().empty();
  return as_int4(most >= 0 && has_edits ? std::min(found, most + 1) : found);
}
Value levenshtein_less_equal(FunctionContext& /*context*/, Arguments a) {
  return bounded_distance(a, {}, a[2].as_int4());
}
Value levenshtein_less_equal_with_costs(FunctionContext& /*context*/, Arguments a) {
  return bounded_distance(a, costs_of(a), a[5].as_int4());
}

Value soundex_of(FunctionContext& context, Arguments a) {
  return text_of(context, soundex(a[0].as_text()));
}

/// Returns the number of letters and digits that two codes share, place by place.
Value difference(FunctionContext& /*context*/, Arguments a) {
  const std::string one = soundex(a[0].as_text());
  const std::string other = soundex(a[1].as_text());
  if (one.empty() || other.empty()) return Value::from_int(one == other ? 4 : 0);
  std::int64_t same = 0;
  for (std::size_t i = 0; i < one.size(); ++i) same += one[i] == other[i] ? 1 : 0;
  return Value::from_int(same);
}

Value metaphone_of(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  if (text.empty()) return a[0];
  if (text.size() > kMostLetters) {
    throw_error(sqlstate::invalid_parameter_value,
                "argument exceeds the maximum length of {} bytes", kMostLetters);
  }
  const std::int32_t most = a[1].as_int4();
  if (most > static_cast<std::int32_t>(kMostLetters)) {
    throw_error(sqlstate::invalid_parameter_value, "output exceeds the maximum length of {} bytes",
                kMostLetters);
  }
  if (most <= 0) throw SqlError{kEmptyOutput, "output cannot be empty string"};
  return text_of(context, metaphone(text, static_cast<std::size_t>(most)));
}

Value dmetaphone(FunctionContext& context, Arguments a) {
  return text_of(context, double_metaphone(a[0].as_text()).primary);
}
Value dmetaphone_alt(FunctionContext& context, Arguments a) {
  return text_of(context, double_metaphone(a[0].as_text()).secondary);
}

Value daitch_mokotoff_of(FunctionContext& context, Arguments a) {
  const std::vector<std::string> codes = daitch_mokotoff(a[0].as_text());
  if (codes.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::string& code : codes) values.push_back(text_of(context, code));
  return make_array(context.arena, TypeId::text, values);
}

constexpr ScalarEntry kFunctions[] = {
    {"levenshtein", &levenshtein},
    {"levenshtein_with_costs", &levenshtein_with_costs},
    {"levenshtein_less_equal", &levenshtein_less_equal},
    {"levenshtein_less_equal_with_costs", &levenshtein_less_equal_with_costs},
    {"soundex", &soundex_of},
    {"difference", &difference},
    {"metaphone", &metaphone_of},
    {"dmetaphone", &dmetaphone},
    {"dmetaphone_alt", &dmetaphone_alt},
    {"daitch_mokotoff", &daitch_mokotoff_of},
};

constexpr std::string_view kScript = R"SQL(
CREATE FUNCTION levenshtein(text, text) RETURNS int
  AS '$libdir/fuzzystrmatch', 'levenshtein' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION levenshtein(text, text, int, int, int) RETURNS int
  AS '$libdir/fuzzystrmatch', 'levenshtein_with_costs' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION levenshtein_less_equal(text, text, int) RETURNS int
  AS '$libdir/fuzzystrmatch', 'levenshtein_less_equal' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION levenshtein_less_equal(text, text, int, int, int, int) RETURNS int
  AS '$libdir/fuzzystrmatch', 'levenshtein_less_equal_with_costs'
  LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION metaphone(text, int) RETURNS text
  AS '$libdir/fuzzystrmatch', 'metaphone' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION soundex(text) RETURNS text
  AS '$libdir/fuzzystrmatch', 'soundex' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION text_soundex(text) RETURNS text
  AS '$libdir/fuzzystrmatch', 'soundex' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION difference(text, text) RETURNS int
  AS '$libdir/fuzzystrmatch', 'difference' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dmetaphone(text) RETURNS text
  AS '$libdir/fuzzystrmatch', 'dmetaphone' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dmetaphone_alt(text) RETURNS text
  AS '$libdir/fuzzystrmatch', 'dmetaphone_alt' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION daitch_mokotoff(text) RETURNS text[]
  AS '$libdir/fuzzystrmatch', 'daitch_mokotoff' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
)SQL";

}  // namespace

const BundledExtension& fuzzystrmatch_extension() {
  static constexpr BundledExtension kExtension{
      .name = "fuzzystrmatch",
      .version = "1.2",
      .comment = "determine similarities and distance between strings",
      .script = kScript,
      .scalars = kFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
