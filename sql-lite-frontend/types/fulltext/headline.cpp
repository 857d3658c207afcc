#include "sql-lite-frontend/types/fulltext/headline.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <iterator>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/fulltext/text_match.h"
#include "sql-lite-frontend/types/fulltext/word_reader.h"
#include "sql-lite-frontend/types/memory_account.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

/// A token of the text.
struct Token {
  TokenKind kind = TokenKind::none;
  std::string_view text = {};
  unsigned place = 0;
  /// Words of the query that it matches: their numbers in Headline::found_ begin here.
  std::size_t first_found = 0;
  std::size_t found = 0;
  bool shown = false;

  [[nodiscard]] bool is_found() const noexcept { return found != 0; }
  /// True for compound tokens, whose parts follow as tokens.
  [[nodiscard]] bool is_whole() const noexcept {
    return kind == TokenKind::url || kind == TokenKind::numhword || kind == TokenKind::asciihword ||
           kind == TokenKind::hword;
  }
  [[nodiscard]] bool is_word() const noexcept {
    return kind != TokenKind::blank && kind != TokenKind::tag && !is_whole();
  }
  /// True for tokens that are a bad end of a headline.
  [[nodiscard]] bool ends_badly(std::size_t short_word) const noexcept {
    if (is_found()) return false;
    if (text.size() <= short_word || !is_word()) return true;
    switch (kind) {
      case TokenKind::sfloat:
      case TokenKind::version:
      case TokenKind::float_:
      case TokenKind::int_:
      case TokenKind::uint:
      case TokenKind::protocol:
      case TokenKind::entity:
        return true;
      default:
        return false;
    }
  }
};

/// Tokens from `first` to `last`.
struct Stretch {
  int first = 0;
  int last = 0;
  int words = 0;
  int found = 0;
  bool is_out = false;
};

class Headline {
 public:
  Headline(const QueryTree& query, const HeadlineOptions& options, MemoryAccount* account)
      : query_(query),
        options_(options),
        tokens_(CountedAllocator<Token>{account}),
        found_(CountedAllocator<const QueryNode*>{account}) {}

  void read(const TextConfig& config, std::string_view text) {
    TextParser parser{text};
    unsigned place = 0;
    while (const auto token = parser.next()) {
      Token& added = tokens_.emplace_back();
      added.kind = token->kind;
      added.text = token->text;
      added.first_found = found_.size();
      yield_point(200);
      if (token->text.size() >= kWordLimit) continue;
      const TokenMeaning meaning = config.look_up(*token);
      if (!meaning.is_known) continue;
      added.place = ++place;
      if (meaning.word) find(*meaning.word);
      added.found = found_.size() - added.first_found;
    }
  }

  void choose() {
    if (options_.all) return show({0, size() - 1});
    find_occurrences();
    if (options_.fragments == 0) {
      choose_one();
    } else {
      choose_fragments();
    }
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    MemoryShare share;
    bool within = false;
    int fragments = 0;
    for (const Token& token : tokens_) {
      yield_point(2);
      share.set(account(), out.capacity());
      if (!token.shown) {
        within = false;
        continue;
      }
      if (!within && ++fragments > 1) out += options_.delimiter;
      within = true;
      if (token.is_whole()) continue;
      if (token.kind == TokenKind::tag && !options_.all) {
        out += ' ';
        continue;
      }
      if (token.is_found()) out += options_.start;
      out += token.text;
      if (token.is_found()) out += options_.stop;
    }
    return out;
  }

 private:
  [[nodiscard]] MemoryAccount* account() const noexcept {
    return tokens_.get_allocator().account();
  }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(tokens_.size()); }
  [[nodiscard]] const Token& at(int index) const {
    return tokens_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool ends_badly(int index) const {
    return at(index).ends_badly(static_cast<std::size_t>(options_.short_word));
  }

  void find(std::string_view word) {
    for (std::size_t i = 0; i < query_.size(); ++i) {
      const QueryNode& node = query_.node(static_cast<QueryPlace>(i));
      yield_point(5);
      if (node.op != QueryOp::word) continue;
      if (node.prefix ? word.starts_with(node.word) : word == node.word) found_.push_back(&node);
    }
  }
  /// Finds where the parts of the query occur in the text.
  void find_occurrences() {
    if (!query_.root) return;
    const FindWord find = [&](const QueryNode& word, bool) {
      WordFound found{.places = CountedVector<unsigned>{CountedAllocator<unsigned>{account()}}};
      for (const Token& token : tokens_) {
        yield_point(6);
        for (std::size_t k = 0; k < token.found; ++k) {
          if (found_[token.first_found + k] != &word) continue;
          found.is_there = true;
          if (found.places.empty() || found.places.back() != token.place)
            found.places.push_back(token.place);
        }
      }
      return found;
    };
    occurrences_ = occurrences(query_, *query_.root, find);
  }
  /// Finds the next part of the text that satisfies the query, and moves on. It ends where all
  /// parts of the query have occurred that begin at the place or later, and begins as late as it
  /// may.
  struct Search {
    unsigned place = 0;
    int token = 0;  ///< no word of a later part of the text is before it
  };
  bool next_cover(Search& from, Stretch& cover) const {
    if (occurrences_.empty()) return false;
    unsigned end = 0;
    for (const Occurrences& part : occurrences_) {
      yield_point(10);
      const auto found = std::ranges::lower_bound(part.ends, from.place + part.width);
      if (found == part.ends.end()) return false;
      end = std::max(end, *found);
    }
    unsigned begin = UINT_MAX;
    for (const Occurrences& part : occurrences_) {
      yield_point(10);
      const auto last = std::prev(std::ranges::upper_bound(part.ends, end));
      begin = std::min(begin, *last - part.width);
    }
    const auto is_before = [&](const Token& token) {
      return !token.is_found() || token.place < begin;
    };
    while (from.token < size() && is_before(at(from.token))) ++from.token;
    cover.first = from.token;
    cover.last = -1;
    for (int i = from.token; i < size() && at(i).place <= end; ++i) {
      yield_point(2);
      if (at(i).is_found()) cover.last = i;
    }
    from.place = begin + 1;
    return cover.last >= 0;
  }
  void count_in(Stretch& stretch, int index, int by = 1) const {
    if (at(index).is_word()) stretch.words += by;
    if (at(index).is_found()) stretch.found += by;
  }
  void show(const Stretch& stretch) {
    for (int i = stretch.first; i <= stretch.last; ++i) {
      tokens_[static_cast<std::size_t>(i)].shown = true;
    }
  }
  void show_beginning() {
    Stretch shown;
    for (int i = 0; i < size() && shown.words < options_.least_words; ++i) {
      count_in(shown, i);
      shown.last = i;
    }
    if (size() > 0) show(shown);
  }

  /// Returns a headline of the right length around a cover.
  [[nodiscard]] Stretch around(const Stretch& cover) const {
    Stretch line{cover.first, cover.first};
    int i = cover.first;
    for (; i <= cover.last && line.words < options_.most_words; ++i) {
      count_in(line, i);
      line.last = i;
    }
    if (line.words >= options_.most_words) {
      for (i = std::min(i, cover.last); line.words > options_.least_words; --i) {
        if (!ends_badly(i)) break;
        count_in(line, i, -1);
        line.last = i - 1;
      }
      return line;
    }
    for (--i; i < size() && line.words < options_.most_words; ++i) {
      if (i > cover.last) count_in(line, i);
      line.last = i;
      if (!ends_badly(i) && line.words >= options_.least_words) break;
    }
    if (line.words >= options_.least_words) return line;
    for (i = cover.first - 1; i >= 0; --i) {
      count_in(line, i);
      if (line.words >= options_.most_words) break;
      if (!ends_badly(i) && line.words >= options_.least_words) break;
    }
    line.first = std::max(i, 0);
    return line;
  }
  void choose_one() {
    Stretch best;
    best.found = -1;
    bool best_covers = false;
    Stretch cover;
    for (Search from; next_cover(from, cover);) {
      const Stretch line = around(cover);
      const bool covers = line.first <= cover.first && line.last >= cover.last;
      const bool is_better =
          covers != best_covers
              ? covers
              : line.found > best.found ||
                    (line.found == best.found && !ends_badly(line.last) && ends_badly(best.last));
      if (!is_better && best.found >= 0) continue;
      best = line;
      best_covers = covers;
    }
    if (best.found < 0) return show_beginning();
    show(best);
  }

  /// Returns the first part of a cover that is short enough and begins and ends with words of the
  /// query.
  [[nodiscard]] Stretch first_part(Stretch of) const {
    Stretch part{of.first, of.last};
    while (part.first < part.last && !at(part.first).is_found()) ++part.first;
    int i = part.first;
    for (; i <= part.last && part.words < options_.most_words; ++i) count_in(part, i);
    if (part.last <= i) return part;
    for (part.last = i; i >= part.first; --i) {
      part.last = i;
      if (at(i).is_found()) break;
      if (at(i).is_word()) --part.words;
    }
    return part;
  }
  CountedVector<Stretch> all_parts() const {
    CountedVector<Stretch> parts{CountedAllocator<Stretch>{account()}};
    Stretch cover;
    for (Search from; next_cover(from, cover);) {
      for (int first = cover.first; first <= cover.last;) {
        parts.push_back(first_part({first, cover.last}));
        first = parts.back().last + 1;
      }
    }
    return parts;
  }
  /// Extends the excerpt by surrounding words up to the limit.
  void stretch(Stretch& part) const {
    if (part.words >= options_.most_words) return;
    const int most = (options_.most_words - part.words) / 2;
    int far = part.first;
    int taken = 0;
    for (int i = part.first - 1; i >= 0 && taken < most && !at(i).shown; --i) {
      if (at(i).is_word()) {
        ++part.words;
        ++taken;
      }
      far = i;
    }
    int i = far;
    for (; i < part.first && ends_badly(i); ++i) {
      if (at(i).is_word()) --part.words;
    }
    part.first = i;
    far = part.last;
    for (i = part.last + 1; i < size() && part.words < options_.most_words && !at(i).shown; ++i) {
      if (at(i).is_word()) ++part.words;
      far = i;
    }
    for (i = far; i > part.last && ends_badly(i); --i) {
      if (at(i).is_word()) --part.words;
    }
    part.last = i;
  }
  void choose_fragments() {
    CountedVector<Stretch> parts = all_parts();
    int shown = 0;
    for (; shown < options_.fragments; ++shown) {
      Stretch* best = nullptr;
      yield_point(2 * parts.size());
      for (Stretch& part : parts) {
        if (part.is_out) continue;
        const int most = best == nullptr ? 0 : best->found;
        const int least = best == nullptr ? INT_MAX : best->words;
        if (part.found > most || (part.found == most && part.words < least)) best = &part;
      }
      if (best == nullptr) break;
      stretch(*best);
      best->is_out = true;
      show(*best);
      for (Stretch& part : parts) {
        part.is_out |= part.first <= best->last && part.last >= best->first;
      }
    }
    if (shown == 0) show_beginning();
  }

  const QueryTree& query_;
  const HeadlineOptions& options_;
  CountedVector<Token> tokens_;
  CountedVector<const QueryNode*> found_;
  std::vector<Occurrences> occurrences_;
};

std::string lowered(std::string_view name) {
  std::string low{name};
  for (char& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return low;
}

[[noreturn]] void fail_parameter(std::string_view why) {
  throw_error(sqlstate::invalid_parameter_value, "{}", why);
}

const std::string& short_text(std::string_view name, const std::string& value) {
  constexpr std::size_t kMostBytes = 32'767;
  if (value.size() <= kMostBytes) return value;
  throw_error(sqlstate::invalid_parameter_value, "value for \"{}\" is too long", name);
}

void set_option(HeadlineOptions& options, std::string_view name, const std::string& value) {
  const std::string low = lowered(name);
  const auto number = [&] {
    return static_cast<int>(parse_integer(TypeId::int4, value, INT32_MIN, INT32_MAX));
  };
  if (low == "maxwords") {
    options.most_words = number();
  } else if (low == "minwords") {
    options.least_words = number();
  } else if (low == "shortword") {
    options.short_word = number();
  } else if (low == "maxfragments") {
    options.fragments = number();
  } else if (low == "startsel") {
    options.start = short_text("StartSel", value);
  } else if (low == "stopsel") {
    options.stop = short_text("StopSel", value);
  } else if (low == "fragmentdelimiter") {
    options.delimiter = short_text("FragmentDelimiter", value);
  } else if (low == "highlightall") {
    const std::string flag = lowered(value);
    options.all = flag == "1" || flag == "on" || flag == "true" || flag == "t" || flag == "y" ||
                  flag == "yes";
  } else {
    throw_error(sqlstate::invalid_parameter_value, "unrecognized headline parameter: \"{}\"", name);
  }
}

/// Parses an option's value: bare, or in quotes, which are doubled inside.
std::string take_value(std::string_view text, std::size_t& at) {
  std::string value;
  const char quote = at < text.size() && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
  if (quote == 0) {
    while (at < text.size() && text[at] != ',' && !is_blank(text[at])) value += text[at++];
    return value;
  }
  for (++at; at < text.size(); ++at) {
    if (text[at] == quote) {
      if (at + 1 >= text.size() || text[at + 1] != quote) break;
      ++at;
    }
    value += text[at];
  }
  ++at;
  return value;
}

}  // namespace

HeadlineOptions read_headline_options(std::string_view text) {
  HeadlineOptions options;
  const auto fail = [&] {
    throw_error(sqlstate::syntax_error, "invalid parameter list format: \"{}\"", text);
  };
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  for (skip(); at < text.size(); skip()) {
    const std::size_t begin = at;
    while (at < text.size() && text[at] != '=' && !is_blank(text[at])) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    skip();
    if (at >= text.size() || text[at] != '=' || name.empty()) fail();
    ++at;
    skip();
    set_option(options, name, take_value(text, at));
    skip();
    if (at < text.size() && text[at++] != ',') fail();
  }
  if (options.fragments == 0 || !options.all) {
    if (options.least_words >= options.most_words) {
      fail_parameter("MinWords should be less than MaxWords");
    }
    if (options.least_words <= 0) fail_parameter("MinWords should be positive");
    if (options.short_word < 0) fail_parameter("ShortWord should be >= 0");
    if (options.fragments < 0) fail_parameter("MaxFragments should be >= 0");
  }
  return options;
}

std::string headline(const TextConfig& config, std::string_view text, const QueryTree& query,
                     const HeadlineOptions& options, MemoryAccount* account) {
  Headline made{query, options, account};
  made.read(config, text);
  made.choose();
  return made.text();
}

}  // namespace swizzle::sql
