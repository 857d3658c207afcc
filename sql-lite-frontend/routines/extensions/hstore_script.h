#pragma once

#include <string_view>

/// Objects that CREATE EXTENSION hstore creates besides the type.
namespace swizzle::sql {

inline constexpr std::string_view kHstoreScript = R"SQL(
CREATE FUNCTION fetchval(hstore, text) RETURNS text
  AS '$libdir/hstore', 'hstore_fetchval' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR -> (leftarg = hstore, rightarg = text, function = fetchval);
CREATE FUNCTION slice_array(hstore, text[]) RETURNS text[]
  AS '$libdir/hstore', 'hstore_slice_to_array' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR -> (leftarg = hstore, rightarg = text[], function = slice_array);
CREATE FUNCTION slice(hstore, text[]) RETURNS hstore
  AS '$libdir/hstore', 'hstore_slice_to_hstore' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION isexists(hstore, text) RETURNS bool
  AS '$libdir/hstore', 'hstore_exists' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION exist(hstore, text) RETURNS bool
  AS '$libdir/hstore', 'hstore_exists' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR ? (leftarg = hstore, rightarg = text, function = exist, restrict = matchingsel,
  join = matchingjoinsel);
CREATE FUNCTION exists_any(hstore, text[]) RETURNS bool
  AS '$libdir/hstore', 'hstore_exists_any' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR ?| (leftarg = hstore, rightarg = text[], function = exists_any,
  restrict = matchingsel, join = matchingjoinsel);
CREATE FUNCTION exists_all(hstore, text[]) RETURNS bool
  AS '$libdir/hstore', 'hstore_exists_all' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR ?& (leftarg = hstore, rightarg = text[], function = exists_all,
  restrict = matchingsel, join = matchingjoinsel);
CREATE FUNCTION isdefined(hstore, text) RETURNS bool
  AS '$libdir/hstore', 'hstore_defined' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION defined(hstore, text) RETURNS bool
  AS '$libdir/hstore', 'hstore_defined' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION delete(hstore, text) RETURNS hstore
  AS '$libdir/hstore', 'hstore_delete' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION delete(hstore, text[]) RETURNS hstore
  AS '$libdir/hstore', 'hstore_delete_array' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION delete(hstore, hstore) RETURNS hstore
  AS '$libdir/hstore', 'hstore_delete_hstore' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR - (leftarg = hstore, rightarg = text, function = delete);
CREATE OPERATOR - (leftarg = hstore, rightarg = text[], function = delete);
CREATE OPERATOR - (leftarg = hstore, rightarg = hstore, function = delete);
CREATE FUNCTION hs_concat(hstore, hstore) RETURNS hstore
  AS '$libdir/hstore', 'hstore_concat' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR || (leftarg = hstore, rightarg = hstore, function = hs_concat);
CREATE FUNCTION hs_contains(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_contains' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hs_contained(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_contained' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR @> (leftarg = hstore, rightarg = hstore, function = hs_contains,
  commutator = <@, restrict = matchingsel, join = matchingjoinsel);
CREATE OPERATOR <@ (leftarg = hstore, rightarg = hstore, function = hs_contained,
  commutator = @>, restrict = matchingsel, join = matchingjoinsel);
CREATE FUNCTION tconvert(text, text) RETURNS hstore
  AS '$libdir/hstore', 'hstore_from_text' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text, text) RETURNS hstore
  AS '$libdir/hstore', 'hstore_from_text' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text[], text[]) RETURNS hstore
  AS '$libdir/hstore', 'hstore_from_arrays' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore(text[]) RETURNS hstore
  AS '$libdir/hstore', 'hstore_from_array' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (text[] AS hstore) WITH FUNCTION hstore(text[]);
CREATE FUNCTION hstore_to_json(hstore) RETURNS json
  AS '$libdir/hstore', 'hstore_to_json' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (hstore AS json) WITH FUNCTION hstore_to_json(hstore);
CREATE FUNCTION hstore_to_json_loose(hstore) RETURNS json
  AS '$libdir/hstore', 'hstore_to_json_loose' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore_to_jsonb(hstore) RETURNS jsonb
  AS '$libdir/hstore', 'hstore_to_jsonb' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (hstore AS jsonb) WITH FUNCTION hstore_to_jsonb(hstore);
CREATE FUNCTION hstore_to_jsonb_loose(hstore) RETURNS jsonb
  AS '$libdir/hstore', 'hstore_to_jsonb_loose' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hstore(record) RETURNS hstore
  AS '$libdir/hstore', 'hstore_from_record' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_to_array(hstore) RETURNS text[]
  AS '$libdir/hstore', 'hstore_to_array' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR %% (rightarg = hstore, function = hstore_to_array);
CREATE FUNCTION hstore_to_matrix(hstore) RETURNS text[]
  AS '$libdir/hstore', 'hstore_to_matrix' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR %# (rightarg = hstore, function = hstore_to_matrix);
CREATE FUNCTION akeys(hstore) RETURNS text[]
  AS '$libdir/hstore', 'hstore_akeys' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION avals(hstore) RETURNS text[]
  AS '$libdir/hstore', 'hstore_avals' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION skeys(hstore) RETURNS SETOF text
  AS '$libdir/hstore', 'hstore_skeys' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION svals(hstore) RETURNS SETOF text
  AS '$libdir/hstore', 'hstore_svals' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION each(IN hs hstore, OUT key text, OUT value text) RETURNS SETOF record
  AS '$libdir/hstore', 'hstore_each' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION populate_record(anyelement, hstore) RETURNS anyelement
  AS '$libdir/hstore', 'hstore_populate_record' LANGUAGE c IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR #= (leftarg = anyelement, rightarg = hstore, function = populate_record);
CREATE FUNCTION hstore_eq(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_eq' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_ne(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_ne' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_gt(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_gt' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_ge(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_ge' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_lt(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_lt' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_le(hstore, hstore) RETURNS bool
  AS '$libdir/hstore', 'hstore_le' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_cmp(hstore, hstore) RETURNS int4
  AS '$libdir/hstore', 'hstore_cmp' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE OPERATOR = (leftarg = hstore, rightarg = hstore, function = hstore_eq, commutator = =,
  negator = <>, restrict = eqsel, join = eqjoinsel, merges, hashes);
CREATE OPERATOR <> (leftarg = hstore, rightarg = hstore, function = hstore_ne, commutator = <>,
  negator = =, restrict = neqsel, join = neqjoinsel);
CREATE OPERATOR #<# (leftarg = hstore, rightarg = hstore, function = hstore_lt,
  commutator = #>#, negator = #>=#, restrict = scalarltsel, join = scalarltjoinsel);
CREATE OPERATOR #<=# (leftarg = hstore, rightarg = hstore, function = hstore_le,
  commutator = #>=#, negator = #>#, restrict = scalarlesel, join = scalarlejoinsel);
CREATE OPERATOR #># (leftarg = hstore, rightarg = hstore, function = hstore_gt,
  commutator = #<#, negator = #<=#, restrict = scalargtsel, join = scalargtjoinsel);
CREATE OPERATOR #>=# (leftarg = hstore, rightarg = hstore, function = hstore_ge,
  commutator = #<=#, negator = #<#, restrict = scalargesel, join = scalargejoinsel);
CREATE FUNCTION hstore_hash(hstore) RETURNS int4
  AS '$libdir/hstore', 'hstore_hash' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION hstore_hash_extended(hstore, int8) RETURNS int8
  AS '$libdir/hstore', 'hstore_hash_extended' LANGUAGE c STRICT IMMUTABLE PARALLEL SAFE;
)SQL";

}  // namespace swizzle::sql
