#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/invariant.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

struct Listed {
  const Type* type;
  TypeId id;
  TypeId array;
};
constexpr Listed kTypes[] = {
#define SWIZZLE_TYPE(type, number, array_number) \
  {&builtin::type, builtin_id::type, builtin_id::array_of_##type},
#include "sql-lite-frontend/types/type_list.inc"
#undef SWIZZLE_TYPE
};

/// Types with ids below this are found by index, without a search: all built-in ones.
constexpr std::size_t kDirectIds = 8192;

/// All built-in types and their arrays; immutable once built.
class TypeTable {
 public:
  TypeTable() {
    for (const auto& [type, id, array] : kTypes) {
      // Ends the process: the table is made before the first session.
      INVARIANT(type->id == id && type->array == array);
      add(*type);
      // The array type of rows has its own entry in the list.
      if (type->array != TypeId::none && type->array != TypeId::record_array)
        add(arrays_.emplace_back(array_of(*type)));
    }
    std::ranges::sort(types, {}, &Type::id);
  }

  std::vector<const Type*> types;
  std::unordered_map<std::string_view, const Type*> by_name;
  std::array<const Type*, kDirectIds> by_id{};

 private:
  void add(const Type& type) {
    // Ends the process: the table is made before the first session.
    INVARIANT(raw(type.id) < kDirectIds && by_id[raw(type.id)] == nullptr);
    types.push_back(&type);
    by_id[raw(type.id)] = &type;
    by_name.emplace(type.name, &type);
  }

  Type array_of(const Type& element) {
    Type array = array_prototype();
    array.id = element.array;
    array.element = element.id;
    array.name = names_.emplace_back("_" + std::string{element.name});
    array.sql_name = names_.emplace_back(std::string{element.sql_name} + "[]");
    array.delimiter = element.delimiter;
    if (element.alignment == 'd') array.alignment = 'd';
    array.collation = element.collation;
    return array;
  }

  std::deque<Type> arrays_;
  std::deque<std::string> names_;
};

const TypeTable& table() noexcept {
  static const TypeTable table;
  return table;
}

const Type* find_user_type(TypeId type) noexcept {
  if (is_user_array(type)) return &user_array_prototype();
  if (is_domain(type)) return find_type(base_of_domain(type).type);
  if (is_enum(type)) return &enum_prototype();
  if (is_user_range(type)) return &range_prototype();
  if (is_of_extension(type)) return find_extension_type(type);
  return is_user_multirange(type) ? &multirange_prototype() : &composite_prototype();
}

}  // namespace

std::span<const Type* const> builtin_types() noexcept {
  return table().types;
}

const Type* find_type(TypeId type) noexcept {
  if (raw(type) < kDirectIds) return table().by_id[raw(type)];
  if (is_collated(type)) return &collated_type(type);
  return is_user_type(type) ? find_user_type(type) : nullptr;
}

const Type* find_type(std::string_view name) noexcept {
  const auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : found->second;
}

bool is_built_in(TypeId type) noexcept {
  return raw(type) < kDirectIds && table().by_id[raw(type)] != nullptr;
}

const Type* find_built_in_type(std::string_view name) noexcept {
  return find_type(name);
}

std::int16_t type_size(TypeId type) noexcept {
  const Type* const known = find_type(type);
  return known != nullptr ? known->length : std::int16_t{-1};
}

const Type& value_type(TypeId type) noexcept {
  const Type* known = find_type(type);
  return known != nullptr ? *known : builtin::record;
}

const Type& type_info(TypeId type) {
  const Type* info = find_type(type);
  STATEMENT_INVARIANT(info != nullptr);
  return *info;
}

bool is_array(TypeId type) noexcept {
  type = base_type(type);
  if (is_user_array(type)) return true;
  const Type* info = find_type(type);
  return info != nullptr && info->shape == Shape::array && info->length == -1 &&
         info->name.starts_with('_');
}

TypeId element_type(TypeId type) noexcept {
  if (is_collated(type)) return collated_element(type);
  type = base_type(type);
  if (is_user_array(type)) return without_array(type);
  const Type* info = find_type(type);
  return info != nullptr && info->shape == Shape::array ? info->element : TypeId::none;
}

TypeId range_subtype(TypeId range) noexcept {
  return without_collation(range_bound_type(range));
}

TypeId range_bound_type(TypeId range) noexcept {
  range = base_type(range);
  if (is_user_range(range)) return noted_subtype(range);
  const Type* known = find_type(range);
  return known != nullptr && known->kind == 'r' ? known->subtype : TypeId::none;
}

TypeId range_of_multirange(TypeId multirange) noexcept {
  multirange = base_type(multirange);
  if (is_user_multirange(multirange))
    return TypeId{raw(multirange) - kFirstMultirange + kFirstRange};
  const Type* known = find_type(multirange);
  return known != nullptr && known->kind == 'm' ? known->subtype : TypeId::none;
}

TypeId multirange_of_range(TypeId range) noexcept {
  range = base_type(range);
  if (is_user_range(range)) return TypeId{raw(range) - kFirstRange + kFirstMultirange};
  const Type* known = find_type(range);
  return known != nullptr && known->kind == 'r' ? known->multirange : TypeId::none;
}

TypeId array_type(TypeId element) noexcept {
  if (is_collated(element)) return collated_array(element);
  if (is_user_type(element)) return is_user_array(element) ? TypeId::none : user_array_of(element);
  const Type* info = find_type(element);
  return info != nullptr ? info->array : TypeId::none;
}

bool is_string_category(TypeId type) noexcept {
  if (type == TypeId::unknown || type == TypeId::cstring) return true;
  const Type* info = find_type(type);
  return info != nullptr && (info->category == 'S' || type == TypeId::char_);
}

bool is_pseudo_type(TypeId type) noexcept {
  const Type* info = find_type(type);
  return info != nullptr && info->kind == 'p';
}

bool is_object_id(TypeId type) noexcept {
  const Type* info = find_type(type);
  return info != nullptr && info->shape == Shape::uint32 && info->category == 'N';
}

}  // namespace swizzle::sql
