#pragma once

#include <cstdint>
#include <functional>

#include "base/encodings/encoding.h"

/// Characters for which PostgreSQL's tables differ from those of the system's iconv.
namespace swizzle {

/// `count` numbers from `from` on, which become as many from `to` on; `to` 0: they have none.
struct CharacterRun {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t count;
};

/// Visits the codes with other code points.
void for_each_decoding_exception(Encoding encoding,
                                 const std::function<void(const CharacterRun&)>& visit);
/// Visits the code points with other codes than the first one that means them.
void for_each_encoding_exception(Encoding encoding,
                                 const std::function<void(const CharacterRun&)>& visit);

}  // namespace swizzle
