#include "sql-lite-frontend/execution/publish/change_codec.h"

#include "base/field_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint8_t kCascades = 1;
constexpr std::uint8_t kRestartsSequences = 2;

[[noreturn]] void fail_malformed_change() {
  throw SqlError{sqlstate::data_corrupted, "a change in the log is malformed"};
}

}  // namespace

void encode_change_head(const PublishedChange& change, std::byte* head) noexcept {
  store(head, change.kind);
  store(head + 1, change.database);
  store(head + 5, change.shape);
  store(head + 9, change.old_row);
  store(head + 10, static_cast<std::uint32_t>(change.before.size()));
}

std::string encode_truncate(const PublishedChange& change) {
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(ChangeKind::truncate);
  out.put(change.database);
  out.put(static_cast<std::uint8_t>((change.cascades ? kCascades : 0) |
                                    (change.restarts_sequences ? kRestartsSequences : 0)));
  out.put(static_cast<std::uint32_t>(change.truncated.size()));
  for (const std::uint32_t shape : change.truncated) out.put(shape);
  return std::string{as_text(bytes)};
}

std::string encode_message(const PublishedChange& change) {
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(ChangeKind::message);
  out.put(change.database);
  out.put(static_cast<std::uint8_t>(change.is_transactional ? 1 : 0));
  out.put_text(change.prefix);
  out.put_bytes(change.content);
  return std::string{as_text(bytes)};
}

std::string encode_origin(const PublishedChange& change) {
  std::vector<std::byte> bytes;
  FieldWriter out(bytes);
  out.put(ChangeKind::origin);
  out.put(change.database);
  out.put(raw(change.commit_there));
  out.put_text(change.prefix);
  return std::string{as_text(bytes)};
}

PublishedChange decode_change(Bytes body) {
  FieldReader in(body);
  PublishedChange change;
  const auto letter = in.take<char>();
  // Upper-case letters are those of the older format, without the database.
  const bool is_older = letter >= 'A' && letter <= 'Z';
  change.kind = static_cast<ChangeKind>(is_older ? letter - 'A' + 'a' : letter);
  if (!is_older) change.database = in.take<Oid>();
  switch (change.kind) {
    case ChangeKind::truncate: {
      const auto options = in.take<std::uint8_t>();
      change.cascades = (options & kCascades) != 0;
      change.restarts_sequences = (options & kRestartsSequences) != 0;
      const auto count = in.take<std::uint32_t>();
      for (std::uint32_t i = 0; i < count && in.is_whole(); ++i)
        change.truncated.push_back(in.take<std::uint32_t>());
      break;
    }
    case ChangeKind::insert:
    case ChangeKind::update:
    case ChangeKind::remove: {
      change.shape = in.take<std::uint32_t>();
      change.old_row = in.take<OldRow>();
      change.before = in.take_bytes(in.take<std::uint32_t>());
      change.after = in.rest();
      break;
    }
    case ChangeKind::message:
      change.is_transactional = in.take<std::uint8_t>() != 0;
      change.prefix = as_text(in.take_bytes(in.take<std::uint32_t>()));
      change.content = in.rest();
      break;
    case ChangeKind::origin:
      change.commit_there = Lsn{in.take<std::uint64_t>()};
      change.prefix = as_text(in.take_bytes(in.take<std::uint32_t>()));
      break;
    default:
      fail_malformed_change();
  }
  if (!in.is_whole()) fail_malformed_change();
  return change;
}

}  // namespace swizzle::sql
