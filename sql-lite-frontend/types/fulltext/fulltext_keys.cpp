#include "sql-lite-frontend/types/fulltext/fulltext_keys.h"

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"

namespace swizzle::sql {
namespace {

constexpr char kHasPlaces = 0;
constexpr char kNoPlaces = 1;

// Complements the value, so that larger ones sort first.
void put_falling(std::string& key, std::uint16_t value) {
  keys::put(key, static_cast<std::uint16_t>(~value));
}
std::uint16_t take_falling(Bytes& key) {
  return static_cast<std::uint16_t>(~keys::take<std::uint16_t>(key));
}

/// Words contain no zero byte, so a zero ends them.
void put_word(std::string& key, std::string_view word) {
  key += word;
  key.push_back('\0');
}
std::string_view take_word(Bytes& key, Arena& arena) {
  const std::string_view rest = as_text(key);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) keys::corrupt();
  key = key.subspan(end + 1);
  return arena.copy(rest.substr(0, end));
}

constexpr std::uint8_t kWordByte = 9;
std::uint8_t byte_of(QueryOp op) noexcept {
  switch (op) {
    case QueryOp::phrase:
      return 1;
    case QueryOp::either:
      return 2;
    case QueryOp::both:
      return 3;
    case QueryOp::no:
      return 4;
    default:
      return kWordByte;
  }
}

void put_node(std::string& key, const QueryTree& tree, QueryPlace place) {
  check_stack();
  const QueryNode& node = tree.node(place);
  keys::put(key, byte_of(node.op));
  if (node.op == QueryOp::word) {
    // Greater checksums sort first; they are compared as signed numbers.
    const std::uint32_t sum = static_cast<std::uint32_t>(query_checksum(node.word)) ^ 1U << 31U;
    keys::put(key, ~sum);
    put_word(key, node.word);
    return;
  }
  put_node(key, tree, node.right);
  if (node.op == QueryOp::no) return;
  put_node(key, tree, node.left);
  put_falling(key, node.distance);
}

QueryPlace take_node(Bytes& key, QueryTree& tree, Arena& arena) {
  check_stack();
  constexpr QueryOp kOps[] = {QueryOp::word, QueryOp::phrase, QueryOp::either, QueryOp::both,
                              QueryOp::no};
  const auto byte = keys::take<std::uint8_t>(key);
  QueryNode node;
  if (byte == kWordByte) {
    keys::take<std::uint32_t>(key);
    node.word = take_word(key, arena);
    return tree.add(node);
  }
  if (byte < 1 || byte > 4) keys::corrupt();
  node.op = kOps[byte];
  node.right = take_node(key, tree, arena);
  if (node.op != QueryOp::no) {
    node.left = take_node(key, tree, arena);
    node.distance = take_falling(key);
  }
  return tree.add(node);
}

}  // namespace

void put_vector_key(std::string& key, const Value& vector) {
  const TextVectorView view{vector};
  keys::put(key, static_cast<std::uint32_t>(vector_reference_bytes(view)));
  keys::put(key, static_cast<std::uint32_t>(view.size()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    const WordPlaces places = view.places(i);
    key += places.empty() ? kNoPlaces : kHasPlaces;
    put_word(key, view.word(i));
    if (places.empty()) continue;
    put_falling(key, static_cast<std::uint16_t>(places.size()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      put_falling(key, static_cast<std::uint16_t>(places[k].place() << 2U | places[k].weight()));
    }
  }
}

Value take_vector_key(Bytes& key, Arena& arena) {
  keys::take<std::uint32_t>(key);
  const auto count = keys::take<std::uint32_t>(key);
  WordsMet words = words_met(arena);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool has_places = keys::take<std::uint8_t>(key) == 0;
    const std::string_view word = take_word(key, arena);
    if (!has_places) words.push_back({word, {}});
    for (unsigned left = has_places ? take_falling(key) : 0; left != 0; --left) {
      const unsigned bits = take_falling(key);
      words.push_back({word, WordPlace{bits >> 2U, bits & 3U}});
    }
  }
  return make_text_vector(arena, std::move(words));
}

void put_query_key(std::string& key, const Value& query) {
  const QueryTree tree = query_tree(query, nullptr);
  keys::put(key, static_cast<std::uint32_t>(tree.size()));
  keys::put(key, static_cast<std::uint32_t>(query_reference_bytes(tree)));
  if (tree.root) put_node(key, tree, *tree.root);
}

Value take_query_key(Bytes& key, Arena& arena) {
  const auto size = keys::take<std::uint32_t>(key);
  keys::take<std::uint32_t>(key);
  QueryTree tree{arena.account()};
  if (size != 0) tree.root = take_node(key, tree, arena);
  return make_text_query(arena, tree);
}

std::uint64_t hash_text_query(const Value& query, std::uint64_t seed) {
  std::string key;
  put_query_key(key, query);
  return hash_bytes(as_bytes(key), seed);
}

}  // namespace swizzle::sql
