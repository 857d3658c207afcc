#pragma once

#include <string>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

/// What `sql` answers in another session: this one's transaction commits when the other has come as
/// far as it gets without that.
std::string answer_beside(TestDatabase& db, Session& other, const std::string& sql);

}  // namespace swizzle::sql
