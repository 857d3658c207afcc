#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

/// Values of a domain have the text and binary forms of its base type; input is checked.
namespace swizzle::sql {
Value enter_domain(FunctionContext& context, TypeId domain, const Value& value, Coercion coercion) {
  const DomainBase base = base_of_domain(domain);
  const Value fitted = coerce_length(context, base.type, base.typmod, value, coercion);
  if (context.session.names != nullptr) context.session.names->check_domain(domain, fitted);
  return fitted;
}

Value null_of(FunctionContext& context, TypeId type) {
  return is_domain(type) ? enter_domain(context, type, Value::null(), Coercion::assignment)
                         : Value::null();
}

namespace {

Value domain_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  const DomainBase base = base_of_domain(type);
  const Value value = input_text(context, base.type, base.typmod, text);
  return enter_domain(context, type, value, Coercion::assignment);
}

void domain_output(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  output_text(context, base_type(type), value, out);
}

Value domain_receive(FunctionContext& context, TypeId type, std::int32_t, Bytes bytes) {
  const DomainBase base = base_of_domain(type);
  const Value value = receive_binary(context, base.type, base.typmod, bytes);
  return enter_domain(context, type, value, Coercion::assignment);
}

void domain_send(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  send_binary(context, base_type(type), value, out);
}

}  // namespace

constexpr TypeCodec kDomainCodec{domain_input, domain_output, domain_receive, domain_send};

const TypeCodec& domain_codec() noexcept {
  return kDomainCodec;
}

}  // namespace swizzle::sql
