#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"

/// Messages of the output plugin pgoutput, as a subscriber reads them.
namespace swizzle::sql {

/// Reads the parts of a message. Throws SqlError 08P01 at its end.
class ChangeMessageReader {
 public:
  explicit ChangeMessageReader(Bytes message) noexcept : rest_(message) {}

  template <class T>
  T number() {
    return load_big_endian<T>(take(sizeof(T)).data());
  }
  char letter() { return static_cast<char>(take(1)[0]); }
  Lsn lsn() { return Lsn{number<std::uint64_t>()}; }
  /// A text that a zero byte ends.
  std::string_view text();
  std::string_view text_of(std::size_t size) { return as_text(take(size)); }
  [[nodiscard]] Bytes rest() const noexcept { return rest_; }

 private:
  Bytes take(std::size_t size);
  Bytes rest_;
};

struct PublishedRelation {
  struct Column {
    std::string name;
    bool in_identity = false;
  };
  std::uint32_t id = 0;
  std::string schema;
  std::string name;
  char identity = 'd';  ///< letter of pg_class.relreplident
  std::vector<Column> columns;
};
PublishedRelation read_relation(ChangeMessageReader& message);

/// A column's value in a row. Its bytes live as long as the message.
struct PublishedValue {
  enum class Kind : char { null = 'n', unchanged = 'u', text = 't', binary = 'b' };
  Kind kind = Kind::null;
  std::string_view text;  ///< or the binary form

  [[nodiscard]] bool is_given() const noexcept {
    return kind == Kind::text || kind == Kind::binary;
  }
};
using PublishedRow = std::vector<PublishedValue>;
/// Reads a row into `row`. 08P01 for a value in an unknown form.
void read_row(ChangeMessageReader& message, PublishedRow& row);

struct BeginMessage {
  Lsn commit = Lsn::none;
  std::uint32_t transaction = 0;
};
BeginMessage read_begin(ChangeMessageReader& message);

struct CommitMessage {
  Lsn commit = Lsn::none;
  Lsn end = Lsn::none;
};
CommitMessage read_commit(ChangeMessageReader& message);

/// A transaction that has been prepared there.
struct PrepareMessage {
  Lsn prepare = Lsn::none;
  Lsn end = Lsn::none;
  std::uint32_t transaction = 0;
};
PrepareMessage read_begin_prepare(ChangeMessageReader& message);
/// Of the end of a prepared transaction's changes, in a stream or not.
PrepareMessage read_prepare(ChangeMessageReader& message);
/// COMMIT PREPARED there; `prepare` is that commit.
PrepareMessage read_commit_prepared(ChangeMessageReader& message);
/// ROLLBACK PREPARED there; `prepare` is the end of the PREPARE.
PrepareMessage read_rollback_prepared(ChangeMessageReader& message);

}  // namespace swizzle::sql
