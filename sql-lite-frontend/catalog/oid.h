#pragma once

#include <cstdint>
#include <string>

/// Properties common to all objects of the catalog: their numbers, and their grants.
namespace swizzle::sql {

/// PostgreSQL's object identifier: what its catalogs and clients call things by.
using Oid = std::uint32_t;
inline constexpr Oid kNoOid = 0;
inline constexpr Oid kFirstUserOid = 16384;
inline constexpr Oid kPgCatalogSchema = 11;
inline constexpr Oid kPublicSchema = 2200;
inline constexpr Oid kInformationSchema = 13000;
inline constexpr Oid kBootstrapRole = 10;
inline constexpr Oid kPostgresDatabase = 5;

/// One privilege grant as aclitem has it; privileges are aclitem's letters, '*' for grant option.
struct Grant {
  Oid grantee = kNoOid;  ///< 0 is PUBLIC
  Oid grantor = kNoOid;
  std::string privileges;
};

}  // namespace swizzle::sql
