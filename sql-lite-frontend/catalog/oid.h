#pragma once

#include <cstdint>
#include <string>

/// Properties common to all catalog objects: number and grants.
namespace swizzle::sql {

/// PostgreSQL's object identifier, by which catalogs and clients refer to objects.
using Oid = std::uint32_t;
inline constexpr Oid kNoOid = 0;
inline constexpr Oid kFirstUserOid = 16384;
inline constexpr Oid kPgCatalogSchema = 11;
inline constexpr Oid kPublicSchema = 2200;
inline constexpr Oid kInformationSchema = 13000;
inline constexpr Oid kBootstrapRole = 10;
inline constexpr Oid kPostgresDatabase = 5;

/// One privilege grant, as in aclitem: its letters, with '*' for grant option.
struct Grant {
  Oid grantee = kNoOid;  ///< 0 is PUBLIC
  Oid grantor = kNoOid;
  std::string privileges;
};

}  // namespace swizzle::sql
