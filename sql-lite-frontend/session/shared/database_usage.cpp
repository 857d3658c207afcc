#include "sql-lite-frontend/session/shared/database_usage.h"

namespace swizzle::sql {

void DatabaseUsage::add_session(const SessionUsage& session, std::uint64_t lasted_us) noexcept {
  ++sessions;
  abandoned += session.end() == SessionEnd::abandoned ? 1U : 0U;
  fatal += session.end() == SessionEnd::fatal ? 1U : 0U;
  killed += session.end() == SessionEnd::killed ? 1U : 0U;
  session_us += lasted_us;
  add_use(session);
}

void DatabaseUsage::add_use(const SessionUsage& session) noexcept {
  for (std::size_t kind = 0; kind < kUsedKinds; ++kind)
    used[kind] += session.of(static_cast<Used>(kind));
}

void DatabaseUsage::add(const DatabaseUsage& other) noexcept {
  sessions += other.sessions;
  abandoned += other.abandoned;
  fatal += other.fatal;
  killed += other.killed;
  session_us += other.session_us;
  for (std::size_t kind = 0; kind < kUsedKinds; ++kind) used[kind] += other.used[kind];
}

DatabaseUsage DatabaseUsage::since(const DatabaseUsage& before) const noexcept {
  DatabaseUsage rest = *this;
  rest.sessions -= before.sessions;
  rest.abandoned -= before.abandoned;
  rest.fatal -= before.fatal;
  rest.killed -= before.killed;
  rest.session_us -= before.session_us;
  for (std::size_t kind = 0; kind < kUsedKinds; ++kind) rest.used[kind] -= before.used[kind];
  return rest;
}

}  // namespace swizzle::sql
