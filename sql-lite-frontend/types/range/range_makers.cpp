#include "sql-lite-frontend/types/range/range_makers.h"

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/types/range/range_functions.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

struct Makers {
  std::vector<std::array<TypeId, 3>> arguments;
  std::vector<Function> functions;
  std::vector<const Function*> pointers;
};

/// Adds a function. It refers to its argument types in `makers`, so capacity must be reserved
/// first.
void add(Makers& makers, TypeId result, std::span<const TypeId> arguments, bool strict,
         ScalarFunction scalar) {
  auto& types = makers.arguments.emplace_back();
  std::ranges::copy(arguments, types.begin());
  Function function;
  function.strict = strict;
  function.result = result;
  function.arguments = std::span<const TypeId>{types}.first(arguments.size());
  function.scalar = scalar;
  makers.functions.push_back(function);
}

std::unique_ptr<const Makers> make(TypeId type) {
  constexpr std::size_t kMost = 2;
  auto makers = std::make_unique<Makers>();
  makers->arguments.reserve(kMost);
  makers->functions.reserve(kMost);
  if (is_user_range(type)) {
    const TypeId subtype = range_subtype(type);
    const TypeId types[] = {subtype, subtype, TypeId::text};
    add(*makers, type, std::span{types}.first(2), false, &construct_range);
    add(*makers, type, types, false, &construct_range);
  } else {
    const TypeId range = range_of_multirange(type);
    const TypeId types[] = {array_type(range)};
    add(*makers, type, {}, true, &construct_multirange);
    add(*makers, type, types, true, &construct_multirange);
    makers->functions.back().variadic = range;
  }
  for (const Function& function : makers->functions) makers->pointers.push_back(&function);
  return makers;
}

}  // namespace

std::span<const Function* const> range_makers(TypeId type) {
  if (!is_user_range(type) && !is_user_multirange(type)) return {};
  static std::mutex mutex;
  static std::unordered_map<TypeId, std::unique_ptr<const Makers>> known;
  const std::scoped_lock lock{mutex};
  auto& makers = known[type];
  if (!makers) makers = make(type);
  return makers->pointers;
}

}  // namespace swizzle::sql
