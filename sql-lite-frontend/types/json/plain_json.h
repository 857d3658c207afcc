#pragma once

#include <string_view>

namespace swizzle::sql {

/// True: the text is one JSON value, found with the processor's wide registers. False leaves it
/// open: the reader decides. It takes values that are deeper or longer, larger numbers, halves of
/// surrogates, and reports errors in PostgreSQL's words.
bool is_plain_json(std::string_view text);

}  // namespace swizzle::sql
