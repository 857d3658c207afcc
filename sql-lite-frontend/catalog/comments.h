#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"

/// Comments on objects that come with the server, which have no records of their own: functions,
/// types, tablespaces …
namespace swizzle::sql {

struct Comment {
  Oid catalog = kNoOid;
  Oid object = kNoOid;
  std::uint32_t part = 0;  ///< of a column, its number
  std::string text;
};

/// Returns the comments of the database, or (kSharedCatalog) those on objects shared by all
/// databases.
std::vector<Comment> read_comments(Catalog& catalog, Transaction& transaction, Oid database);
/// Empty when there is none.
std::string read_comment(Catalog& catalog, Transaction& transaction, Oid database, Oid of_catalog,
                         Oid object, std::uint32_t part = 0);
/// An empty text takes the comment away.
void put_comment(Catalog& catalog, Transaction& transaction, Oid database, const Comment& comment);

}  // namespace swizzle::sql
