#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/session/commands/copy_format.h"

namespace swizzle::sql {

/// Converts COPY's data to UTF-8 before they are cut into rows: in some encodings a character's
/// second byte looks like a backslash or another sign of the format. The pieces may be cut within a
/// character.
class CopyDecoder {
 public:
  /// The error of the first bytes that cannot be converted.
  using Failure = std::optional<Error>;

  explicit CopyDecoder(const EncodingTable& encoding) noexcept : encoding_(encoding) {}

  /// Gives the reader the text of this piece; of a piece with a failure, the text before it.
  [[nodiscard]] Failure add(std::string_view data, CopyReader& reader);
  /// Ends the reader's data. Fails if the last character is cut.
  [[nodiscard]] Failure finish(CopyReader& reader);

 private:
  Failure convert(std::string_view text, CopyReader& reader);

  const EncodingTable& encoding_;
  std::string cut_;  ///< the beginning of a character
  std::string decoded_;
};

}  // namespace swizzle::sql
