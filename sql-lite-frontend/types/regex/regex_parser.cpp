#include <algorithm>

#include "sql-lite-frontend/types/regex/regex_lexer.h"
#include "sql-lite-frontend/types/regex/regex_sequence.h"
#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {
namespace {

using NodeKind = RegexNode::Kind;

class RegexParser {
 public:
  RegexParser(std::string_view pattern, const RegexOptions& options)
      : lexer_(pattern, tree_.options) {
    tree_.options = options;
  }

  RegexTree parse() {
    next();
    tree_.root = choice(Token::end, Place::outside);
    return std::move(tree_);
  }

 private:
  using Token = RegexToken::Kind;
  /// Within a look around there are neither groups nor references.
  enum class Place : bool { outside, look };

  void next() { token_ = lexer_.next(static_cast<std::uint32_t>(tree_.groups.size())); }
  std::uint32_t add(RegexNode&& node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }
  std::uint32_t add(NodeKind kind) { return add(RegexNode{.kind = kind}); }
  std::uint32_t add_set(CharacterSet&& set) {
    tree_.sets.push_back(std::move(set));
    return add(RegexNode{.kind = NodeKind::set,
                         .number = static_cast<std::uint32_t>(tree_.sets.size() - 1)});
  }

  /// Takes the branches up to `stopper`, which stays.
  std::uint32_t choice(Token stopper, Place place) {
    // RE2 recurses over some nested expressions, on a thread's stack: ((x)*)*.
    constexpr std::size_t kDeepest = 5000;
    require_regex_stack();
    if (++depth_ > kDeepest) invalid_regex("regular expression is too complex");
    std::vector<std::uint32_t> branches{branch(stopper, place)};
    while (token_.kind == Token::bar) {
      next();
      branches.push_back(branch(stopper, place));
    }
    if (token_.kind != stopper) invalid_regex("parentheses () not balanced");
    --depth_;
    if (branches.size() == 1) return branches.front();
    RegexTraits traits{.prefers_longest = true};
    for (const std::uint32_t one : branches) traits = combine(traits, tree_[one].traits);
    return add(RegexNode{.kind = NodeKind::choice, .traits = traits, .parts = std::move(branches)});
  }

  std::uint32_t branch(Token stopper, Place place) {
    std::vector<std::uint32_t> parts;
    while (token_.kind != Token::bar && token_.kind != stopper && token_.kind != Token::end)
      parts.push_back(piece(place));
    if (parts.empty()) return add(NodeKind::empty);
    parts.back() = without_vacuous_repeat(parts.back());
    if (parts.size() == 1) return parts.front();
    const RegexTraits traits = traits_of_sequence(tree_, parts);
    return add(RegexNode{.kind = NodeKind::sequence, .traits = traits, .parts = std::move(parts)});
  }

  /// A quantifier that says nothing has no say in what a branch prefers if it ends it.
  [[nodiscard]] std::uint32_t without_vacuous_repeat(std::uint32_t place) const {
    const RegexNode& node = tree_[place];
    if (node.kind != NodeKind::repeat) return place;
    const RegexNode& part = tree_[node.parts.front()];
    return part.traits.is_compound() && node.is_vacuous(part) ? node.parts.front() : place;
  }

  /// Takes a constraint, or an atom with its quantifier.
  std::uint32_t piece(Place place) {
    switch (token_.kind) {
      case Token::line_begin:
        return constraint(NodeKind::line_begin);
      case Token::line_end:
        return constraint(NodeKind::line_end);
      case Token::text_begin:
        return constraint(NodeKind::text_begin);
      case Token::text_end:
        return constraint(NodeKind::text_end);
      case Token::word_begin:
        return constraint(NodeKind::word_begin);
      case Token::word_end:
        return constraint(NodeKind::word_end);
      case Token::word_edge:
        return constraint(NodeKind::word_edge);
      case Token::no_word_edge:
        return constraint(NodeKind::no_word_edge);
      case Token::look_ahead:
        return look(NodeKind::look_ahead);
      case Token::look_behind:
        return look(NodeKind::look_behind);
      case Token::star:
      case Token::plus:
      case Token::question:
      case Token::bound:
        invalid_regex("quantifier operand invalid");
      default:
        return quantified(atom(place));
    }
  }

  std::uint32_t constraint(NodeKind kind) {
    next();
    return add(kind);
  }

  std::uint32_t look(NodeKind kind) {
    const bool is_negative = token_.is_negative;
    next();
    const std::uint32_t inside = choice(Token::close, Place::look);
    next();
    return add(RegexNode{.kind = kind, .is_negative = is_negative, .parts = {inside}});
  }

  std::uint32_t atom(Place place) {
    switch (token_.kind) {
      case Token::close:
        // An extended expression takes it as an ordinary character.
        if (tree_.options.grammar != RegexGrammar::extended)
          invalid_regex("parentheses () not balanced");
        [[fallthrough]];
      case Token::character: {
        const char32_t character = token_.character;
        next();
        return add(RegexNode{.kind = NodeKind::character, .character = character});
      }
      case Token::any:
        return constraint(NodeKind::any);
      case Token::class_of_characters: {
        CharacterSet set;
        set.add(token_.of_class, false, tree_.options);
        set.is_complement = token_.is_complement;
        next();
        return add_set(std::move(set));
      }
      case Token::bracket:
        return bracket();
      case Token::open:
        return group(place);
      default:
        return reference(place);
    }
  }

  std::uint32_t group(Place place) {
    const bool is_capturing = token_.is_capturing && place == Place::outside;
    const std::size_t number = tree_.groups.size() + 1;
    if (is_capturing) tree_.groups.push_back(kOpen);
    next();
    const std::uint32_t inside = choice(Token::close, place);
    next();
    if (!is_capturing) return inside;
    RegexTraits traits = tree_[inside].traits;
    traits.has_groups = true;
    return tree_.groups[number - 1] = add(RegexNode{.kind = NodeKind::group,
                                                    .traits = traits,
                                                    .number = static_cast<std::uint32_t>(number),
                                                    .parts = {inside}});
  }

  std::uint32_t reference(Place place) {
    const std::uint32_t number = token_.number;
    const bool is_there = place == Place::outside && number >= 1 && number <= tree_.groups.size() &&
                          tree_.groups[number - 1] != kOpen;
    if (!is_there) invalid_regex("invalid backreference number");
    next();
    return add(RegexNode{
        .kind = NodeKind::reference, .traits = {.has_references = true}, .number = number});
  }

  /// Takes the quantifier after an atom, if there is one.
  std::uint32_t quantified(std::uint32_t part) {
    RegexBound bound{.least = 1, .most = 1};
    bool is_quantifier = true;
    switch (token_.kind) {
      case Token::star:
        bound = {.least = 0, .most = RegexNode::kUnlimited, .is_range = true};
        break;
      case Token::plus:
        bound = {.least = 1, .most = RegexNode::kUnlimited, .is_range = true};
        break;
      case Token::question:
        bound = {.least = 0, .most = 1, .is_range = true};
        break;
      case Token::bound:
        bound = lexer_.bound();
        token_.is_lazy = bound.is_lazy;
        break;
      default:
        is_quantifier = false;
    }
    if (!is_quantifier) return part;
    const bool is_lazy = token_.is_lazy;
    next();
    RegexNode node{.kind = NodeKind::repeat,
                   .wants_longest = bound.is_range && !is_lazy,
                   .wants_shortest = bound.is_range && is_lazy,
                   .least = bound.least,
                   .most = bound.most,
                   .parts = {part}};
    // It matches nothing, whatever its part is.
    if (bound.most == 0) return add(NodeKind::empty);
    node.traits =
        combine({.prefers_longest = node.wants_longest, .prefers_shortest = node.wants_shortest},
                tree_[part].traits);
    return add(std::move(node));
  }

  std::uint32_t bracket() {
    CharacterSet set;
    set.is_complement = lexer_.take_complement();
    set.stops_at_newline = set.is_complement && tree_.options.newline_stops_dot;
    for (BracketToken item = lexer_.bracket(true); item.kind != BracketToken::Kind::close;)
      item = bracket_item(set, item);
    next();
    return add_set(std::move(set));
  }

  /// Adds an item, and returns the token after it.
  BracketToken bracket_item(CharacterSet& set, BracketToken item) {
    using Item = BracketToken::Kind;
    constexpr std::string_view kBadRange = "invalid character range";
    switch (item.kind) {
      case Item::dash:
        invalid_regex(kBadRange);
      case Item::of_class:
        set.add(item.of_class, item.is_complement, tree_.options);
        return lexer_.bracket(false);
      case Item::equivalence:
        set.ranges.emplace_back(item.character, item.character);
        return lexer_.bracket(false);
      default:
        break;
    }
    const char32_t first = item.character;
    char32_t last = first;
    item = lexer_.bracket(false);
    if (item.kind == Item::dash) {
      item = lexer_.bracket(false);
      if (item.kind == Item::dash) item = {.kind = Item::character, .character = '-'};
      if (item.kind != Item::character && item.kind != Item::element) invalid_regex(kBadRange);
      last = item.character;
      if (first > last) invalid_regex(kBadRange);
      item = lexer_.bracket(false);
    }
    set.ranges.emplace_back(first, last);
    return item;
  }

  static constexpr std::uint32_t kOpen = RegexNode::kUnlimited;  ///< a group that has not ended

  RegexTree tree_;
  RegexLexer lexer_;
  RegexToken token_;
  std::size_t depth_ = 0;  ///< of parentheses
};

}  // namespace

RegexTree parse_regex(std::string_view pattern, const RegexOptions& options) {
  return RegexParser{pattern, options}.parse();
}

}  // namespace swizzle::sql
