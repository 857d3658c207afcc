// Functions and operators over tsquery.
#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/fulltext/text_match.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

QueryTree tree_of(FunctionContext& context, const Value& query) {
  return query_tree(query, context.arena.account());
}

/// Both joined; an empty one is left out.
Value join(FunctionContext& context, Arguments a, QueryOp op, std::uint16_t distance) {
  QueryTree tree = tree_of(context, a[0]);
  const QueryTree right = tree_of(context, a[1]);
  if (!tree.root) return a[1];
  if (!right.root) return a[0];
  const QueryPlace behind = tree.adopt(right);
  tree.root = tree.join(op, *tree.root, behind, distance);
  return make_text_query(context.arena, tree);
}
Value both(FunctionContext& context, Arguments a) {
  return join(context, a, QueryOp::both, 0);
}
Value either(FunctionContext& context, Arguments a) {
  return join(context, a, QueryOp::either, 0);
}
Value phrase(FunctionContext& context, Arguments a) {
  std::int64_t distance = 1;
  if (a.size() > 2) distance = a[2].as_int4();
  if (distance < 0 || distance > std::int64_t{kMostDistance}) {
    throw_error(sqlstate::invalid_parameter_value,
                "distance in phrase operator must be an integer value between zero and {} "
                "inclusive",
                kMostDistance);
  }
  return join(context, a, QueryOp::phrase, static_cast<std::uint16_t>(distance));
}
Value negate(FunctionContext& context, Arguments a) {
  QueryTree tree = tree_of(context, a[0]);
  if (!tree.root) return a[0];
  tree.root = tree.add({.op = QueryOp::no, .right = *tree.root});
  return make_text_query(context.arena, tree);
}

Value node_count(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(query_size(a[0])));
}

/// Returns the part of a query that an index can use, without negations. Nothing: any row could
/// match.
std::optional<QueryPlace> indexable(QueryTree& tree, QueryPlace place) {
  check_stack();
  const QueryNode node = tree.node(place);
  if (node.op == QueryOp::word) return place;
  if (node.op == QueryOp::no) return std::nullopt;
  const auto left = indexable(tree, node.left);
  const auto right = indexable(tree, node.right);
  if (node.op == QueryOp::either && (!left || !right)) return std::nullopt;
  if (!left) return right;
  if (!right) return left;
  tree.node(place).left = *left;
  tree.node(place).right = *right;
  return place;
}

Value query_tree_text(FunctionContext& context, Arguments a) {
  QueryTree tree = tree_of(context, a[0]);
  if (!tree.root) return make_text(context.arena, "");
  const auto rest = indexable(tree, *tree.root);
  std::string text;
  if (rest) {
    print_query_tree(tree, *rest, text);
  } else {
    text = "T";
  }
  return make_text(context.arena, text);
}

/// The words of a query, each once.
std::vector<std::string_view> words_of(const QueryTree& tree) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const QueryNode& node = tree.node(static_cast<QueryPlace>(i));
    if (node.op == QueryOp::word) words.push_back(node.word);
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}
bool contains_words(FunctionContext& context, const Value& whole, const Value& part) {
  const QueryTree left = tree_of(context, whole);
  const QueryTree right = tree_of(context, part);
  return std::ranges::includes(words_of(left), words_of(right));
}
Value contains(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains_words(context, a[0], a[1]));
}
Value is_contained(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains_words(context, a[1], a[0]));
}

Value vector_matches(FunctionContext& context, Arguments a) {
  return Value::from_bool(matches(a[0], a[1], context.arena.account()));
}
Value query_matches(FunctionContext& context, Arguments a) {
  return Value::from_bool(matches(a[1], a[0], context.arena.account()));
}

RankWeights weights_of(const Value& array) {
  const ArrayView view{array};
  if (view.dimension_count() != 1) {
    throw SqlError{SqlState{"2202E"}, "array of weight must be one-dimensional"};
  }
  if (view.size() < kUsualWeights.size()) {
    throw SqlError{SqlState{"2202E"}, "array of weight is too short"};
  }
  if (view.has_nulls()) {
    throw SqlError{SqlState{"22004"}, "array of weight must not contain nulls"};
  }
  RankWeights weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float weight = view.element(i).as_float4();
    weights[i] = weight >= 0 ? weight : kUsualWeights[i];
    if (weights[i] > 1) throw SqlError{sqlstate::invalid_parameter_value, "weight out of range"};
  }
  return weights;
}

using Ranking = float (*)(const RankWeights&, const Value&, const Value&, int, MemoryAccount*);
template <Ranking ranking>
Value rank_usual(FunctionContext& context, Arguments a) {
  const int method = a.size() > 2 ? a[2].as_int4() : 0;
  return Value::from_float4(ranking(kUsualWeights, a[0], a[1], method, context.arena.account()));
}
template <Ranking ranking>
Value rank_weighted(FunctionContext& context, Arguments a) {
  const int method = a.size() > 3 ? a[3].as_int4() : 0;
  return Value::from_float4(ranking(weights_of(a[0]), a[1], a[2], method, context.arena.account()));
}

Value rewrite(FunctionContext& context, Arguments a) {
  const QueryTree tree = tree_of(context, a[0]);
  const QueryTree target = tree_of(context, a[1]);
  const QueryTree substitute = tree_of(context, a[2]);
  if (!tree.root || !target.root) return a[0];
  return make_text_query(context.arena,
                         rewritten_query(tree, target, substitute, context.arena.account()));
}

constexpr ScalarEntry kScalars[] = {
    SWIZZLE_COMPARISONS_OF("tsquery", compare_text_queries),
    {"tsquery_cmp(tsquery,tsquery)", &order_of_two<compare_text_queries>},
    {"&&(tsquery,tsquery)", &both},
    {"||(tsquery,tsquery)", &either},
    {"<->(tsquery,tsquery)", &phrase},
    {"tsquery_phrase(tsquery,tsquery,int4)", &phrase},
    {"!!(tsquery)", &negate},
    {"numnode(tsquery)", &node_count},
    {"querytree(tsquery)", &query_tree_text},
    {"@>(tsquery,tsquery)", &contains},
    {"<@(tsquery,tsquery)", &is_contained},
    {"@@(tsvector,tsquery)", &vector_matches},
    {"@@(tsquery,tsvector)", &query_matches},
    {"@@@(tsvector,tsquery)", &vector_matches},
    {"@@@(tsquery,tsvector)", &query_matches},
    {"ts_rank(tsvector,tsquery)", &rank_usual<rank>},
    {"ts_rank(tsvector,tsquery,int4)", &rank_usual<rank>},
    {"ts_rank(_float4,tsvector,tsquery)", &rank_weighted<rank>},
    {"ts_rank(_float4,tsvector,tsquery,int4)", &rank_weighted<rank>},
    {"ts_rank_cd(tsvector,tsquery)", &rank_usual<rank_by_cover>},
    {"ts_rank_cd(tsvector,tsquery,int4)", &rank_usual<rank_by_cover>},
    {"ts_rank_cd(_float4,tsvector,tsquery)", &rank_weighted<rank_by_cover>},
    {"ts_rank_cd(_float4,tsvector,tsquery,int4)", &rank_weighted<rank_by_cover>},
    {"ts_rewrite(tsquery,tsquery,tsquery)", &rewrite},
};

}  // namespace

constinit const FunctionsOfType kTextQueryFunctions{.scalars = kScalars};

}  // namespace swizzle::sql
