#include "sql-lite-frontend/types/pseudo_types.h"

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

constexpr TypeCodec kVoidCodec{
    [](FunctionContext&, TypeId, std::int32_t, std::string_view) { return Value::from_int(0); },
    [](FunctionContext&, TypeId, const Value&, std::string&) {},
    [](FunctionContext&, TypeId, std::int32_t, Bytes) { return Value::from_int(0); },
    [](FunctionContext&, TypeId, const Value&, std::string&) {}};

namespace {

constexpr Type any_type() {
  Type type = pseudo_type(TypeId::any, "any");
  type.sql_name = "\"any\"";
  return type;
}
constexpr Type void_type() {
  Type type = pseudo_type(TypeId::void_, "void");
  type.io = kVoidCodec;
  return type;
}
constexpr Type internal_type() {
  Type type = pseudo_type(TypeId::internal, "internal");
  type.length = 8;
  type.alignment = 'd';
  return type;
}

constexpr Type ddl_command_type() {
  Type type = pseudo_type(TypeId::pg_ddl_command, "pg_ddl_command");
  type.length = 8;
  type.alignment = 'd';
  return type;
}

}  // namespace

constinit const Type builtin::any = any_type();
constinit const Type builtin::void_ = void_type();
constinit const Type builtin::trigger = pseudo_type(TypeId::trigger, "trigger");
constinit const Type builtin::event_trigger = pseudo_type(TypeId::event_trigger, "event_trigger");
constinit const Type builtin::internal = internal_type();
constinit const Type builtin::pg_ddl_command = ddl_command_type();
constinit const Type builtin::anyelement = pseudo_type(TypeId::anyelement, "anyelement");
constinit const Type builtin::anynonarray = pseudo_type(TypeId::anynonarray, "anynonarray");
constinit const Type builtin::anyenum = pseudo_type(TypeId::anyenum, "anyenum");
constinit const Type builtin::anycompatible = pseudo_type(TypeId::anycompatible, "anycompatible");
constinit const Type builtin::anycompatiblearray =
    long_pseudo_type(TypeId::anycompatiblearray, "anycompatiblearray");
constinit const Type builtin::anycompatiblerange =
    long_pseudo_type(TypeId::anycompatiblerange, "anycompatiblerange");
constinit const Type builtin::anycompatiblemultirange =
    long_pseudo_type(TypeId::anycompatiblemultirange, "anycompatiblemultirange");
constinit const Type builtin::anycompatiblenonarray =
    pseudo_type(TypeId::anycompatiblenonarray, "anycompatiblenonarray");

}  // namespace swizzle::sql
