#include "sql-lite-frontend/session/commands/copy_decoder.h"

#include <algorithm>

#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {

CopyDecoder::Failure CopyDecoder::convert(std::string_view text, CopyReader& reader) {
  decoded_.clear();
  Result<> result = encoding_.decode(text, decoded_);
  count_bytes(text.size());
  reader.add(decoded_);
  if (!result) return std::move(result).error();
  return std::nullopt;
}

CopyDecoder::Failure CopyDecoder::add(std::string_view data, CopyReader& reader) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, kPiece);
    data.remove_prefix(piece.size());
    cut_ += piece;
    const std::size_t whole = encoding_.whole_characters(cut_);
    if (auto failure = convert(std::string_view{cut_}.substr(0, whole), reader)) return failure;
    cut_.erase(0, whole);
  }
  return std::nullopt;
}

CopyDecoder::Failure CopyDecoder::finish(CopyReader& reader) {
  Failure failure = convert(cut_, reader);
  reader.finish();
  return failure;
}

}  // namespace swizzle::sql
