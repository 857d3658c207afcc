#include "sql-lite-frontend/types/inverted/element_query.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/inverted/elements.h"
#include "sql-lite-frontend/types/inverted/path_elements.h"
#include "sql-lite-frontend/types/text/trigrams.h"

namespace swizzle::sql {
namespace {

using Kind = ElementQuery::Kind;

ElementQuery array_query(std::string_view op, OperandSide side, const Value& value,
                         ElementQueries& queries) {
  const bool is_left = side == OperandSide::left;
  const bool contains = op == (is_left ? "@>" : "<@");
  const bool is_contained = op == (is_left ? "<@" : "@>");
  const ArrayView view{value};
  ElementList elements = elements_of(ElementClass::array, value, queries.arena());
  // No array matches @> with a NULL element; every array contains the empty one.
  if (contains && view.has_nulls()) return queries.of(Kind::nothing);
  if (contains && view.size() == 0) return queries.of(Kind::everything);
  if (contains || op == "=") return queries.of(Kind::all, elements);
  if (op == "&&" && view.size() == 0) return queries.of(Kind::nothing);
  if (is_contained && view.size() != 0) elements.push_back(kEmptyMarker);
  return queries.of(Kind::any, elements);
}

/// Query for ?| and ?&.
ElementQuery keys_query(Kind kind, const Value& keys, ElementQueries& queries) {
  const ArrayView view{keys};
  auto parts = queries.list();
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value key = view.element(i);
    if (key.is_null()) continue;
    parts.push_back(queries.of(Kind::element, text_element(kJsonKeyTag, key.as_text())));
  }
  return queries.joined(kind, std::move(parts));
}

/// LIKE and = need all trigrams of the operand; the other operators need at least one.
ElementQuery trigrams_query(std::string_view op, const Value& value, ElementQueries& queries) {
  const bool is_pattern = op == "~~" || op == "~~*";
  const std::vector<Trigram> list = is_pattern ? trigrams_of_pattern(value.as_text())
                                               : each_once(trigrams_of(value.as_text()).list);
  auto parts = queries.list();
  for (const Trigram& one : list) {
    parts.push_back(queries.of(Kind::element, text_element(kNoTag, {one.data(), one.size()})));
  }
  return queries.joined(is_pattern || op == "=" ? Kind::all : Kind::any, std::move(parts));
}

/// Returns the index's query for a tsquery. The index has neither negations nor positions: NOT
/// matches everything, and a phrase is searched as AND.
ElementQuery words_query(const QueryTree& tree, QueryPlace place, ElementQueries& queries) {
  check_stack();
  const QueryNode& node = tree.node(place);
  switch (node.op) {
    case QueryOp::word:
      return node.prefix ? queries.of(Kind::prefix, text_prefix(kNoTag, node.word))
                         : queries.of(Kind::element, text_element(kNoTag, node.word));
    case QueryOp::no:
    case QueryOp::stop:
      return queries.of(Kind::everything);
    default:
      break;
  }
  auto parts = queries.list();
  parts.push_back(words_query(tree, node.left, queries));
  parts.push_back(words_query(tree, node.right, queries));
  return queries.joined(node.op == QueryOp::either ? Kind::any : Kind::all, std::move(parts));
}

}  // namespace

ElementQuery ElementQueries::of(Kind kind, std::span<const std::string_view> elements) const {
  auto parts = list();
  parts.reserve(elements.size());
  for (const std::string_view element : elements) {
    parts.push_back({Kind::element, element, list()});
  }
  return joined(kind, std::move(parts));
}

ElementQuery ElementQueries::joined(Kind kind, CountedVector<ElementQuery> parts) const {
  // Kind that decides the result alone, and kind that has no effect on it.
  yield_point(parts.size());
  const Kind deciding = kind == Kind::all ? Kind::nothing : Kind::everything;
  const Kind neutral = kind == Kind::all ? Kind::everything : Kind::nothing;
  if (std::ranges::find(parts, deciding, &ElementQuery::kind) != parts.end()) return of(deciding);
  std::erase_if(parts, [&](const ElementQuery& part) { return part.kind == neutral; });
  if (parts.empty()) return of(neutral);
  if (parts.size() == 1) return ElementQuery{std::move(parts.front())};
  // Flatten nested queries of the same kind: (a and b) and c.
  auto flat = list();
  flat.reserve(parts.size());
  for (ElementQuery& part : parts) {
    if (part.kind != kind) {
      flat.push_back(std::move(part));
      continue;
    }
    for (ElementQuery& inner : part.parts) flat.push_back(std::move(inner));
  }
  return {kind, {}, std::move(flat)};
}

ElementQuery element_query(ElementClass id, std::string_view op, OperandSide side,
                           const Value& value, Arena& arena) {
  ElementQueries queries{arena};
  if (value.is_null()) return queries.of(Kind::nothing);
  if (id == ElementClass::array) return array_query(op, side, value, queries);
  if (id == ElementClass::words) {
    const QueryTree tree = query_tree(value, arena.account());
    return tree.root ? words_query(tree, *tree.root, queries) : queries.of(Kind::nothing);
  }
  if (id == ElementClass::trigrams) return trigrams_query(op, value, queries);
  if (op == "@?" || op == "@@") return path_element_query(id, op, value, queries);
  static_assert(kPairKeyTag == kJsonKeyTag);
  if (op == "?") return queries.of(Kind::element, text_element(kJsonKeyTag, value.as_text()));
  if (op == "?|") return keys_query(Kind::any, value, queries);
  if (op == "?&") return keys_query(Kind::all, value, queries);
  return queries.of(Kind::all, elements_of(id, value, arena));
}

}  // namespace swizzle::sql
