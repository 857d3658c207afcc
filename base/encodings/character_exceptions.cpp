#include "base/encodings/character_exceptions.h"

#include <algorithm>

namespace swizzle {
namespace {

struct Exception {
  Encoding encoding;
  CharacterRun run;
};

#include "base/encodings/character_exceptions.inc"

}  // namespace

void for_each_decoding_exception(Encoding encoding,
                                 const std::function<void(const CharacterRun&)>& visit) {
  for (const Exception& exception : kDecoded) {
    if (exception.encoding == encoding) visit(exception.run);
  }
}

void for_each_encoding_exception(Encoding encoding,
                                 const std::function<void(const CharacterRun&)>& visit) {
  for (const Exception& exception : kEncoded) {
    if (exception.encoding == encoding) visit(exception.run);
  }
}

}  // namespace swizzle
