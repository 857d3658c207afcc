#include "sql-lite-frontend/types/extension/extension_operators.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "sql-lite-frontend/types/extension/citext.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/functions/type_functions.h"

namespace swizzle::sql {
namespace {

struct Comparison {
  std::string_view name;
  std::string_view function_name;
  TypeId type;
  ScalarFunction function;
};
constexpr Comparison kComparisons[] = {
    {"=", "citext_eq", kCitextType, &compare_with<compare_citext, std::equal_to<>>},
    {"<>", "citext_ne", kCitextType, &compare_with<compare_citext, std::not_equal_to<>>},
    {"<", "citext_lt", kCitextType, &compare_with<compare_citext, std::less<>>},
    {"<=", "citext_le", kCitextType, &compare_with<compare_citext, std::less_equal<>>},
    {">=", "citext_ge", kCitextType, &compare_with<compare_citext, std::greater_equal<>>},
    {">", "citext_gt", kCitextType, &compare_with<compare_citext, std::greater<>>},
    {"=", "hstore_eq", kHstoreType, &compare_with<compare_hstores, std::equal_to<>>},
    {"<>", "hstore_ne", kHstoreType, &compare_with<compare_hstores, std::not_equal_to<>>},
};
constexpr std::size_t kCount = std::size(kComparisons);

struct Made {
  std::array<std::array<TypeId, 2>, kCount> arguments{};
  std::array<Function, kCount> functions{};
  std::array<Operator, kCount> operators{};

  Made() {
    for (std::size_t i = 0; i < kCount; ++i) {
      const Comparison& of = kComparisons[i];
      arguments[i] = {of.type, of.type};
      functions[i].name = of.function_name;
      functions[i].result = TypeId::bool_;
      functions[i].arguments = arguments[i];
      functions[i].scalar = of.function;
      operators[i].name = of.name;
      operators[i].left = of.type;
      operators[i].right = of.type;
      operators[i].result = TypeId::bool_;
      operators[i].function = &functions[i];
      operators[i].can_merge = operators[i].can_hash = of.name == "=";
    }
  }
};

}  // namespace

std::vector<const Operator*> operators_not_of_extensions(std::string_view name) {
  std::vector<const Operator*> list;
  std::ranges::copy_if(operators_named(name), std::back_inserter(list),
                       [](const Operator* op) { return !is_of_extension(op->left); });
  return list;
}

std::span<const Operator> extension_operators() {
  static const Made kMade;
  return kMade.operators;
}

}  // namespace swizzle::sql
