#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/xml/xml_option.h"

/// Results of SQL/XML's expressions. All values are the text of well-formed content.
namespace swizzle::sql::xml {

/// Returns the option that xmloption sets.
Option option_of(const FunctionContext& context);

void append_escaped(std::string& out, std::string_view text);

/// Escapes in a name that is no name in XML: the necessary ones, or also a colon and an "xml" in
/// front.
enum class Escapes : std::uint8_t { needed, all };
std::string name_of(std::string_view identifier, Escapes escapes);
/// Inverts name_of(): returns the identifier.
std::string identifier_of(std::string_view name);

/// A value as content or, with `escaped` false, as an attribute's text. Pre: not NULL.
void append_value(FunctionContext& context, TypeId type, const Value& value, bool escaped,
                  std::string& out);

struct NamedValue {
  std::string_view name;
  TypeId type = TypeId::none;
  Value value;
};

/// Attributes and content that are NULL are left out.
Value element(FunctionContext& context, std::string_view name,
              std::span<const NamedValue> attributes, std::span<const NamedValue> content);
/// NULL if all are.
Value forest(FunctionContext& context, std::span<const NamedValue> elements);
/// Pre: none is NULL, and there is one.
Value concatenated(FunctionContext& context, std::span<const Value> parts);
/// `content` may be null.
Value instruction(FunctionContext& context, std::string_view target,
                  const std::string_view* content);
/// `version` null: none. `standalone`: as the grammar numbers it.
enum class Standalone : std::uint8_t { yes, no, no_value, omitted };
Value with_root(FunctionContext& context, std::string_view text, const std::string_view* version,
                Standalone standalone);
Value parsed(FunctionContext& context, Option option, Blanks blanks, const Value& text);
bool is_document(FunctionContext& context, const Value& value);
/// 2200L for content that is to be a document.
Value serialized(FunctionContext& context, Option option, const Value& value);
Value comment(FunctionContext& context, std::string_view text);

}  // namespace swizzle::sql::xml
