#include "sql-lite-frontend/types/fulltext/text_query.h"

#include <algorithm>
#include <array>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"

/// Layout of a value: u32 count of nodes, then the nodes, an operator before its operands, the
/// right operand first. Word: 1, weights, prefix, u16 length, letters. Operator: 2, kind, u16
/// distance; with two operands also u32, the number of nodes to the left one.
namespace swizzle::sql {
namespace {

constexpr char kWordNode = 1;
constexpr char kOperatorNode = 2;

[[noreturn]] void malformed() {
  throw SqlError{SqlState{"XX001"}, "a stored tsquery is malformed"};
}

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

/// Writes a tree's nodes in a value's order.
class Writer {
 public:
  explicit Writer(const QueryTree& tree) : tree_(tree) {}
  void write(QueryPlace place) {
    check_stack();
    const QueryNode& node = tree_.node(place);
    ++count_;
    yield_point(10);
    if (node.op == QueryOp::word) {
      out_ += kWordNode;
      out_ += static_cast<char>(node.weights);
      out_ += node.prefix ? '\1' : '\0';
      put(out_, static_cast<std::uint16_t>(node.word.size()));
      out_ += node.word;
      return;
    }
    out_ += kOperatorNode;
    out_ += static_cast<char>(node.op);
    put(out_, node.distance);
    const std::size_t at = out_.size();
    const std::uint32_t own = count_;
    put(out_, std::uint32_t{0});
    write(node.right);
    if (node.op == QueryOp::no) return;
    const std::uint32_t left = count_ - own + 1;
    std::memcpy(out_.data() + at, &left, sizeof left);
    write(node.left);
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& text() const noexcept { return out_; }

 private:
  const QueryTree& tree_;
  std::string out_;
  std::uint32_t count_ = 0;
};

class NodeReader {
 public:
  explicit NodeReader(Bytes bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    return load<T>(take_bytes(sizeof(T)).data());
  }
  Bytes take_bytes(std::size_t count) {
    if (rest_.size() < count) malformed();
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  Bytes rest_;
};

int priority(QueryOp op) noexcept {
  switch (op) {
    case QueryOp::either:
      return 1;
    case QueryOp::both:
      return 2;
    case QueryOp::phrase:
      return 3;
    case QueryOp::no:
      return 4;
    default:
      return 5;
  }
}

class Printer {
 public:
  Printer(const QueryTree& tree, std::string& out) : tree_(tree), out_(out) {}
  enum class Of : std::uint8_t { anything, right_of_phrase };

  void print(QueryPlace place, int outer, Of what) {
    check_stack();
    const QueryNode& node = tree_.node(place);
    if (node.op == QueryOp::word) return print_word(node);
    const int own = priority(node.op);
    const bool needs = own < outer || (node.op == QueryOp::phrase && what == Of::right_of_phrase);
    if (needs) out_ += "( ";
    if (node.op == QueryOp::no) {
      out_ += '!';
      print(node.right, own, Of::anything);
    } else {
      print(node.left, own, Of::anything);
      print_operator(node);
      print(node.right, own, node.op == QueryOp::phrase ? Of::right_of_phrase : Of::anything);
    }
    if (needs) out_ += " )";
  }

 private:
  void print_word(const QueryNode& node) {
    append_quoted_word(node.word, out_);
    if (!node.prefix && node.weights == 0) return;
    out_ += ':';
    if (node.prefix) out_ += '*';
    for (const unsigned weight : {3U, 2U, 1U, 0U}) {
      if ((node.weights >> weight & 1U) != 0) out_ += weight_letter(weight);
    }
  }
  void print_operator(const QueryNode& node) {
    if (node.op == QueryOp::both) {
      out_ += " & ";
    } else if (node.op == QueryOp::either) {
      out_ += " | ";
    } else if (node.distance == 1) {
      out_ += " <-> ";
    } else {
      out_ += " <" + std::to_string(node.distance) + "> ";
    }
  }

  const QueryTree& tree_;
  std::string& out_;
};

template <class T>
int order(const T& left, const T& right) {
  return left < right ? -1 : (right < left ? 1 : 0);
}

int wire_number(QueryOp op) noexcept {
  switch (op) {
    case QueryOp::no:
      return 1;
    case QueryOp::both:
      return 2;
    case QueryOp::either:
      return 3;
    default:
      return 4;
  }
}

int compare_nodes(const QueryTree& left, QueryPlace a, const QueryTree& right, QueryPlace b) {
  check_stack();
  const QueryNode& l = left.node(a);
  const QueryNode& r = right.node(b);
  const bool is_word = l.op == QueryOp::word;
  if (is_word != (r.op == QueryOp::word)) return is_word ? 1 : -1;
  if (is_word) return compare_query_words(l, r);
  if (l.op != r.op) return operator_rank(l.op) > operator_rank(r.op) ? -1 : 1;
  if (const int by_right = compare_nodes(left, l.right, right, r.right); by_right != 0) {
    return by_right;
  }
  if (l.op == QueryOp::no) return 0;
  if (const int by_left = compare_nodes(left, l.left, right, r.left); by_left != 0) return by_left;
  return order(r.distance, l.distance);
}

}  // namespace

int operator_rank(QueryOp op) noexcept {
  return wire_number(op);
}

int compare_query_words(const QueryNode& left, const QueryNode& right) {
  const int by_sum = order(query_checksum(right.word), query_checksum(left.word));
  return by_sum != 0 ? by_sum : order(left.word, right.word);
}

std::int32_t query_checksum(std::string_view word) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? crc >> 1U ^ 0xedb88320U : crc >> 1U;
      table[i] = crc;
    }
    return table;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : word) {
    crc = kTable[(crc >> 24U ^ static_cast<unsigned char>(c)) & 0xffU] ^ crc << 8U;
  }
  return static_cast<std::int32_t>(crc ^ 0xffffffffU);
}

std::size_t query_reference_bytes(const QueryTree& tree) {
  std::size_t bytes = 8 + 12 * tree.size();
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const QueryNode& node = tree.node(static_cast<QueryPlace>(i));
    if (node.op == QueryOp::word) bytes += node.word.size() + 1;
  }
  return bytes;
}

QueryPlace QueryTree::adopt(const QueryTree& other) {
  yield_point(other.nodes_.size());
  const auto shift = static_cast<QueryPlace>(nodes_.size());
  for (QueryNode node : other.nodes_) {
    node.left += shift;
    node.right += shift;
    nodes_.push_back(node);
  }
  return *other.root + shift;
}

Value make_text_query(Arena& arena, const QueryTree& tree) {
  Writer writer{tree};
  if (tree.root) writer.write(*tree.root);
  std::string value;
  put(value, writer.count());
  value += writer.text();
  return make_text(arena, value);
}

std::size_t query_size(const Value& value) {
  return NodeReader{value.as_bytes()}.take<std::uint32_t>();
}

QueryTree query_tree(const Value& value, MemoryAccount* account) {
  QueryTree tree{account};
  NodeReader reader{value.as_bytes()};
  const auto count = reader.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    QueryNode node;
    const auto kind = reader.take<char>();
    if (kind == kWordNode) {
      node.weights = reader.take<std::uint8_t>();
      node.prefix = reader.take<char>() != 0;
      node.word = as_text(reader.take_bytes(reader.take<std::uint16_t>()));
    } else {
      const auto op = reader.take<std::uint8_t>();
      if (kind != kOperatorNode || op < 2 || op > 5) malformed();
      node.op = QueryOp{op};
      node.distance = reader.take<std::uint16_t>();
      node.right = i + 1;
      node.left = i + reader.take<std::uint32_t>();
      const bool fits = node.right < count && node.left < count &&
                        (node.op == QueryOp::no || node.left > node.right);
      if (!fits) malformed();
    }
    tree.add(node);
  }
  if (count != 0) tree.root = 0;
  return tree;
}

int compare_text_queries(const Value& left, const Value& right) {
  const QueryTree a = query_tree(left, nullptr);
  const QueryTree b = query_tree(right, nullptr);
  if (a.size() != b.size()) return order(a.size(), b.size());
  if (const int by_bytes = order(query_reference_bytes(a), query_reference_bytes(b));
      by_bytes != 0) {
    return by_bytes;
  }
  if (!a.root) return 0;
  return compare_nodes(a, *a.root, b, *b.root);
}

void print_query_tree(const QueryTree& tree, QueryPlace from, std::string& out) {
  Printer{tree, out}.print(from, -1, Printer::Of::anything);
}

void print_text_query(const Value& value, std::string& out) {
  const QueryTree tree = query_tree(value, nullptr);
  if (tree.root) print_query_tree(tree, *tree.root, out);
}

void send_text_query(const Value& value, std::string& out) {
  const QueryTree tree = query_tree(value, nullptr);
  append_big_endian(out, static_cast<std::int32_t>(tree.size()));
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const QueryNode& node = tree.node(static_cast<QueryPlace>(i));
    if (node.op == QueryOp::word) {
      out += kWordNode;
      out += static_cast<char>(node.weights);
      out += node.prefix ? '\1' : '\0';
      out += node.word;
      out += '\0';
      continue;
    }
    out += kOperatorNode;
    out += static_cast<char>(wire_number(node.op));
    if (node.op == QueryOp::phrase) append_big_endian(out, node.distance);
  }
}

namespace {

/// Reads nodes as they arrive by the protocol: an operator before its operands, the right one
/// first.
class WireReader {
 public:
  WireReader(Arena& arena, Bytes bytes) : arena_(arena), reader_(bytes), tree_(arena.account()) {}
  Value read() {
    const auto count = reader_.take<std::uint32_t>();
    left_ = count;
    if (count > 0) tree_.root = read_node();
    if (left_ != 0) fail("invalid pointers", "");
    reader_.finish();
    return make_text_query(arena_, tree_);
  }

 private:
  [[noreturn]] static void fail(std::string_view what, std::string_view) {
    throw_error(sqlstate::invalid_binary_representation, "malformed tsquery: {}", what);
  }
  QueryPlace read_node() {
    check_stack();
    yield_point(10);
    if (left_ == 0) fail("operand not found", "");
    --left_;
    const auto kind = reader_.take<char>();
    if (kind == kWordNode) return read_word();
    if (kind != kOperatorNode) {
      throw_error(sqlstate::invalid_binary_representation, "unrecognized tsquery node type: {}",
                  int{kind});
    }
    const auto op = reader_.take<std::uint8_t>();
    constexpr QueryOp kOps[] = {QueryOp::no, QueryOp::both, QueryOp::either, QueryOp::phrase};
    if (op < 1 || op > 4) {
      throw_error(sqlstate::invalid_binary_representation, "unrecognized tsquery operator type: {}",
                  int{op});
    }
    QueryNode node{.op = kOps[op - 1]};
    if (node.op == QueryOp::phrase) node.distance = reader_.take<std::uint16_t>();
    node.right = read_node();
    if (node.op != QueryOp::no) node.left = read_node();
    return tree_.add(node);
  }
  QueryPlace read_word() {
    QueryNode node;
    node.weights = reader_.take<std::uint8_t>();
    node.prefix = reader_.take<char>() != 0;
    std::string word;
    for (char c = 0; (c = reader_.take<char>()) != 0;) word += c;
    verify_utf8(word);
    if (node.weights > 15) {
      throw_error(sqlstate::invalid_binary_representation,
                  "invalid tsquery: invalid weight bitmap");
    }
    if (word.size() >= kWordLimit) {
      throw_error(sqlstate::invalid_binary_representation, "invalid tsquery: operand too long");
    }
    node.word = arena_.copy(word);
    return tree_.add(node);
  }

  Arena& arena_;
  BinaryReader reader_;
  QueryTree tree_;
  std::uint32_t left_ = 0;
};

/// Part of a query without its stop words, and the distance that they add to the neighbours before
/// and after.
struct Remaining {
  std::optional<QueryPlace> place;
  std::uint32_t before = 0;
  std::uint32_t behind = 0;
};

Remaining without_stops(QueryTree& tree, QueryPlace place) {
  check_stack();
  const QueryNode node = tree.node(place);
  if (node.op == QueryOp::word) return {place};
  if (node.op == QueryOp::stop) return {};
  if (node.op == QueryOp::no) {
    Remaining rest = without_stops(tree, node.right);
    if (!rest.place) return rest;
    tree.node(place).right = *rest.place;
    return {place, rest.before, rest.behind};
  }
  const bool is_phrase = node.op == QueryOp::phrase;
  const std::uint32_t distance = is_phrase ? node.distance : 0;
  const Remaining left = without_stops(tree, node.left);
  const Remaining right = without_stops(tree, node.right);
  if (!left.place && !right.place) {
    const std::uint32_t all =
        is_phrase ? left.before + distance + right.before : std::max(left.before, right.before);
    return {std::nullopt, all, all};
  }
  if (!left.place) {
    return {right.place, is_phrase ? left.before + distance + right.before : right.before,
            right.behind};
  }
  if (!right.place) {
    return {left.place, left.before,
            is_phrase ? left.behind + distance + right.behind : left.behind};
  }
  QueryNode& kept = tree.node(place);
  kept.left = *left.place;
  kept.right = *right.place;
  if (!is_phrase) return {place};
  kept.distance = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(distance + left.behind + right.before, kMostDistance));
  return {place, left.before, right.behind};
}

}  // namespace

Value receive_text_query(Arena& arena, Bytes bytes) {
  return WireReader{arena, bytes}.read();
}

void remove_stop_words(QueryTree& tree) {
  if (tree.root) tree.root = without_stops(tree, *tree.root).place;
}

}  // namespace swizzle::sql
