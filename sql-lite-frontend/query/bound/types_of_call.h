#pragma once

#include <span>

#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// While it lives, a called function knows the types of its arguments, and so their collation.
class TypesOfCall {
 public:
  TypesOfCall(FunctionContext& context, std::span<const TypeId> types) noexcept
      : context_(context) {
    context_.call = {.arguments = types};
  }
  TypesOfCall(const TypesOfCall&) = delete;
  TypesOfCall& operator=(const TypesOfCall&) = delete;
  ~TypesOfCall() { context_.call = {}; }

 private:
  FunctionContext& context_;
};

}  // namespace swizzle::sql
