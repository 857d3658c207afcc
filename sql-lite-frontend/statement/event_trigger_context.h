#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/oid.h"

namespace swizzle::sql {

/// Facts about a statement that its event triggers' functions can ask for.
struct EventTriggerContext {
  /// An object that the statement has defined.
  struct Defined {
    Oid catalog = kNoOid;  ///< none: GRANT and its like, which name kinds of objects alone
    Oid object = kNoOid;
    std::string tag;
    std::string kind;       ///< if `catalog` is none
    std::int32_t part = 0;  ///< a column's number
  };
  /// An object that the statement has dropped.
  struct Dropped {
    Oid catalog = kNoOid;
    Oid object = kNoOid;
    std::int32_t part = 0;
    bool original = false;  ///< named by the statement
    bool is_temporary = false;
    std::string type;
    std::string schema;  ///< empty: none
    std::string name;    ///< empty: not unique in its schema
    std::string identity;
    std::vector<std::string> names;
    std::vector<std::string> arguments;
  };
  std::string_view event;
  std::vector<Defined> defined;
  std::vector<Dropped> dropped;
  Oid rewritten = kNoOid;
  std::int32_t rewrite_reason = 0;
};

}  // namespace swizzle::sql
