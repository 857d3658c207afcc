#pragma once

#include <string>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

/// Returns the answer to `sql` in another session. This session's transaction commits when the
/// other has come as far as it can without that.
std::string answer_beside(TestDatabase& db, Session& other, const std::string& sql);

}  // namespace swizzle::sql
