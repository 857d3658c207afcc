#include "sql-lite-frontend/session/subscriptions/noted_origin.h"

#include <fmt/format.h>

#include <span>
#include <string>

#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {

bool notes_origins(Session::State& session) {
  return session.settings.text("wal_level") == "logical";
}

void note_origin(Session::State& session, Oid subscription, Lsn commit_there) {
  if (!notes_origins(session)) return;
  const std::string name = fmt::format("pg_{}", subscription);
  PublishedChange change{.kind = ChangeKind::origin};
  change.database = session.catalog.of_database().database();
  change.prefix = name;
  change.commit_there = commit_there;
  const std::string body = encode_origin(change);
  const Bytes part = as_bytes(body);
  value_of(LogicalLog::note(*session.transaction, std::span{&part, 1}));
}

}  // namespace swizzle::sql
