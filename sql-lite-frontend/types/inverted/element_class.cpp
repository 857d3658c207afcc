#include "sql-lite-frontend/types/inverted/element_class.h"

#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr ElementClassInfo kClasses[] = {
    {ElementClass::array, 10064, "array_ops", 2745, TypeId::anyarray, TypeId::anyelement, true},
    {ElementClass::words, 10073, "tsvector_ops", 3659, builtin_id::tsvector, TypeId::text, true},
    {ElementClass::jsonb, 10090, "jsonb_ops", 4036, TypeId::jsonb, TypeId::text, true},
    {ElementClass::jsonb_path, 10091, "jsonb_path_ops", 4037, TypeId::jsonb, TypeId::int4, false},
    {ElementClass::trigrams, 15901, "gin_trgm_ops", 15902, TypeId::text, TypeId::int4, false,
     "pg_trgm"},
    {ElementClass::pairs, 15903, "gin_hstore_ops", 15904, kHstoreType, TypeId::text, true,
     "hstore"},
};

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> list) noexcept {
  return std::ranges::find(list, op) != list.end();
}

bool asks_path(std::string_view op, TypeId value) noexcept {
  return value == builtin_id::jsonpath && is_one_of(op, {"@?", "@@"});
}

}  // namespace

std::span<const ElementClassInfo> element_classes() noexcept {
  return kClasses;
}

bool takes_apart(const ElementClassInfo& of, TypeId type) noexcept {
  type = base_type(type);
  if (of.id == ElementClass::trigrams) return type == TypeId::text || type == TypeId::varchar;
  return of.type == TypeId::anyarray ? is_array(type) : of.type == type;
}

const ElementClassInfo* find_element_class(TypeId type, std::string_view name) noexcept {
  for (const ElementClassInfo& candidate : kClasses) {
    if (name.empty() ? candidate.is_default && takes_apart(candidate, type)
                     : candidate.name == name) {
      return &candidate;
    }
  }
  return nullptr;
}

bool answers(ElementClass id, std::string_view op, OperandSide side, TypeId value) noexcept {
  const bool is_left = side == OperandSide::left;
  switch (id) {
    case ElementClass::array:
      return is_one_of(op, {"@>", "<@", "&&", "="}) && is_array(value);
    case ElementClass::jsonb:
      if (!is_left) return op == "<@" && value == TypeId::jsonb;
      if (op == "@>") return value == TypeId::jsonb;
      if (op == "?") return value == TypeId::text;
      return is_one_of(op, {"?|", "?&"}) || asks_path(op, value);
    case ElementClass::jsonb_path:
      if (is_left && asks_path(op, value)) return true;
      return value == TypeId::jsonb && op == (is_left ? "@>" : "<@");
    case ElementClass::words:
      return value == builtin_id::tsquery && is_one_of(op, {"@@", "@@@"});
    case ElementClass::trigrams:
      if (value != TypeId::text) return false;
      if (is_one_of(op, {"%", "="})) return true;
      return is_left ? is_one_of(op, {"~~", "~~*", "%>", "%>>"}) : is_one_of(op, {"<%", "<<%"});
    case ElementClass::pairs:
      if (!is_left) return op == "<@" && value == kHstoreType;
      if (op == "@>") return value == kHstoreType;
      return op == "?" ? value == TypeId::text : is_one_of(op, {"?|", "?&"});
  }
  return false;
}

}  // namespace swizzle::sql
