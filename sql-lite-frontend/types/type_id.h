#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace swizzle::sql {

/// A type, by PostgreSQL's object id: clients compare these numbers. Types made by users have ids
/// from 16384 on and are the catalog's.
enum class TypeId : std::uint32_t {
  none = 0,
  bool_ = 16,
  bytea = 17,
  char_ = 18,  ///< "char", one byte
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
  pg_node_tree = 194,
  float4 = 700,
  float8 = 701,
  unknown = 705,
  bool_array = 1000,
  int2_array = 1005,
  int4_array = 1007,
  text_array = 1009,
  int8_array = 1016,
  float8_array = 1022,
  oid_array = 1028,
  aclitem = 1033,
  bpchar = 1042,
  varchar = 1043,
  date = 1082,
  time = 1083,
  timestamp = 1114,
  timestamptz = 1184,
  interval = 1186,
  timetz = 1266,
  numeric_array = 1231,
  cstring_array = 1263,
  numeric = 1700,
  refcursor = 1790,
  regprocedure = 2202,
  regoper = 2203,
  regoperator = 2204,
  regclass = 2205,
  regtype = 2206,
  record = 2249,
  cstring = 2275,
  any = 2276,
  anyarray = 2277,
  void_ = 2278,
  trigger = 2279,
  internal = 2281,
  anyelement = 2283,
  record_array = 2287,
  anynonarray = 2776,
  uuid = 2950,
  pg_lsn = 3220,
  anyenum = 3500,
  jsonb = 3802,
  regnamespace = 4089,
  regrole = 4096,
  regcollation = 4191,
  xid8 = 5069,
  anycompatible = 5077,
  anycompatiblearray = 5078,
  anycompatiblenonarray = 5079,
};

constexpr std::uint32_t raw(TypeId type) noexcept {
  return std::to_underlying(type);
}

/// What a value of the type is in memory and on disk. All types of one shape share their codecs.
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

/// One row of pg_type, for a type that the server knows without a catalog.
struct TypeInfo {
  TypeId id;
  std::string_view name;      ///< typname: "int4", "_int4"
  std::string_view sql_name;  ///< what format_type says without modifier: "integer", "integer[]"
  std::int16_t length;        ///< typlen: -1 varlena, -2 cstring
  bool by_value;
  char category;  ///< typcategory
  bool preferred;
  char delimiter;
  char alignment;  ///< c s i d
  char storage;    ///< p x m
  char kind;       ///< typtype: b base, c composite, e enum, p pseudo
  TypeId array;    ///< its array type, or none
  TypeId element;  ///< typelem; set for arrays, name, int2vector, oidvector
  Shape shape;
};

/// All known types by ascending id: the rows of pg_type.
std::span<const TypeInfo> builtin_types() noexcept;

/// Null for a type that only the catalog knows. Of one that a user made, what all of its kind have
/// alike: no names, no number (user_types.h). Of a domain, what there is of its base.
const TypeInfo* find_type(TypeId type) noexcept;
const TypeInfo* find_type(std::string_view name) noexcept;

/// Pre: `type` is known here.
const TypeInfo& type_info(TypeId type) noexcept;

/// True arrays only; int2vector and oidvector are not (as typcategory A with subscripting does).
bool is_array(TypeId type) noexcept;
/// The element type of an array type or vector, else none.
TypeId element_type(TypeId type) noexcept;
/// The array type over `element`, or none.
TypeId array_type(TypeId element) noexcept;
bool is_polymorphic(TypeId type) noexcept;
/// text, varchar, bpchar, name, "char", unknown, cstring.
bool is_string_category(TypeId type) noexcept;
/// oid and the reg* types, whose text form the catalog resolves.
bool is_object_id(TypeId type) noexcept;

inline constexpr std::int32_t kNoTypmod = -1;

/// SQL spelling with modifier: "numeric(10,2)", "character varying(5)[]",
/// "timestamp(3) with time zone". "???" for an id nobody knows.
std::string format_type(TypeId type, std::int32_t typmod = kNoTypmod);

struct TypeReference {
  TypeId type;
  std::int32_t typmod = kNoTypmod;
};

/// Reads a type as SQL or as pg_type spells it: "int4", "double precision", "varchar(10)",
/// "timestamp (3) with time zone", "integer[]", "pg_catalog.int4", "\"char\"".
/// Nothing for an unknown name; a malformed modifier throws SqlError.
std::optional<TypeReference> parse_type_name(std::string_view text);

/// The modifier that the integers in the parentheses after a type's name mean, as its typmodin
/// function says; checks their range. Throws SqlError.
/// For interval: {fields mask} or {fields mask, precision}, as PostgreSQL's grammar gives them.
std::int32_t make_typmod(TypeId type, std::span<const std::int32_t> modifiers);

}  // namespace swizzle::sql
