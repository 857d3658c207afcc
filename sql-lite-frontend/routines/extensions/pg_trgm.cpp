// pg_trgm: similarity of texts by their trigrams. GiST operator classes are not supported; the one
// for GIN is in types/inverted.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/trigrams.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
float share(std::size_t common, std::size_t left, std::size_t right) {
  const std::size_t all = left + right - common;
  return all == 0 ? 0 : static_cast<float>(common) / static_cast<float>(all);
}

float similarity(std::string_view left, std::string_view right) {
  const std::vector<Trigram> one = each_once(trigrams_of(left).list);
  const std::vector<Trigram> other = each_once(trigrams_of(right).list);
  if (one.empty() || other.empty()) return 0;
  std::size_t common = 0;
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end();) {
    if (*a == *b) {
      ++common;
      ++a;
      ++b;
    } else if (*a < *b) {
      ++a;
    } else {
      ++b;
    }
  }
  return share(common, one.size(), other.size());
}

enum class Extent : std::uint8_t { any, whole_words };

/// Trigrams of the second text by number, and a flag for those that the first text has too.
struct Numbered {
  std::vector<std::size_t> numbers;
  std::vector<bool> is_common;
};
Numbered number_trigrams(const std::vector<Trigram>& wanted, const std::vector<Trigram>& list) {
  const std::vector<Trigram> known = each_once(list);
  Numbered out;
  out.is_common.resize(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    out.is_common[i] = std::ranges::binary_search(wanted, known[i]);
  }
  for (const Trigram& one : list) {
    const auto place = std::ranges::lower_bound(known, one);
    out.numbers.push_back(static_cast<std::size_t>(place - known.begin()));
  }
  return out;
}

/// Returns the similarity of the first text to the most similar part of the second.
float word_similarity(std::string_view word, std::string_view text, Extent extent) {
  const std::vector<Trigram> wanted = each_once(trigrams_of(word).list);
  const Trigrams all = trigrams_of(text);
  if (wanted.empty() || all.list.empty()) return 0;
  const Numbered numbered = number_trigrams(wanted, all.list);
  std::vector<std::size_t> seen(numbered.is_common.size(), 0);
  std::vector<bool> ends(all.list.size() + 1, extent == Extent::any);
  std::vector<std::size_t> starts = all.word_starts;
  if (extent == Extent::any) {
    starts.clear();
    for (std::size_t i = 0; i < all.list.size(); ++i) starts.push_back(i);
  } else {
    for (const std::size_t start : all.word_starts) ends[start] = true;
    ends[all.list.size()] = true;
  }
  float best = 0;
  std::size_t round = 0;
  for (const std::size_t start : starts) {
    // The best part begins with a common trigram.
    if (extent == Extent::any && !numbered.is_common[numbered.numbers[start]]) continue;
    ++round;
    std::size_t common = 0;
    std::size_t different = 0;
    for (std::size_t i = start; i < all.list.size(); ++i) {
      constexpr std::size_t kWorkOfStep = 2;
      yield_point(kWorkOfStep);
      const std::size_t number = numbered.numbers[i];
      if (seen[number] != round) {
        seen[number] = round;
        ++different;
        if (numbered.is_common[number]) ++common;
      }
      if (ends[i + 1]) best = std::max(best, share(common, wanted.size(), different));
      // No longer extent can be better, even if it contained all wanted trigrams.
      if (share(wanted.size(), wanted.size(), std::max(different, wanted.size())) <= best) break;
    }
  }
  return best;
}

Value real(float number) {
  return Value::from_float4(number);
}

struct Threshold {
  std::string_view setting;
  float usual;
};
constexpr Threshold kSimilarity{"pg_trgm.similarity_threshold", 0.3F};
constexpr Threshold kWordSimilarity{"pg_trgm.word_similarity_threshold", 0.6F};
constexpr Threshold kStrictSimilarity{"pg_trgm.strict_word_similarity_threshold", 0.5F};

float threshold(const FunctionContext& context, const Threshold& of) {
  const StatementContext* const session = SessionNames::context_of(context.session);
  if (session == nullptr) return of.usual;
  const auto shown = session->settings.show(of.setting);
  if (!shown || shown->empty()) return of.usual;
  return std::strtof(shown->c_str(), nullptr);
}

Value similarity_of(FunctionContext& /*context*/, Arguments a) {
  return real(similarity(a[0].as_text(), a[1].as_text()));
}
Value similarity_distance(FunctionContext& /*context*/, Arguments a) {
  return real(1 - similarity(a[0].as_text(), a[1].as_text()));
}
Value is_similar(FunctionContext& context, Arguments a) {
  return Value::from_bool(similarity(a[0].as_text(), a[1].as_text()) >=
                          threshold(context, kSimilarity));
}

/// The word is the first argument; for commutators, the second.
template <Extent extent, std::size_t word>
float words(Arguments a) {
  return word_similarity(a[word].as_text(), a[1 - word].as_text(), extent);
}
template <Extent extent, std::size_t word>
Value word_share(FunctionContext& /*context*/, Arguments a) {
  return real(words<extent, word>(a));
}
template <Extent extent, std::size_t word>
Value word_distance(FunctionContext& /*context*/, Arguments a) {
  return real(1 - words<extent, word>(a));
}
template <Extent extent, std::size_t word>
Value is_word_similar(FunctionContext& context, Arguments a) {
  const Threshold& least = extent == Extent::any ? kWordSimilarity : kStrictSimilarity;
  return Value::from_bool(words<extent, word>(a) >= threshold(context, least));
}

Value show_trgm(FunctionContext& context, Arguments a) {
  const std::vector<Trigram> list = each_once(trigrams_of(a[0].as_text()).list);
  std::vector<Value> values;
  for (const Trigram& one : list) {
    values.push_back(
        Value::from_text(context.arena.copy(std::string_view{one.data(), one.size()})));
  }
  return make_array(context.arena, TypeId::text, values);
}

Value show_limit(FunctionContext& context, Arguments /*a*/) {
  return real(threshold(context, kSimilarity));
}
Value set_limit(FunctionContext& context, Arguments a) {
  const float limit = a[0].as_float4();
  if (!(limit >= 0 && limit <= 1)) {
    throw_error(sqlstate::invalid_parameter_value,
                "{} is outside the valid range for parameter \"{}\" (0 .. 1)", limit,
                kSimilarity.setting);
  }
  if (auto* const names = dynamic_cast<SessionNames*>(context.session.names.raw())) {
    names->set_setting(kSimilarity.setting, fmt::format("{}", limit));
  }
  return a[0];
}

constexpr ScalarEntry kTrigramFunctions[] = {
    {"similarity", &similarity_of},
    {"similarity_dist", &similarity_distance},
    {"similarity_op", &is_similar},
    {"word_similarity", &word_share<Extent::any, 0>},
    {"word_similarity_op", &is_word_similar<Extent::any, 0>},
    {"word_similarity_commutator_op", &is_word_similar<Extent::any, 1>},
    {"word_similarity_dist_op", &word_distance<Extent::any, 0>},
    {"word_similarity_dist_commutator_op", &word_distance<Extent::any, 1>},
    {"strict_word_similarity", &word_share<Extent::whole_words, 0>},
    {"strict_word_similarity_op", &is_word_similar<Extent::whole_words, 0>},
    {"strict_word_similarity_commutator_op", &is_word_similar<Extent::whole_words, 1>},
    {"strict_word_similarity_dist_op", &word_distance<Extent::whole_words, 0>},
    {"strict_word_similarity_dist_commutator_op", &word_distance<Extent::whole_words, 1>},
    {"show_trgm", &show_trgm},
    {"show_limit", &show_limit},
    {"set_limit", &set_limit},
};

constexpr std::string_view kTrigramScript = R"SQL(
CREATE FUNCTION set_limit(float4) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c STRICT PARALLEL UNSAFE;
CREATE FUNCTION show_limit() RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION show_trgm(text) RETURNS text[]
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity_op(text, text) RETURNS bool
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION similarity_dist(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_op(text, text) RETURNS bool
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_commutator_op(text, text) RETURNS bool
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_dist_op(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION word_similarity_dist_commutator_op(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_op(text, text) RETURNS bool
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_commutator_op(text, text) RETURNS bool
  AS '$libdir/pg_trgm' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_dist_op(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strict_word_similarity_dist_commutator_op(text, text) RETURNS float4
  AS '$libdir/pg_trgm' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR % (leftarg = text, rightarg = text, function = similarity_op,
  commutator = %, restrict = matchingsel, join = matchingjoinsel);
CREATE OPERATOR <-> (leftarg = text, rightarg = text, function = similarity_dist,
  commutator = <->);
CREATE OPERATOR <% (leftarg = text, rightarg = text, function = word_similarity_op,
  commutator = %>, restrict = matchingsel, join = matchingjoinsel);
CREATE OPERATOR %> (leftarg = text, rightarg = text, function = word_similarity_commutator_op,
  commutator = <%, restrict = matchingsel, join = matchingjoinsel);
CREATE OPERATOR <<-> (leftarg = text, rightarg = text, function = word_similarity_dist_op,
  commutator = <->>);
CREATE OPERATOR <->> (leftarg = text, rightarg = text,
  function = word_similarity_dist_commutator_op, commutator = <<->);
CREATE OPERATOR <<% (leftarg = text, rightarg = text, function = strict_word_similarity_op,
  commutator = %>>, restrict = matchingsel, join = matchingjoinsel);
CREATE OPERATOR %>> (leftarg = text, rightarg = text,
  function = strict_word_similarity_commutator_op, commutator = <<%, restrict = matchingsel,
  join = matchingjoinsel);
CREATE OPERATOR <<<-> (leftarg = text, rightarg = text,
  function = strict_word_similarity_dist_op, commutator = <->>>);
CREATE OPERATOR <->>> (leftarg = text, rightarg = text,
  function = strict_word_similarity_dist_commutator_op, commutator = <<<->);
)SQL";

}  // namespace

const BundledExtension& pg_trgm_extension() {
  static constexpr BundledExtension kExtension{
      .name = "pg_trgm",
      .version = "1.6",
      .comment = "text similarity measurement and index searching based on trigrams",
      .script = kTrigramScript,
      .scalars = kTrigramFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
