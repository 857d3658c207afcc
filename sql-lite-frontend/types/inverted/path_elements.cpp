#include "sql-lite-frontend/types/inverted/path_elements.h"

#include <vector>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/inverted/elements.h"
#include "sql-lite-frontend/types/jsonpath/path_cache.h"

namespace swizzle::sql {
namespace {

using Kind = ElementQuery::Kind;

/// Keys on the way from the document's root to the current item.
struct KeyPath {
  std::vector<std::string_view> keys = {};
  /// True if no other keys can lie between them. jsonb_path_ops needs it, because it hashes whole
  /// paths.
  bool is_whole = true;
};

class PathElements {
 public:
  PathElements(ElementClass id, const PathTree& path, ElementQueries& queries)
      : id_(id), path_(path), queries_(queries) {}

  /// Returns the query for a predicate that must be true, or an expression that must yield an item.
  ElementQuery wanted(PathPlace place, const KeyPath& current) {
    check_stack();
    const PathNode& node = path_.at(place);
    const bool is_alone = node.next == kNoPlace;
    if (is_alone && node.op == PathOp::logical_and) return both(Kind::all, node, current);
    if (is_alone && node.op == PathOp::logical_or) return both(Kind::any, node, current);
    if (is_alone && node.op == PathOp::exists) return wanted(node.left, current);
    if (is_alone && node.op == PathOp::equal) return equal(node, current);
    if (is_alone && node.op >= PathOp::not_equal) {
      // A comparison can only be true if both sides yield an item.
      auto parts = queries_.list();
      parts.push_back(walk(node.left, current, nullptr));
      if (node.right != kNoPlace) parts.push_back(walk(node.right, current, nullptr));
      return queries_.joined(Kind::all, std::move(parts));
    }
    return walk(place, current, nullptr);
  }

 private:
  ElementQuery everything() const { return queries_.of(Kind::everything); }
  ElementQuery both(Kind kind, const PathNode& node, const KeyPath& current) {
    auto parts = queries_.list();
    parts.push_back(wanted(node.left, current));
    parts.push_back(wanted(node.right, current));
    return queries_.joined(kind, std::move(parts));
  }
  ElementQuery equal(const PathNode& node, const KeyPath& current) {
    const PathNode& left = path_.at(node.left);
    const PathNode& right = path_.at(node.right);
    if (is_scalar(right)) return walk(node.left, current, &right);
    if (is_scalar(left)) return walk(node.right, current, &left);
    return everything();
  }
  static bool is_scalar(const PathNode& node) noexcept {
    if (node.next != kNoPlace) return false;
    return node.op == PathOp::null || node.op == PathOp::boolean || node.op == PathOp::number ||
           node.op == PathOp::string;
  }

  /// Follows the accessors of an expression, which must yield an item, or `value` unless it is
  /// null.
  ElementQuery walk(PathPlace place, const KeyPath& current, const PathNode* value) {
    check_stack();
    auto parts = queries_.list();
    KeyPath key_path;
    const PathNode* node = &path_.at(place);
    if (node->op == PathOp::current) {
      key_path = current;
    } else if (node->op != PathOp::root) {
      return everything();
    }
    bool is_plain = true;
    for (PathPlace at = node->next; at != kNoPlace && is_plain; at = node->next) {
      node = &path_.at(at);
      switch (node->op) {
        case PathOp::key:
          key_path.keys.push_back(node->text);
          if (id_ == ElementClass::jsonb) {
            parts.push_back(queries_.of(Kind::element, text_element(kJsonKeyTag, node->text)));
          }
          break;
        case PathOp::any_array:
        case PathOp::subscripts:
          break;
        case PathOp::any_key:
        case PathOp::any:
          key_path.is_whole = false;
          break;
        case PathOp::filter:
          parts.push_back(wanted(node->left, key_path));
          break;
        default:
          // A method yields another value, and arithmetic may fail.
          is_plain = false;
      }
    }
    if (value != nullptr && is_plain) parts.push_back(value_of(*value, key_path));
    return queries_.joined(Kind::all, std::move(parts));
  }

  ElementQuery value_of(const PathNode& value, const KeyPath& key_path) {
    std::string raw = value.text;
    if (value.op == PathOp::null) raw = "null";
    if (value.op == PathOp::boolean) raw = value.truth ? "true" : "false";
    const bool is_text = value.op == PathOp::string;
    if (id_ == ElementClass::jsonb_path) {
      if (!key_path.is_whole) return everything();
      return queries_.of(
          Kind::element,
          jsonb_path_element(key_path.keys, raw, is_text ? ScalarKind::text : ScalarKind::other));
    }
    if (!is_text) {
      return queries_.of(Kind::element, text_element(kJsonOtherTag, plain_json_number(raw)));
    }
    auto either = queries_.list();
    either.push_back(queries_.of(Kind::element, text_element(kJsonStringTag, raw)));
    either.push_back(queries_.of(Kind::element, text_element(kJsonKeyTag, raw)));
    return queries_.joined(Kind::any, std::move(either));
  }

  ElementClass id_;
  const PathTree& path_;
  ElementQueries& queries_;
};

}  // namespace

ElementQuery path_element_query(ElementClass id, std::string_view op, const Value& path,
                                ElementQueries& queries) {
  const auto tree = path_tree(path, queries.arena().account());
  const PathNode& root = tree->at(tree->root);
  // A predicate always yields an item (true, false or null), so @? tells nothing about the
  // document.
  const bool is_predicate = root.op >= PathOp::logical_and && root.next == kNoPlace;
  if (op == "@?" && is_predicate) return queries.of(Kind::everything);
  return PathElements{id, *tree, queries}.wanted(tree->root, {});
}

}  // namespace swizzle::sql
