#pragma once

#include "sql-lite-frontend/catalog/oid.h"

/// Numbers of the system catalogs in pg_class, as comments and dependencies use them. Only catalogs
/// that can contain our objects are listed.
namespace swizzle::sql::class_id {

inline constexpr Oid pg_am = 2601;
inline constexpr Oid pg_attrdef = 2604;
inline constexpr Oid pg_authid = 1260;
inline constexpr Oid pg_cast = 2605;
inline constexpr Oid pg_class = 1259;
inline constexpr Oid pg_collation = 3456;
inline constexpr Oid pg_constraint = 2606;
inline constexpr Oid pg_database = 1262;
inline constexpr Oid pg_event_trigger = 3466;
inline constexpr Oid pg_extension = 3079;
inline constexpr Oid pg_language = 2612;
inline constexpr Oid pg_largeobject = 2613;
inline constexpr Oid pg_namespace = 2615;
inline constexpr Oid pg_opclass = 2616;
inline constexpr Oid pg_operator = 2617;
inline constexpr Oid pg_opfamily = 2753;
inline constexpr Oid pg_policy = 3256;
inline constexpr Oid pg_proc = 1255;
inline constexpr Oid pg_publication = 6104;
inline constexpr Oid pg_publication_namespace = 6237;
inline constexpr Oid pg_publication_rel = 6106;
inline constexpr Oid pg_rewrite = 2618;
inline constexpr Oid pg_subscription = 6100;
inline constexpr Oid pg_tablespace = 1213;
inline constexpr Oid pg_trigger = 2620;
inline constexpr Oid pg_ts_config = 3602;
inline constexpr Oid pg_ts_dict = 3600;
inline constexpr Oid pg_ts_template = 3764;
inline constexpr Oid pg_type = 1247;

}  // namespace swizzle::sql::class_id
