#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

/// Comments on built-in objects, which have no records of their own: functions, types, tablespaces
/// and others.
namespace swizzle::sql {

struct Comment {
  Oid catalog = kNoOid;
  Oid object = kNoOid;
  std::uint32_t part = 0;  ///< a column's number, else 0
  std::string text;
};

/// Returns the comments of the database, or (kSharedCatalog) those on objects shared by all
/// databases.
std::vector<Comment> read_comments(Catalog& catalog, Transaction& transaction, Oid database);
/// Returns a comment; empty if there is none.
std::string read_comment(Catalog& catalog, Transaction& transaction, Oid database, Oid of_catalog,
                         Oid object, std::uint32_t part = 0);
/// Stores a comment; an empty text removes it.
void put_comment(Catalog& catalog, Transaction& transaction, Oid database, const Comment& comment);

}  // namespace swizzle::sql
