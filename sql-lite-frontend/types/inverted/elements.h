#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/memory_account.h"

/// Elements of values as keys of an inverted index have them. Each is prefix-free bytes, so what
/// follows it, the key of a row, can be told apart; equal elements have equal bytes. Different ones
/// may, too, where they are long: a row that an element has led to is always asked.
namespace swizzle::sql {

/// An element has no more bytes than this.
inline constexpr std::size_t kMostElementBytes = 280;

/// List of elements, whose bytes lie in an arena.
using ElementList = CountedVector<std::string_view>;

/// Returns the elements of a value, each once, ascending. Pre: it is not NULL, and of a type that
/// the class takes apart.
ElementList elements_of(ElementClass id, const Value& value, Arena& arena);

/// Element that stands for a value without elements, where an operator can find such values.
inline constexpr std::string_view kEmptyMarker = "\x01";
/// Tag for values with texts of one kind only.
inline constexpr char kNoTag = 0;
/// Returns the index's element for a piece of text: a word, a key.
std::string text_element(char tag, std::string_view text);
/// Returns the common prefix of the elements that text_element() makes of texts with that
/// beginning.
std::string text_prefix(char tag, std::string_view beginning);

/// Tags of jsonb's elements. A string in an array counts as a key, since ? asks for either.
inline constexpr char kJsonKeyTag = 'k';
inline constexpr char kJsonStringTag = 's';
inline constexpr char kJsonOtherTag = 'o';
/// Tags of an hstore's: a key; a key with its value, or with NULL.
inline constexpr char kPairKeyTag = 'k';
inline constexpr char kPairValueTag = 'v';
inline constexpr char kPairNullTag = 'n';

/// An element of jsonb_path: a scalar, of a string its letters, at the end of some keys.
enum class ScalarKind : std::uint8_t { text, other };
std::string jsonb_path_element(std::span<const std::string_view> keys, std::string_view scalar,
                               ScalarKind kind);

/// A number as all that equal it are spelled. Pre: jsonb's spelling.
std::string_view plain_json_number(std::string_view number) noexcept;

}  // namespace swizzle::sql
