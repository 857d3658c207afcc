#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/xml/xml_option.h"

/// SQL/XML expressions. All values are texts of well-formed content.
namespace swizzle::sql::xml {

/// Returns the option that xmloption sets.
Option option_of(const FunctionContext& context);

void append_escaped(std::string& out, std::string_view text);

/// Characters to escape in a name: those not allowed in XML names, or also a colon and a leading
/// "xml".
enum class Escapes : std::uint8_t { needed, all };
std::string name_of(std::string_view identifier, Escapes escapes);
/// Inverse of name_of(): returns the identifier.
std::string identifier_of(std::string_view name);

/// Appends a value as content or, if `escaped` is false, as an attribute's text. Pre: not NULL.
void append_value(FunctionContext& context, TypeId type, const Value& value, bool escaped,
                  std::string& out);

struct NamedValue {
  std::string_view name;
  TypeId type = TypeId::none;
  Value value;
};

/// Omits attributes and content that are NULL.
Value element(FunctionContext& context, std::string_view name,
              std::span<const NamedValue> attributes, std::span<const NamedValue> content);
/// Returns NULL if all elements are NULL.
Value forest(FunctionContext& context, std::span<const NamedValue> elements);
/// Pre: there is at least one part, and none is NULL.
Value concatenated(FunctionContext& context, std::span<const Value> parts);
/// `content` may be null.
Value instruction(FunctionContext& context, std::string_view target,
                  const std::string_view* content);
/// For with_root(): a null `version` means none; `standalone` is numbered as in the grammar.
enum class Standalone : std::uint8_t { yes, no, no_value, omitted };
Value with_root(FunctionContext& context, std::string_view text, const std::string_view* version,
                Standalone standalone);
Value parsed(FunctionContext& context, Option option, Blanks blanks, const Value& text);
bool is_document(FunctionContext& context, const Value& value);
/// Throws 2200L if content is not a document but must be one.
Value serialized(FunctionContext& context, Option option, const Value& value);
Value comment(FunctionContext& context, std::string_view text);

}  // namespace swizzle::sql::xml
