#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/invariant.h"
#include "sql-lite-frontend/types/type_id.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

// The facts of pg_type in PostgreSQL 15; clients and drivers compare them.
// clang-format off
constexpr TypeInfo kTypes[] = {
    {TypeId{16}, "bool", "boolean", 1, true, 'B', true, ',', 'c', 'p', 'b', TypeId{1000}, TypeId{0}, Shape::boolean},
    {TypeId{17}, "bytea", "bytea", -1, false, 'U', false, ',', 'i', 'x', 'b', TypeId{1001}, TypeId{0}, Shape::bytes},
    {TypeId{18}, "char", "\"char\"", 1, true, 'Z', false, ',', 'c', 'p', 'b', TypeId{1002}, TypeId{0}, Shape::char8},
    {TypeId{19}, "name", "name", 64, false, 'S', false, ',', 'c', 'p', 'b', TypeId{1003}, TypeId{18}, Shape::text},
    {TypeId{20}, "int8", "bigint", 8, true, 'N', false, ',', 'd', 'p', 'b', TypeId{1016}, TypeId{0}, Shape::int64},
    {TypeId{21}, "int2", "smallint", 2, true, 'N', false, ',', 's', 'p', 'b', TypeId{1005}, TypeId{0}, Shape::int16},
    {TypeId{22}, "int2vector", "int2vector", -1, false, 'A', false, ',', 'i', 'p', 'b', TypeId{1006}, TypeId{21}, Shape::array},
    {TypeId{23}, "int4", "integer", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{1007}, TypeId{0}, Shape::int32},
    {TypeId{24}, "regproc", "regproc", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{1008}, TypeId{0}, Shape::uint32},
    {TypeId{25}, "text", "text", -1, false, 'S', true, ',', 'i', 'x', 'b', TypeId{1009}, TypeId{0}, Shape::text},
    {TypeId{26}, "oid", "oid", 4, true, 'N', true, ',', 'i', 'p', 'b', TypeId{1028}, TypeId{0}, Shape::uint32},
    {TypeId{27}, "tid", "tid", 6, false, 'U', false, ',', 's', 'p', 'b', TypeId{1010}, TypeId{0}, Shape::int64},
    {TypeId{28}, "xid", "xid", 4, true, 'U', false, ',', 'i', 'p', 'b', TypeId{1011}, TypeId{0}, Shape::uint32},
    {TypeId{29}, "cid", "cid", 4, true, 'U', false, ',', 'i', 'p', 'b', TypeId{1012}, TypeId{0}, Shape::uint32},
    {TypeId{30}, "oidvector", "oidvector", -1, false, 'A', false, ',', 'i', 'p', 'b', TypeId{1013}, TypeId{26}, Shape::array},
    {TypeId{114}, "json", "json", -1, false, 'U', false, ',', 'i', 'x', 'b', TypeId{199}, TypeId{0}, Shape::text},
    {TypeId{194}, "pg_node_tree", "pg_node_tree", -1, false, 'Z', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{0}, Shape::text},
    {TypeId{199}, "_json", "json[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{114}, Shape::array},
    {TypeId{271}, "_xid8", "xid8[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{5069}, Shape::array},
    {TypeId{650}, "cidr", "cidr", -1, false, 'I', false, ',', 'i', 'm', 'b', TypeId{651}, TypeId{0}, Shape::bytes},
    {TypeId{651}, "_cidr", "cidr[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{650}, Shape::array},
    {TypeId{700}, "float4", "real", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{1021}, TypeId{0}, Shape::float32},
    {TypeId{701}, "float8", "double precision", 8, true, 'N', true, ',', 'd', 'p', 'b', TypeId{1022}, TypeId{0}, Shape::float64},
    {TypeId{705}, "unknown", "unknown", -2, false, 'X', false, ',', 'c', 'p', 'p', TypeId{0}, TypeId{0}, Shape::text},
    {TypeId{869}, "inet", "inet", -1, false, 'I', true, ',', 'i', 'm', 'b', TypeId{1041}, TypeId{0}, Shape::bytes},
    {TypeId{1000}, "_bool", "boolean[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{16}, Shape::array},
    {TypeId{1001}, "_bytea", "bytea[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{17}, Shape::array},
    {TypeId{1002}, "_char", "\"char\"[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{18}, Shape::array},
    {TypeId{1003}, "_name", "name[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{19}, Shape::array},
    {TypeId{1005}, "_int2", "smallint[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{21}, Shape::array},
    {TypeId{1006}, "_int2vector", "int2vector[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{22}, Shape::array},
    {TypeId{1007}, "_int4", "integer[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{23}, Shape::array},
    {TypeId{1008}, "_regproc", "regproc[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{24}, Shape::array},
    {TypeId{1009}, "_text", "text[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{25}, Shape::array},
    {TypeId{1010}, "_tid", "tid[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{27}, Shape::array},
    {TypeId{1011}, "_xid", "xid[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{28}, Shape::array},
    {TypeId{1012}, "_cid", "cid[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{29}, Shape::array},
    {TypeId{1013}, "_oidvector", "oidvector[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{30}, Shape::array},
    {TypeId{1014}, "_bpchar", "character[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1042}, Shape::array},
    {TypeId{1015}, "_varchar", "character varying[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1043}, Shape::array},
    {TypeId{1016}, "_int8", "bigint[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{20}, Shape::array},
    {TypeId{1021}, "_float4", "real[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{700}, Shape::array},
    {TypeId{1022}, "_float8", "double precision[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{701}, Shape::array},
    {TypeId{1028}, "_oid", "oid[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{26}, Shape::array},
    {TypeId{1033}, "aclitem", "aclitem", 12, false, 'U', false, ',', 'i', 'p', 'b', TypeId{1034}, TypeId{0}, Shape::text},
    {TypeId{1034}, "_aclitem", "aclitem[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1033}, Shape::array},
    {TypeId{1041}, "_inet", "inet[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{869}, Shape::array},
    {TypeId{1042}, "bpchar", "character", -1, false, 'S', false, ',', 'i', 'x', 'b', TypeId{1014}, TypeId{0}, Shape::text},
    {TypeId{1043}, "varchar", "character varying", -1, false, 'S', false, ',', 'i', 'x', 'b', TypeId{1015}, TypeId{0}, Shape::text},
    {TypeId{1082}, "date", "date", 4, true, 'D', false, ',', 'i', 'p', 'b', TypeId{1182}, TypeId{0}, Shape::int32},
    {TypeId{1083}, "time", "time without time zone", 8, true, 'D', false, ',', 'd', 'p', 'b', TypeId{1183}, TypeId{0}, Shape::int64},
    {TypeId{1114}, "timestamp", "timestamp without time zone", 8, true, 'D', false, ',', 'd', 'p', 'b', TypeId{1115}, TypeId{0}, Shape::int64},
    {TypeId{1115}, "_timestamp", "timestamp without time zone[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{1114}, Shape::array},
    {TypeId{1182}, "_date", "date[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1082}, Shape::array},
    {TypeId{1183}, "_time", "time without time zone[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{1083}, Shape::array},
    {TypeId{1184}, "timestamptz", "timestamp with time zone", 8, true, 'D', true, ',', 'd', 'p', 'b', TypeId{1185}, TypeId{0}, Shape::int64},
    {TypeId{1185}, "_timestamptz", "timestamp with time zone[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{1184}, Shape::array},
    {TypeId{1186}, "interval", "interval", 16, false, 'T', true, ',', 'd', 'p', 'b', TypeId{1187}, TypeId{0}, Shape::interval},
    {TypeId{1187}, "_interval", "interval[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{1186}, Shape::array},
    {TypeId{1231}, "_numeric", "numeric[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1700}, Shape::array},
    {TypeId{1263}, "_cstring", "cstring[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2275}, Shape::array},
    {TypeId{1266}, "timetz", "time with time zone", 12, false, 'D', false, ',', 'd', 'p', 'b', TypeId{1270}, TypeId{0}, Shape::timetz},
    {TypeId{1270}, "_timetz", "time with time zone[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{1266}, Shape::array},
    {TypeId{1700}, "numeric", "numeric", -1, false, 'N', false, ',', 'i', 'm', 'b', TypeId{1231}, TypeId{0}, Shape::numeric},
    {TypeId{1790}, "refcursor", "refcursor", -1, false, 'U', false, ',', 'i', 'x', 'b', TypeId{2201}, TypeId{0}, Shape::text},
    {TypeId{2201}, "_refcursor", "refcursor[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{1790}, Shape::array},
    {TypeId{2202}, "regprocedure", "regprocedure", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{2207}, TypeId{0}, Shape::uint32},
    {TypeId{2203}, "regoper", "regoper", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{2208}, TypeId{0}, Shape::uint32},
    {TypeId{2204}, "regoperator", "regoperator", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{2209}, TypeId{0}, Shape::uint32},
    {TypeId{2205}, "regclass", "regclass", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{2210}, TypeId{0}, Shape::uint32},
    {TypeId{2206}, "regtype", "regtype", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{2211}, TypeId{0}, Shape::uint32},
    {TypeId{2207}, "_regprocedure", "regprocedure[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2202}, Shape::array},
    {TypeId{2208}, "_regoper", "regoper[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2203}, Shape::array},
    {TypeId{2209}, "_regoperator", "regoperator[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2204}, Shape::array},
    {TypeId{2210}, "_regclass", "regclass[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2205}, Shape::array},
    {TypeId{2211}, "_regtype", "regtype[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2206}, Shape::array},
    {TypeId{2249}, "record", "record", -1, false, 'P', false, ',', 'd', 'x', 'p', TypeId{2287}, TypeId{0}, Shape::record},
    {TypeId{2275}, "cstring", "cstring", -2, false, 'P', false, ',', 'c', 'p', 'p', TypeId{1263}, TypeId{0}, Shape::text},
    {TypeId{2276}, "any", "\"any\"", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2277}, "anyarray", "anyarray", -1, false, 'P', false, ',', 'd', 'x', 'p', TypeId{0}, TypeId{0}, Shape::array},
    {TypeId{2278}, "void", "void", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2279}, "trigger", "trigger", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2281}, "internal", "internal", 8, true, 'P', false, ',', 'd', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2283}, "anyelement", "anyelement", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2287}, "_record", "record[]", -1, false, 'P', false, ',', 'd', 'x', 'p', TypeId{0}, TypeId{2249}, Shape::array},
    {TypeId{2776}, "anynonarray", "anynonarray", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{2950}, "uuid", "uuid", 16, false, 'U', false, ',', 'c', 'p', 'b', TypeId{2951}, TypeId{0}, Shape::uuid},
    {TypeId{2951}, "_uuid", "uuid[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{2950}, Shape::array},
    {TypeId{3220}, "pg_lsn", "pg_lsn", 8, true, 'U', false, ',', 'd', 'p', 'b', TypeId{3221}, TypeId{0}, Shape::uint64},
    {TypeId{3221}, "_pg_lsn", "pg_lsn[]", -1, false, 'A', false, ',', 'd', 'x', 'b', TypeId{0}, TypeId{3220}, Shape::array},
    {TypeId{3500}, "anyenum", "anyenum", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{3802}, "jsonb", "jsonb", -1, false, 'U', false, ',', 'i', 'x', 'b', TypeId{3807}, TypeId{0}, Shape::text},
    {TypeId{3807}, "_jsonb", "jsonb[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{3802}, Shape::array},
    {TypeId{4089}, "regnamespace", "regnamespace", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{4090}, TypeId{0}, Shape::uint32},
    {TypeId{4090}, "_regnamespace", "regnamespace[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{4089}, Shape::array},
    {TypeId{4096}, "regrole", "regrole", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{4097}, TypeId{0}, Shape::uint32},
    {TypeId{4097}, "_regrole", "regrole[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{4096}, Shape::array},
    {TypeId{4191}, "regcollation", "regcollation", 4, true, 'N', false, ',', 'i', 'p', 'b', TypeId{4192}, TypeId{0}, Shape::uint32},
    {TypeId{4192}, "_regcollation", "regcollation[]", -1, false, 'A', false, ',', 'i', 'x', 'b', TypeId{0}, TypeId{4191}, Shape::array},
    {TypeId{5069}, "xid8", "xid8", 8, true, 'U', false, ',', 'd', 'p', 'b', TypeId{271}, TypeId{0}, Shape::uint64},
    {TypeId{5077}, "anycompatible", "anycompatible", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{5078}, "anycompatiblearray", "anycompatiblearray", -1, false, 'P', false, ',', 'd', 'x', 'p', TypeId{0}, TypeId{0}, Shape::none},
    {TypeId{5079}, "anycompatiblenonarray", "anycompatiblenonarray", 4, true, 'P', false, ',', 'i', 'p', 'p', TypeId{0}, TypeId{0}, Shape::none},
};
// clang-format on

static_assert(std::ranges::is_sorted(kTypes, {}, &TypeInfo::id));

// What all types that users make have alike, by kind, and all arrays of such.
constexpr TypeInfo kEnum{TypeId::none, "",  "",  4,   true,         'E',          false,
                         ',',          'i', 'p', 'e', TypeId::none, TypeId::none, Shape::int64};
constexpr TypeInfo kComposite{TypeId::none, "",           "",           -1,           false,
                              'C',          false,        ',',          'd',          'x',
                              'c',          TypeId::none, TypeId::none, Shape::record};
constexpr TypeInfo kUserArray{TypeId::none, "",           "",           -1,          false,
                              'A',          false,        ',',          'i',         'x',
                              'b',          TypeId::none, TypeId::none, Shape::array};

// Ids below this find their row without a search: that is all but the reg* and any* late comers.
constexpr std::size_t kDirectIds = 2304;

constexpr auto kDirect = [] {
  std::array<std::uint8_t, kDirectIds> rows{};
  static_assert(std::size(kTypes) < 255);
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (raw(kTypes[i].id) < kDirectIds) rows[raw(kTypes[i].id)] = static_cast<std::uint8_t>(i + 1);
  return rows;
}();

}  // namespace

namespace {

const TypeInfo* find_user_type(TypeId type) noexcept {
  if (is_user_array(type)) return &kUserArray;
  if (is_domain(type)) return find_type(base_type(type));
  return is_enum(type) ? &kEnum : &kComposite;
}

}  // namespace

std::span<const TypeInfo> builtin_types() noexcept {
  return kTypes;
}

const TypeInfo* find_type(TypeId type) noexcept {
  if (raw(type) < kDirectIds) {
    const std::size_t row = kDirect[raw(type)];
    return row == 0 ? nullptr : &kTypes[row - 1];
  }
  if (is_user_type(type)) return find_user_type(type);
  const auto* found = std::ranges::lower_bound(kTypes, type, {}, &TypeInfo::id);
  return found != std::end(kTypes) && found->id == type ? found : nullptr;
}

const TypeInfo* find_type(std::string_view name) noexcept {
  static const std::unordered_map<std::string_view, const TypeInfo*> by_name = [] {
    std::unordered_map<std::string_view, const TypeInfo*> map;
    for (const TypeInfo& info : kTypes) map.emplace(info.name, &info);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

const TypeInfo& type_info(TypeId type) noexcept {
  const TypeInfo* info = find_type(type);
  INVARIANT(info != nullptr);
  return *info;
}

bool is_array(TypeId type) noexcept {
  type = base_type(type);
  if (is_user_array(type)) return true;
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->shape == Shape::array && info->length == -1 &&
         info->name.starts_with('_');
}

TypeId element_type(TypeId type) noexcept {
  type = base_type(type);
  if (is_user_array(type)) return without_array(type);
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->shape == Shape::array ? info->element : TypeId::none;
}

TypeId array_type(TypeId element) noexcept {
  if (is_user_type(element)) return is_user_array(element) ? TypeId::none : user_array_of(element);
  const TypeInfo* info = find_type(element);
  return info != nullptr ? info->array : TypeId::none;
}

bool is_polymorphic(TypeId type) noexcept {
  switch (type) {
    case TypeId::anyelement:
    case TypeId::anyarray:
    case TypeId::anynonarray:
    case TypeId::anyenum:
    case TypeId::anycompatible:
    case TypeId::anycompatiblearray:
    case TypeId::anycompatiblenonarray:
      return true;
    default:
      return false;
  }
}

bool is_string_category(TypeId type) noexcept {
  if (type == TypeId::unknown || type == TypeId::cstring) return true;
  const TypeInfo* info = find_type(type);
  return info != nullptr && (info->category == 'S' || type == TypeId::char_);
}

bool is_object_id(TypeId type) noexcept {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->shape == Shape::uint32 && info->category == 'N';
}

}  // namespace swizzle::sql
