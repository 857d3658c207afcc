// Functions and operators over tsvector.
#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// 'A' to 'D', in either case.
unsigned weight_of(char letter) {
  constexpr std::string_view kLetters = "dcba";
  const auto found = kLetters.find(static_cast<char>(letter | 0x20));
  if (found == std::string_view::npos) {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized weight: \"{}\"", letter);
  }
  return static_cast<unsigned>(found);
}

/// A vector of those words and places for which `keep(index, word)` and `change(place)` say so.
template <class Keep, class Change>
Value changed(FunctionContext& context, const Value& vector, const Keep& keep,
              const Change& change) {
  const TextVectorView view{vector};
  WordsMet words = words_met(context.arena);
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!keep(view.word(i))) continue;
    const WordPlaces places = view.places(i);
    if (places.empty()) change(words, view.word(i), WordPlace{});
    for (std::size_t k = 0; k < places.size(); ++k) change(words, view.word(i), places[k]);
  }
  return make_text_vector(context.arena, std::move(words));
}

bool any_word(std::string_view /*word*/) {
  return true;
}
void as_it_is(WordsMet& words, std::string_view word, WordPlace place) {
  words.push_back({word, place});
}

Value strip(FunctionContext& context, Arguments a) {
  return changed(context, a[0], any_word, [](WordsMet& words, std::string_view word, WordPlace) {
    words.push_back({word, {}});
  });
}

/// Returns the words of an array in order. A vector has no word NULL, so one is skipped.
std::vector<std::string_view> words_of(const Value& array) {
  const ArrayView view{array};
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    if (!element.is_null()) words.push_back(element.as_text());
  }
  std::ranges::sort(words);
  return words;
}

Value set_weight(FunctionContext& context, Arguments a) {
  const unsigned weight = weight_of(static_cast<char>(a[1].as_int8()));
  std::vector<std::string_view> only;
  const bool is_partial = a.size() > 2;
  if (is_partial) only = words_of(a[2]);
  return changed(context, a[0], any_word,
                 [&](WordsMet& words, std::string_view word, WordPlace place) {
                   const bool sets = !is_partial || std::ranges::binary_search(only, word);
                   if (sets && place.place() != 0) place = WordPlace{place.place(), weight};
                   words.push_back({word, place});
                 });
}

Value word_count(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(TextVectorView{a[0]}.size()));
}

/// Positions of the second vector follow the first's last position.
Value concatenate(FunctionContext& context, Arguments a) {
  unsigned last = 0;
  const TextVectorView left{a[0]};
  WordsMet words = words_met(context.arena);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const WordPlaces places = left.places(i);
    if (places.empty()) words.push_back({left.word(i), {}});
    for (std::size_t k = 0; k < places.size(); ++k) {
      words.push_back({left.word(i), places[k]});
      last = std::max(last, places[k].place());
    }
  }
  const TextVectorView right{a[1]};
  for (std::size_t i = 0; i < right.size(); ++i) {
    const WordPlaces places = right.places(i);
    if (places.empty()) words.push_back({right.word(i), {}});
    for (std::size_t k = 0; k < places.size(); ++k) {
      const unsigned place = std::min<unsigned>(places[k].place() + last, kLastPlace);
      words.push_back({right.word(i), WordPlace{place, places[k].weight()}});
    }
  }
  return make_text_vector(context.arena, std::move(words));
}

Value remove_words(FunctionContext& context, Arguments a) {
  const std::vector<std::string_view> gone = words_of(a[1]);
  return changed(
      context, a[0], [&](std::string_view word) { return !std::ranges::binary_search(gone, word); },
      as_it_is);
}
Value remove_word(FunctionContext& context, Arguments a) {
  return changed(
      context, a[0], [&](std::string_view word) { return word != a[1].as_text(); }, as_it_is);
}

/// Keeps only positions with one of the weights; removes words without any.
Value filter(FunctionContext& context, Arguments a) {
  const ArrayView letters{a[1]};
  unsigned weights = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Value letter = letters.element(i);
    if (letter.is_null()) throw SqlError{SqlState{"22004"}, "weight array may not contain nulls"};
    constexpr std::string_view kLetters = "dcba";
    const char c = static_cast<char>(letter.as_int8());
    const auto found = kLetters.find(static_cast<char>(c | 0x20));
    if (found == std::string_view::npos) {
      throw_error(sqlstate::invalid_parameter_value, "unrecognized weight: \"{}\"", c);
    }
    weights |= 1U << found;
  }
  return changed(context, a[0], any_word,
                 [&](WordsMet& words, std::string_view word, WordPlace place) {
                   const bool stays = place.place() != 0 && (weights >> place.weight() & 1U) != 0;
                   if (stays) words.push_back({word, place});
                 });
}

Value to_array(FunctionContext& context, Arguments a) {
  const TextVectorView view{a[0]};
  CountedValues words = counted_values(context.arena);
  for (std::size_t i = 0; i < view.size(); ++i) words.push_back(Value::from_text(view.word(i)));
  return make_array(context.arena, TypeId::text, words);
}

Value from_array(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view.element(i).is_null())
      throw SqlError{SqlState{"22004"}, "lexeme array may not contain nulls"};
  }
  WordsMet words = words_met(context.arena);
  for (const std::string_view word : words_of(a[0])) {
    if (word.empty()) {
      throw SqlError{SqlState{"2200F"}, "lexeme array may not contain empty strings"};
    }
    words.push_back({word, {}});
  }
  return make_text_vector(context.arena, std::move(words));
}

/// (lexeme, positions, weights)
class WordCursor final : public SetCursor {
 public:
  explicit WordCursor(const Value& vector) : view_{vector} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == view_.size()) return std::nullopt;
    const WordPlaces found = view_.places(next_);
    std::vector<Value> places;
    std::vector<Value> weights;
    for (std::size_t i = 0; i < found.size(); ++i) {
      places.push_back(Value::from_int(found[i].place()));
      weights.push_back(make_text(context.arena, std::string(1, weight_letter(found[i].weight()))));
    }
    Value fields[] = {Value::from_text(view_.word(next_)), Value::null(), Value::null()};
    if (!found.empty()) {
      fields[1] = make_array(context.arena, TypeId::int2, places);
      fields[2] = make_array(context.arena, TypeId::text, weights);
    }
    ++next_;
    constexpr TypeId kTypes[] = {TypeId::text, TypeId::int2_array, TypeId::text_array};
    return make_record(context.arena, kTypes, fields);
  }

 private:
  TextVectorView view_;
  std::size_t next_ = 0;
};
std::unique_ptr<SetCursor> unnest(FunctionContext&, Arguments a) {
  return std::make_unique<WordCursor>(a[0]);
}

constexpr ScalarEntry kScalars[] = {
    SWIZZLE_COMPARISONS_OF("tsvector", compare_text_vectors),
    {"tsvector_cmp(tsvector,tsvector)", &order_of_two<compare_text_vectors>},
    {"strip(tsvector)", &strip},
    {"setweight(tsvector,char)", &set_weight},
    {"setweight(tsvector,char,_text)", &set_weight},
    {"length(tsvector)", &word_count},
    {"||(tsvector,tsvector)", &concatenate},
    {"ts_delete(tsvector,_text)", &remove_words},
    {"ts_delete(tsvector,text)", &remove_word},
    {"ts_filter(tsvector,_char)", &filter},
    {"tsvector_to_array(tsvector)", &to_array},
    {"array_to_tsvector(_text)", &from_array},
};
constexpr SetEntry kSets[] = {{"unnest(tsvector)", &unnest}};

}  // namespace

constinit const FunctionsOfType kTextVectorFunctions{.scalars = kScalars, .sets = kSets};

}  // namespace swizzle::sql
