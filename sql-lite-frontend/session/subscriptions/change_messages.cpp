#include "sql-lite-frontend/session/subscriptions/change_messages.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kMostColumns = 1664;

std::size_t read_count(ChangeMessageReader& message) {
  const std::size_t count = message.number<std::uint16_t>();
  if (count > kMostColumns)
    throw_error(sqlstate::protocol_violation, "invalid number of columns in a change: {}", count);
  return count;
}

}  // namespace

Bytes ChangeMessageReader::take(std::size_t size) {
  if (size > rest_.size())
    throw SqlError{sqlstate::protocol_violation, "insufficient data left in message"};
  const Bytes taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::string_view ChangeMessageReader::text() {
  const auto end = std::ranges::find(rest_, std::byte{0});
  if (end == rest_.end()) throw SqlError{sqlstate::protocol_violation, "invalid string in message"};
  const auto size = static_cast<std::size_t>(end - rest_.begin());
  const std::string_view text = as_text(take(size));
  take(1);
  return text;
}

PublishedRelation read_relation(ChangeMessageReader& message) {
  PublishedRelation relation;
  relation.id = message.number<std::uint32_t>();
  relation.schema = message.text();
  if (relation.schema.empty()) relation.schema = "pg_catalog";
  relation.name = message.text();
  relation.identity = message.letter();
  relation.columns.resize(read_count(message));
  for (PublishedRelation::Column& column : relation.columns) {
    column.in_identity = (message.number<std::uint8_t>() & 1U) != 0;
    column.name = message.text();
    message.number<std::uint32_t>();  // its type, and its modifier
    message.number<std::uint32_t>();
  }
  return relation;
}

void read_row(ChangeMessageReader& message, PublishedRow& row) {
  row.resize(read_count(message));
  for (PublishedValue& value : row) {
    const char kind = message.letter();
    value = {.kind = static_cast<PublishedValue::Kind>(kind), .text = {}};
    if (kind == 'n' || kind == 'u') continue;
    if (kind != 't' && kind != 'b') {
      throw_error(sqlstate::protocol_violation, "unrecognized data representation type '{}'", kind);
    }
    value.text = message.text_of(message.number<std::uint32_t>());
  }
}

BeginMessage read_begin(ChangeMessageReader& message) {
  BeginMessage begin;
  begin.commit = message.lsn();
  message.number<std::uint64_t>();  // the time of the commit
  begin.transaction = message.number<std::uint32_t>();
  return begin;
}

PrepareMessage read_begin_prepare(ChangeMessageReader& message) {
  PrepareMessage prepare;
  prepare.prepare = message.lsn();
  prepare.end = message.lsn();
  message.number<std::uint64_t>();  // the time
  prepare.transaction = message.number<std::uint32_t>();
  return prepare;
}

PrepareMessage read_prepare(ChangeMessageReader& message) {
  message.letter();  // flags, of which there are none
  return read_begin_prepare(message);
}

PrepareMessage read_commit_prepared(ChangeMessageReader& message) {
  return read_prepare(message);
}

PrepareMessage read_rollback_prepared(ChangeMessageReader& message) {
  PrepareMessage rollback;
  message.letter();  // flags, of which there are none
  rollback.prepare = message.lsn();
  rollback.end = message.lsn();
  message.number<std::uint64_t>();  // the time of the PREPARE, and of the rollback
  message.number<std::uint64_t>();
  rollback.transaction = message.number<std::uint32_t>();
  return rollback;
}

CommitMessage read_commit(ChangeMessageReader& message) {
  CommitMessage commit;
  message.letter();  // flags, of which there are none
  commit.commit = message.lsn();
  commit.end = message.lsn();
  return commit;
}

}  // namespace swizzle::sql
