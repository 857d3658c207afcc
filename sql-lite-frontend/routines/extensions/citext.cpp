// citext: the type is types/extension/citext.h.
#include "sql-lite-frontend/types/extension/citext.h"

#include <array>
#include <functional>

#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/functions/hash_entries.h"

namespace swizzle::sql {
namespace {

/// Returns the operands' type, which determines the collation.
TypeId type_of(const FunctionContext& context) {
  return context.call.arguments.empty() ? kCitextType : context.call.arguments[0];
}
int compared(const FunctionContext& context, std::span<const Value> a) {
  const TypeId type = type_of(context);
  return is_collated(type) ? compare_function(type)(a[0], a[1]) : compare_citext(a[0], a[1]);
}
std::string folded(const FunctionContext& context, const Value& value) {
  const TypeId type = type_of(context);
  return is_collated(type) ? folded_citext(value, collation_of_type(type))
                           : lowered(value.as_text());
}

template <class Test>
Value test_citexts(FunctionContext& context, std::span<const Value> a) {
  return Value::from_bool(Test{}(compared(context, a), 0));
}
/// Compares byte by byte, ignoring case, for citext_pattern_ops.
template <class Test>
Value compare_pattern(FunctionContext& context, std::span<const Value> a) {
  return Value::from_bool(Test{}(folded(context, a[0]), folded(context, a[1])));
}
Value order_of_patterns(FunctionContext& context, std::span<const Value> a) {
  const int by = folded(context, a[0]).compare(folded(context, a[1]));
  return Value::from_int(static_cast<int>(by > 0) - static_cast<int>(by < 0));
}

/// Returns a negative number, 0, or a positive number.
Value difference_of_citexts(FunctionContext& context, std::span<const Value> a) {
  return Value::from_int(compared(context, a));
}
Value larger_citext(FunctionContext& context, std::span<const Value> a) {
  return compared(context, a) > 0 ? a[0] : a[1];
}
Value smaller_citext(FunctionContext& context, std::span<const Value> a) {
  return compared(context, a) < 0 ? a[0] : a[1];
}

Value hashed_citext(FunctionContext& context, std::span<const Value> a) {
  const std::string text = folded(context, a[0]);
  const std::array folded_only{Value::from_text(text)};
  return hashed<hash_of_text>(context, folded_only);
}
Value hashed_citext_with_seed(FunctionContext& context, std::span<const Value> a) {
  const std::string text = folded(context, a[0]);
  const std::array with_seed{Value::from_text(text), a[1]};
  return hashed_with_seed<hash_of_text>(context, with_seed);
}

constexpr ScalarEntry kCitextFunctions[] = {
    {"citext_eq", &test_citexts<std::equal_to<>>},
    {"citext_ne", &test_citexts<std::not_equal_to<>>},
    {"citext_lt", &test_citexts<std::less<>>},
    {"citext_le", &test_citexts<std::less_equal<>>},
    {"citext_gt", &test_citexts<std::greater<>>},
    {"citext_ge", &test_citexts<std::greater_equal<>>},
    {"citext_cmp", &difference_of_citexts},
    {"citext_pattern_lt", &compare_pattern<std::less<>>},
    {"citext_pattern_le", &compare_pattern<std::less_equal<>>},
    {"citext_pattern_gt", &compare_pattern<std::greater<>>},
    {"citext_pattern_ge", &compare_pattern<std::greater_equal<>>},
    {"citext_pattern_cmp", &order_of_patterns},
    {"citext_hash", &hashed_citext},
    {"citext_hash_extended", &hashed_citext_with_seed},
    {"citext_larger", &larger_citext},
    {"citext_smaller", &smaller_citext},
};

constexpr std::string_view kCitextScript = R"SQL(
CREATE FUNCTION citext(bpchar) RETURNS citext
  AS 'text' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext(boolean) RETURNS citext
  AS 'text' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext(inet) RETURNS citext
  AS 'text' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (citext AS varchar) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (citext AS bpchar) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (text AS citext) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS citext) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (bpchar AS citext) WITH FUNCTION citext(bpchar) AS ASSIGNMENT;
CREATE CAST (boolean AS citext) WITH FUNCTION citext(boolean) AS ASSIGNMENT;
CREATE CAST (inet AS citext) WITH FUNCTION citext(inet) AS ASSIGNMENT;
CREATE FUNCTION citext_eq(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_ne(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_lt(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_le(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_gt(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_ge(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR = (leftarg = citext, rightarg = citext, function = citext_eq, commutator = =,
  negator = <>, restrict = eqsel, join = eqjoinsel, hashes, merges);
CREATE OPERATOR <> (leftarg = citext, rightarg = citext, function = citext_ne, commutator = <>,
  negator = =, restrict = neqsel, join = neqjoinsel);
CREATE OPERATOR < (leftarg = citext, rightarg = citext, function = citext_lt, commutator = >,
  negator = >=, restrict = scalarltsel, join = scalarltjoinsel);
CREATE OPERATOR <= (leftarg = citext, rightarg = citext, function = citext_le, commutator = >=,
  negator = >, restrict = scalarlesel, join = scalarlejoinsel);
CREATE OPERATOR >= (leftarg = citext, rightarg = citext, function = citext_ge, commutator = <=,
  negator = <, restrict = scalargesel, join = scalargejoinsel);
CREATE OPERATOR > (leftarg = citext, rightarg = citext, function = citext_gt, commutator = <,
  negator = <=, restrict = scalargtsel, join = scalargtjoinsel);
CREATE FUNCTION citext_cmp(citext, citext) RETURNS int4
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_hash(citext) RETURNS int4
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_hash_extended(citext, int8) RETURNS int8
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_smaller(citext, citext) RETURNS citext
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_larger(citext, citext) RETURNS citext
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(citext) (sfunc = citext_smaller, stype = citext, sortop = <, parallel = safe);
CREATE AGGREGATE max(citext) (sfunc = citext_larger, stype = citext, sortop = >, parallel = safe);
CREATE FUNCTION citext_pattern_lt(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_le(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_gt(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_ge(citext, citext) RETURNS bool
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION citext_pattern_cmp(citext, citext) RETURNS int4
  AS '$libdir/citext' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR ~<~ (leftarg = citext, rightarg = citext, function = citext_pattern_lt,
  negator = ~>=~, commutator = ~>~, restrict = scalarltsel, join = scalarltjoinsel);
CREATE OPERATOR ~<=~ (leftarg = citext, rightarg = citext, function = citext_pattern_le,
  negator = ~>~, commutator = ~>=~, restrict = scalarltsel, join = scalarltjoinsel);
CREATE OPERATOR ~>=~ (leftarg = citext, rightarg = citext, function = citext_pattern_ge,
  negator = ~<~, commutator = ~<=~, restrict = scalargtsel, join = scalargtjoinsel);
CREATE OPERATOR ~>~ (leftarg = citext, rightarg = citext, function = citext_pattern_gt,
  negator = ~<=~, commutator = ~<~, restrict = scalargtsel, join = scalargtjoinsel);
CREATE FUNCTION texticlike(citext, citext) RETURNS bool
  AS 'texticlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticnlike(citext, citext) RETURNS bool
  AS 'texticnlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexeq(citext, citext) RETURNS bool
  AS 'texticregexeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexne(citext, citext) RETURNS bool
  AS 'texticregexne' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticlike(citext, text) RETURNS bool
  AS 'texticlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticnlike(citext, text) RETURNS bool
  AS 'texticnlike' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexeq(citext, text) RETURNS bool
  AS 'texticregexeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION texticregexne(citext, text) RETURNS bool
  AS 'texticregexne' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE OPERATOR ~ (leftarg = citext, rightarg = citext, function = texticregexeq, negator = !~,
  restrict = icregexeqsel, join = icregexeqjoinsel);
CREATE OPERATOR ~* (leftarg = citext, rightarg = citext, function = texticregexeq, negator = !~*,
  restrict = icregexeqsel, join = icregexeqjoinsel);
CREATE OPERATOR !~ (leftarg = citext, rightarg = citext, function = texticregexne, negator = ~,
  restrict = icregexnesel, join = icregexnejoinsel);
CREATE OPERATOR !~* (leftarg = citext, rightarg = citext, function = texticregexne, negator = ~*,
  restrict = icregexnesel, join = icregexnejoinsel);
CREATE OPERATOR ~~ (leftarg = citext, rightarg = citext, function = texticlike, negator = !~~,
  restrict = iclikesel, join = iclikejoinsel);
CREATE OPERATOR ~~* (leftarg = citext, rightarg = citext, function = texticlike, negator = !~~*,
  restrict = iclikesel, join = iclikejoinsel);
CREATE OPERATOR !~~ (leftarg = citext, rightarg = citext, function = texticnlike, negator = ~~,
  restrict = icnlikesel, join = icnlikejoinsel);
CREATE OPERATOR !~~* (leftarg = citext, rightarg = citext, function = texticnlike, negator = ~~*,
  restrict = icnlikesel, join = icnlikejoinsel);
CREATE OPERATOR ~ (leftarg = citext, rightarg = text, function = texticregexeq, negator = !~,
  restrict = icregexeqsel, join = icregexeqjoinsel);
CREATE OPERATOR ~* (leftarg = citext, rightarg = text, function = texticregexeq, negator = !~*,
  restrict = icregexeqsel, join = icregexeqjoinsel);
CREATE OPERATOR !~ (leftarg = citext, rightarg = text, function = texticregexne, negator = ~,
  restrict = icregexnesel, join = icregexnejoinsel);
CREATE OPERATOR !~* (leftarg = citext, rightarg = text, function = texticregexne, negator = ~*,
  restrict = icregexnesel, join = icregexnejoinsel);
CREATE OPERATOR ~~ (leftarg = citext, rightarg = text, function = texticlike, negator = !~~,
  restrict = iclikesel, join = iclikejoinsel);
CREATE OPERATOR ~~* (leftarg = citext, rightarg = text, function = texticlike, negator = !~~*,
  restrict = iclikesel, join = iclikejoinsel);
CREATE OPERATOR !~~ (leftarg = citext, rightarg = text, function = texticnlike, negator = ~~,
  restrict = icnlikesel, join = icnlikejoinsel);
CREATE OPERATOR !~~* (leftarg = citext, rightarg = text, function = texticnlike, negator = ~~*,
  restrict = icnlikesel, join = icnlikejoinsel);
CREATE FUNCTION regexp_match(citext, citext) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_match($1::text, $2::text, 'i') $$;
CREATE FUNCTION regexp_match(citext, citext, text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_match($1::text, $2::text,
    CASE WHEN $3 LIKE '%c%' THEN $3 ELSE $3 || 'i' END) $$;
CREATE FUNCTION regexp_matches(citext, citext) RETURNS SETOF text[] LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE ROWS 1 AS $$ SELECT pg_catalog.regexp_matches($1::text, $2::text, 'i') $$;
CREATE FUNCTION regexp_matches(citext, citext, text) RETURNS SETOF text[] LANGUAGE sql IMMUTABLE
  STRICT PARALLEL SAFE ROWS 10 AS $$ SELECT pg_catalog.regexp_matches($1::text, $2::text,
    CASE WHEN $3 LIKE '%c%' THEN $3 ELSE $3 || 'i' END) $$;
CREATE FUNCTION regexp_replace(citext, citext, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_replace($1::text, $2::text, $3, 'i') $$;
CREATE FUNCTION regexp_replace(citext, citext, text, text) RETURNS text LANGUAGE sql IMMUTABLE
  STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_replace($1::text, $2::text, $3,
    CASE WHEN $4 LIKE '%c%' THEN $4 ELSE $4 || 'i' END) $$;
CREATE FUNCTION regexp_split_to_array(citext, citext) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_split_to_array($1::text, $2::text, 'i') $$;
CREATE FUNCTION regexp_split_to_array(citext, citext, text) RETURNS text[] LANGUAGE sql IMMUTABLE
  STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_split_to_array($1::text, $2::text,
    CASE WHEN $3 LIKE '%c%' THEN $3 ELSE $3 || 'i' END) $$;
CREATE FUNCTION regexp_split_to_table(citext, citext) RETURNS SETOF text LANGUAGE sql IMMUTABLE
  STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_split_to_table($1::text, $2::text, 'i') $$;
CREATE FUNCTION regexp_split_to_table(citext, citext, text) RETURNS SETOF text LANGUAGE sql
  IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_split_to_table($1::text, $2::text,
    CASE WHEN $3 LIKE '%c%' THEN $3 ELSE $3 || 'i' END) $$;
CREATE FUNCTION strpos(citext, citext) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT pg_catalog.strpos(pg_catalog.lower($1::text), pg_catalog.lower($2::text)) $$;
CREATE FUNCTION replace(citext, citext, citext) RETURNS text LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.regexp_replace($1::text,
    pg_catalog.regexp_replace($2::text, '([^a-zA-Z_0-9])', E'\\\\\\1', 'g'), $3::text, 'gi') $$;
CREATE FUNCTION split_part(citext, citext, int) RETURNS text LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT (pg_catalog.regexp_split_to_array($1::text,
    pg_catalog.regexp_replace($2::text, '([^a-zA-Z_0-9])', E'\\\\\\1', 'g'), 'i'))[$3] $$;
CREATE FUNCTION translate(citext, citext, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT
  PARALLEL SAFE AS $$ SELECT pg_catalog.translate(pg_catalog.translate($1::text,
    pg_catalog.lower($2::text), $3), pg_catalog.upper($2::text), $3) $$;
)SQL";

constexpr TypeId kCitextTypes[] = {kCitextType};

}  // namespace

const BundledExtension& citext_extension() {
  static constexpr BundledExtension kExtension{
      .name = "citext",
      .version = "1.6",
      .comment = "data type for case-insensitive character strings",
      .types = kCitextTypes,
      .script = kCitextScript,
      .scalars = kCitextFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
