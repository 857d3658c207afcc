// The types tsvector and tsquery.
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/fulltext/fulltext_keys.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

Value vector_input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  verify_utf8(text);
  return read_text_vector(context.arena, text);
}
void vector_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  print_text_vector(value, out);
}
Value vector_receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  return receive_text_vector(context.arena, bytes);
}
void vector_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  send_text_vector(value, out);
}

Value query_input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  verify_utf8(text);
  return read_text_query(context.arena, text);
}
void query_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  print_text_query(value, out);
}
Value query_receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  return receive_text_query(context.arena, bytes);
}
void query_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  send_text_query(value, out);
}

constexpr TypeCodec kVectorCodec{vector_input, vector_output, vector_receive, vector_send};
constexpr TypeCodec kQueryCodec{query_input, query_output, query_receive, query_send};

constexpr TypeOrder kVectorOrder{
    .compare = &compare_text_vectors,
    .hash = &hash_whole,
    .put_key = &put_vector_key,
    .take_key = [](Bytes& key, TypeId, Arena& arena) { return take_vector_key(key, arena); },
    .key_keeps_value = true};
constexpr TypeOrder kQueryOrder{
    .compare = &compare_text_queries,
    .hash = &hash_text_query,
    .put_key = &put_query_key,
    .take_key = [](Bytes& key, TypeId, Arena& arena) { return take_query_key(key, arena); }};

}  // namespace

constinit const Type builtin::tsvector{.id = builtin_id::tsvector,
                                       .array = builtin_id::array_of_tsvector,
                                       .name = "tsvector",
                                       .sql_name = "tsvector",
                                       .shape = Shape::bytes,
                                       .io = kVectorCodec,
                                       .order = kVectorOrder,
                                       .functions = &kTextVectorFunctions};
constinit const Type builtin::tsquery{.id = builtin_id::tsquery,
                                      .array = builtin_id::array_of_tsquery,
                                      .name = "tsquery",
                                      .sql_name = "tsquery",
                                      .storage = 'p',
                                      .shape = Shape::bytes,
                                      .io = kQueryCodec,
                                      .order = kQueryOrder,
                                      .functions = &kTextQueryFunctions};

}  // namespace swizzle::sql
