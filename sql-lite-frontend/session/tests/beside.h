#pragma once

#include <string>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

/// Runs `sql` and returns its answer, beside other threads that run statements of the database.
std::string answer_of(Session& session, const std::string& sql);

/// Runs `sql` in another session and returns its answer. Commits this session's transaction once
/// the other session waits for it.
std::string answer_beside(TestDatabase& db, Session& other, const std::string& sql);

}  // namespace swizzle::sql
