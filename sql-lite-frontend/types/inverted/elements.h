#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/memory_account.h"

/// Elements of values as encoded in keys of an inverted index. They are prefix-free, because the
/// row's key follows. Equal elements have equal encodings; long different elements may have equal
/// ones too, so rows found by an element are always checked again.
namespace swizzle::sql {

/// Maximum size of an element's encoding.
inline constexpr std::size_t kMostElementBytes = 280;

/// List of elements whose bytes are in an arena.
using ElementList = CountedVector<std::string_view>;

/// Returns the distinct elements of a value, ascending. Pre: the value is not NULL, and of a type
/// that the class supports.
ElementList elements_of(ElementClass id, const Value& value, Arena& arena);

/// Element of a value without elements, for classes with an operator that finds such values.
inline constexpr std::string_view kEmptyMarker = "\x01";
/// Tag for types that have only one kind of text element.
inline constexpr char kNoTag = 0;
/// Encodes a piece of text, a word or a key, as an element.
std::string text_element(char tag, std::string_view text);
/// Returns the common prefix of the elements of all texts that begin with `beginning`.
std::string text_prefix(char tag, std::string_view beginning);

/// Tags of jsonb's elements. A string in an array counts as a key, because the operator ? finds
/// both.
inline constexpr char kJsonKeyTag = 'k';
inline constexpr char kJsonStringTag = 's';
inline constexpr char kJsonOtherTag = 'o';
/// Tags of hstore's elements: a key; a key with its value, or with NULL.
inline constexpr char kPairKeyTag = 'k';
inline constexpr char kPairValueTag = 'v';
inline constexpr char kPairNullTag = 'n';

/// Element of jsonb_path: a scalar at the end of a path of keys; for a string, its unescaped text.
enum class ScalarKind : std::uint8_t { text, other };
std::string jsonb_path_element(std::span<const std::string_view> keys, std::string_view scalar,
                               ScalarKind kind);

/// Returns the common spelling of all equal numbers. Pre: jsonb's spelling.
std::string_view plain_json_number(std::string_view number) noexcept;

}  // namespace swizzle::sql
