#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encodings/encoding.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

using CountedString = std::basic_string<char, std::char_traits<char>, CountedAllocator<char>>;

struct CopyOptions {
  enum class Kind : std::uint8_t { text, csv, binary } kind = Kind::text;
  char delimiter = '\t';
  std::string null = "\\N";
  std::optional<std::string> default_marker;  ///< DEFAULT
  bool header = false;
  bool header_must_match = false;
  char quote = '"';
  char escape = '"';
  std::vector<std::string> force_quote;
  bool force_quote_all = false;
  std::vector<std::string> force_not_null;
  std::vector<std::string> force_null;
  /// FREEZE: without effect, but allowed only for tables that this transaction has created or
  /// truncated.
  bool freeze = false;
  std::optional<Encoding> encoding;  ///< ENCODING; without it the data have the client's
  /// ON_ERROR ignore: rows with a value that its type does not read are left out, up to
  /// REJECT_LIMIT of them (0: any number).
  bool skips_errors = false;
  std::int64_t reject_limit = 0;
  enum class Verbosity : std::uint8_t { silent, usual, verbose } verbosity = Verbosity::usual;
};

/// True if an option that lists columns has this one.
inline bool lists(const std::vector<std::string>& columns, std::string_view name) {
  return std::ranges::find(columns, name) != columns.end();
}

enum class CopyDirection : std::uint8_t { from, to };

/// Reads the options of COPY … WITH (…). Throws SqlError for invalid or contradictory ones.
CopyOptions read_copy_options(ast::NodeList options, CopyDirection direction);

/// Throws SqlError 54000 if a buffer of COPY would exceed a gigabyte, as in PostgreSQL.
void require_copy_room(std::size_t held, std::size_t more);

/// Cuts COPY's text or CSV stream into rows of fields. Data comes in pieces of any size.
class CopyReader {
 public:
  /// Charges the memory of a row to `account`, if there is one.
  explicit CopyReader(const CopyOptions& options, MemoryAccount* account = nullptr)
      : options_(options),
        buffer_(CountedAllocator<char>{account}),
        unescaped_(CountedAllocator<char>{account}),
        pieces_(CountedAllocator<Piece>{account}),
        fields_(CountedAllocator<Field>{account}) {}

  /// Throws SqlError 53200 when the account is used up, 54000 for a row of a gigabyte.
  void add(std::string_view data);
  void finish() { at_end_ = true; }
  /// True once the mark of the data's end, `\.`, was read: what follows is not.
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  struct Field {
    std::string_view text;
    bool is_null = false;
    bool was_quoted = false;
    bool is_default = false;  ///< the marker of DEFAULT
  };
  /// The fields of the next row, valid until the next call; nullopt when more data is needed, or,
  /// after finish(), at the end. Throws SqlError 22P04.
  std::optional<std::span<const Field>> next();
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
  /// Returns the row that next() read last, as it was sent.
  [[nodiscard]] std::optional<std::string_view> record() const noexcept { return record_; }

 private:
  std::optional<std::string_view> take_line();
  std::optional<std::string_view> take_csv_record();
  void split_plain(std::string_view line);
  void split_text(std::string_view line);
  void split_csv(std::string_view line);

  struct Piece {
    std::size_t begin;
    std::size_t size;
    bool is_null;
    bool was_quoted;
    bool is_default;
  };

  const CopyOptions& options_;
  CountedString buffer_;
  std::size_t position_ = 0;
  std::size_t searched_ = 0;
  bool in_quotes_ = false;
  bool at_end_ = false;
  bool ended_ = false;
  std::uint64_t line_ = 0;
  std::optional<std::string_view> record_;
  CountedString unescaped_;
  CountedVector<Piece> pieces_;
  CountedVector<Field> fields_;
};

/// Appends one field of COPY TO, escaped.
void append_copy_text(std::string& out, std::string_view value, const CopyOptions& options);
void append_copy_csv(std::string& out, std::string_view value, const CopyOptions& options,
                     bool force_quote, bool only_column);

}  // namespace swizzle::sql
