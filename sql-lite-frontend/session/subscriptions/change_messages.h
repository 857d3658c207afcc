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

/// A column's value in a row. The text lives as long as the message.
struct PublishedValue {
  enum class Kind : char { null = 'n', unchanged = 'u', text = 't' } kind = Kind::null;
  std::string_view text;
};
using PublishedRow = std::vector<PublishedValue>;
/// Reads a row into `row`. 08P01 for a value in another form than text.
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

}  // namespace swizzle::sql
