#pragma once

#include <string_view>

namespace swizzle::sql {

/// True: the text is one JSON value, found with the processor's wide registers. False says nothing:
/// the reader takes values that are deeper or longer, larger numbers, halves of surrogates, and
/// says in PostgreSQL's words what is wrong where something is.
bool is_plain_json(std::string_view text);

}  // namespace swizzle::sql
