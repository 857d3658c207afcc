#include "sql-lite-frontend/types/fulltext/text_analysis.h"

#include <algorithm>

namespace swizzle::sql {
namespace {

/// Replaces a word of a query by the words of its analysis, joined by `joined_by`, with a stop word
/// for each token that gives no word.
class AnalysedWords final : public QueryWords {
 public:
  AnalysedWords(Arena& arena, const TextConfig& config, QueryOp joined_by)
      : arena_(arena), config_(config), joined_by_(joined_by) {}

  QueryPlace take(QueryTree& tree, std::string_view text, std::uint8_t weights,
                  bool prefix) override {
    std::optional<QueryPlace> whole;
    const auto add = [&](const QueryNode& node) {
      const QueryPlace place = tree.add(node);
      whole = whole ? tree.join(joined_by_, *whole, place, distance()) : place;
    };
    std::uint64_t last = 0;
    TextAnalysis{config_}.read(text, [&](std::string_view word, std::uint64_t place) {
      // Stop words before the first word have no left neighbour.
      const std::uint64_t stops = last == 0 ? 0 : place - last - 1;
      for (std::uint64_t left = stops; left != 0; --left) add({.op = QueryOp::stop});
      add({.weights = weights, .prefix = prefix, .word = arena_.copy(word)});
      last = place;
    });
    return whole ? *whole : tree.add({.op = QueryOp::stop});
  }

 private:
  [[nodiscard]] std::uint16_t distance() const noexcept {
    return joined_by_ == QueryOp::phrase ? 1 : 0;
  }
  Arena& arena_;
  const TextConfig& config_;
  QueryOp joined_by_;
};

}  // namespace

void add_words(Arena& arena, TextAnalysis& analysis, std::string_view text, WordsMet& words) {
  const std::size_t before = words.size();
  analysis.read(text, [&](std::string_view word, std::uint64_t place) {
    const auto at = static_cast<unsigned>(std::min<std::uint64_t>(place, kLastPlace));
    words.push_back({arena.copy(word), WordPlace{at, 0}});
  });
  if (words.size() > before) analysis.leave_gap();
}

Value text_vector_of(Arena& arena, const TextConfig& config, std::string_view text) {
  WordsMet words = words_met(arena);
  TextAnalysis analysis{config};
  add_words(arena, analysis, text, words);
  return make_text_vector(arena, std::move(words));
}

Value text_query_of(Arena& arena, const TextConfig& config, QueryForm form, std::string_view text) {
  AnalysedWords words{arena, config, form == QueryForm::plain ? QueryOp::both : QueryOp::phrase};
  QueryTree tree{arena.account()};
  if (form == QueryForm::operators) {
    tree = read_query(text, words, arena.account());
  } else if (form == QueryForm::web) {
    tree = read_web_query(text, words, arena.account());
  } else {
    tree.root = words.take(tree, text, 0, false);
  }
  remove_stop_words(tree);
  return make_text_query(arena, tree);
}

}  // namespace swizzle::sql
