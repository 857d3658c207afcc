#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace swizzle::sql {

/// Id of a type: PostgreSQL's oid, because clients compare these numbers. User-defined types have
/// ids from 16384 on; the catalog knows them. Types used only in their own file and in the table of
/// types have no name here (builtin.h).
enum class TypeId : std::uint32_t {
  none = 0,
  bool_ = 16,
  bytea = 17,
  char_ = 18,
  name = 19,
  int8 = 20,
  int2 = 21,
  int2vector = 22,
  int4 = 23,
  regproc = 24,
  text = 25,
  oid = 26,
  tid = 27,
  xid = 28,
  cid = 29,
  oidvector = 30,
  json = 114,
  xml = 142,
  pg_node_tree = 194,
  json_array = 199,
  xid8_array = 271,
  cidr = 650,
  cidr_array = 651,
  float4 = 700,
  float8 = 701,
  unknown = 705,
  inet = 869,
  bool_array = 1000,
  bytea_array = 1001,
  char_array = 1002,
  name_array = 1003,
  int2_array = 1005,
  int2vector_array = 1006,
  int4_array = 1007,
  regproc_array = 1008,
  text_array = 1009,
  tid_array = 1010,
  xid_array = 1011,
  cid_array = 1012,
  oidvector_array = 1013,
  bpchar_array = 1014,
  varchar_array = 1015,
  int8_array = 1016,
  float4_array = 1021,
  float8_array = 1022,
  oid_array = 1028,
  aclitem = 1033,
  aclitem_array = 1034,
  inet_array = 1041,
  bpchar = 1042,
  varchar = 1043,
  date = 1082,
  time = 1083,
  timestamp = 1114,
  timestamp_array = 1115,
  date_array = 1182,
  time_array = 1183,
  timestamptz = 1184,
  timestamptz_array = 1185,
  interval = 1186,
  interval_array = 1187,
  numeric_array = 1231,
  cstring_array = 1263,
  timetz = 1266,
  timetz_array = 1270,
  numeric = 1700,
  refcursor = 1790,
  refcursor_array = 2201,
  regprocedure = 2202,
  regoper = 2203,
  regoperator = 2204,
  regclass = 2205,
  regtype = 2206,
  regprocedure_array = 2207,
  regoper_array = 2208,
  regoperator_array = 2209,
  regclass_array = 2210,
  regtype_array = 2211,
  record = 2249,
  cstring = 2275,
  any = 2276,
  anyarray = 2277,
  void_ = 2278,
  trigger = 2279,
  event_trigger = 3838,
  pg_ddl_command = 32,
  internal = 2281,
  anyelement = 2283,
  record_array = 2287,
  anynonarray = 2776,
  uuid = 2950,
  uuid_array = 2951,
  pg_lsn = 3220,
  pg_lsn_array = 3221,
  anyenum = 3500,
  jsonb = 3802,
  anyrange = 3831,
  jsonb_array = 3807,
  regnamespace = 4089,
  regnamespace_array = 4090,
  regrole = 4096,
  regrole_array = 4097,
  regcollation = 4191,
  regcollation_array = 4192,
  anymultirange = 4537,
  anycompatiblemultirange = 4538,
  xid8 = 5069,
  anycompatible = 5077,
  anycompatiblearray = 5078,
  anycompatiblenonarray = 5079,
  anycompatiblerange = 5080,
};

constexpr std::uint32_t raw(TypeId type) noexcept {
  return std::to_underlying(type);
}

/// Representation of the type's values in memory and in rows (row_codec.h).
enum class Shape : std::uint8_t {
  none,     ///< pseudo-types without values
  boolean,  ///< 1 byte
  char8,    ///< 1 byte
  int16,    ///< 2 bytes
  int32,    ///< 4 bytes, signed: int4, date
  uint32,   ///< 4 bytes, unsigned: oid, xid, reg*
  int64,    ///< 8 bytes, signed: int8, time, timestamp(tz), tid
  uint64,   ///< 8 bytes, unsigned: xid8, pg_lsn
  float32,
  float64,
  timetz,    ///< 8 bytes of microseconds, 4 bytes of zone
  interval,  ///< 16 bytes: microseconds, days, months
  uuid,      ///< 16 bytes
  text,      ///< UTF-8 of any length
  bytes,     ///< any bytes
  numeric,
  array,
  record,
};

struct Type;

/// Returns all types that the server knows without a catalog, by ascending id: the rows of pg_type.
std::span<const Type* const> builtin_types() noexcept;

/// Returns null for a type that only the catalog knows. For a user-defined type, returns the
/// properties common to its kind, without name and id (user_types.h); for a domain, those of its
/// base type.
const Type* find_type(TypeId type) noexcept;
const Type* find_type(std::string_view name) noexcept;

/// Pre: `type` is known here.
const Type& type_info(TypeId type);
/// As find_type(), but treats an unknown type as a row type.
const Type& value_type(TypeId type) noexcept;

/// Returns the type of a range's bounds, else none.
TypeId range_subtype(TypeId range) noexcept;
/// Returns the type of a range's bounds with the collation by which they are ordered.
TypeId range_bound_type(TypeId range) noexcept;
/// Returns the range type of a multirange, else none.
TypeId range_of_multirange(TypeId multirange) noexcept;
/// Returns the multirange type over a range, else none.
TypeId multirange_of_range(TypeId range) noexcept;
/// True for array types only: int2vector and oidvector are not (as typcategory A with subscripting
/// does).
bool is_array(TypeId type) noexcept;
/// Returns the element type of an array type or vector, else none.
TypeId element_type(TypeId type) noexcept;
/// Returns the array type over `element`, or none.
TypeId array_type(TypeId element) noexcept;
bool is_polymorphic(TypeId type) noexcept;
/// True for text, varchar, bpchar, name, "char", unknown and cstring.
bool is_string_category(TypeId type) noexcept;
/// True for oid and the reg* types, whose text form the catalog resolves.
bool is_object_id(TypeId type) noexcept;
/// True for types such as cstring and anyelement, which no column can have; false for unknown ids.
bool is_pseudo_type(TypeId type) noexcept;

inline constexpr std::int32_t kNoTypmod = -1;

/// Returns the SQL spelling with modifier: "numeric(10,2)", "character varying(5)[]", "timestamp(3)
/// with time zone"; "???" for an unknown id.
std::string format_type(TypeId type, std::int32_t typmod = kNoTypmod);

struct TypeReference {
  TypeId type;
  std::int32_t typmod = kNoTypmod;
};

/// Parses a type as SQL or pg_type spells it: "int4", "double precision", "varchar(10)", "timestamp
/// (3) with time zone", "integer[]", "pg_catalog.int4", "\"char\"". Nothing for an unknown name;
/// throws SqlError for a malformed modifier.
std::optional<TypeReference> parse_type_name(std::string_view text);

/// Returns the modifier for the integers in parentheses after a type's name, as its typmodin
/// function computes it; throws SqlError if they are out of range. For interval: {fields mask} or
/// {fields mask, precision}, as PostgreSQL's grammar gives them.
std::int32_t make_typmod(TypeId type, std::span<const std::int32_t> modifiers);

}  // namespace swizzle::sql
