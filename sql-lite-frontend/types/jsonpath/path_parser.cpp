#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/jsonpath/path_scanner.h"
#include "sql-lite-frontend/types/jsonpath/path_tree.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/regex/regex.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Kind = PathToken::Kind;

std::string lowered(std::string_view name) {
  std::string low{name};
  for (char& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return low;
}

bool is_predicate(PathOp op) noexcept {
  return op >= PathOp::logical_and;
}

/// Returns the number as numeric prints it: 1e2 becomes 100.
std::string plain_number(std::string_view written) {
  Arena arena;
  std::string text;
  append_numeric(text, numeric_from_text(arena, written));
  return text;
}

class PathParser {
 public:
  PathParser(std::string_view text, MemoryAccount* account)
      : scanner_(text), whole_(text), tree_(account) {
    token_ = scanner_.next();
  }

  PathTree parse() {
    if (token_.kind == Kind::end) {
      throw_error(sqlstate::invalid_text_representation, "invalid input syntax for type {}: \"{}\"",
                  "jsonpath", whole_);
    }
    if (is_word("strict")) {
      tree_.is_strict = true;
      advance();
    } else if (is_word("lax")) {
      advance();
    }
    tree_.root = parse_or();
    if (token_.kind != Kind::end) fail();
    if (misplaced_ != nullptr) throw SqlError{sqlstate::syntax_error, misplaced_};
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail() { PathScanner::fail("syntax error", token_.written); }
  /// Notes a construct that is not allowed in its place. Thrown at the end, since syntax errors
  /// take precedence.
  void misplaced(const char* what) noexcept {
    if (misplaced_ == nullptr) misplaced_ = what;
  }
  void advance() {
    token_ = behind_ ? std::move(*behind_) : scanner_.next();
    behind_.reset();
  }
  const PathToken& behind() {
    if (!behind_) behind_ = scanner_.next();
    return *behind_;
  }
  /// True if the token is that keyword. null, true and false must be in lower case; others in any.
  [[nodiscard]] bool is_word(std::string_view word) const {
    if (token_.kind != Kind::name) return false;
    const bool is_constant = word == "null" || word == "true" || word == "false";
    return is_constant ? token_.text == word : lowered(token_.text) == word;
  }
  bool take(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) fail();
  }
  void expect_word(std::string_view word) {
    if (!is_word(word)) fail();
    advance();
  }
  PathPlace add(PathNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<PathPlace>(tree_.nodes.size() - 1);
  }
  PathPlace join(PathOp op, PathPlace left, PathPlace right) {
    return add({.op = op, .left = left, .right = right});
  }
  [[nodiscard]] bool is_truth(PathPlace place) const {
    const PathNode& node = tree_.at(place);
    return is_predicate(node.op) && node.next == kNoPlace && !has_steps_;
  }
  /// Fails unless `wanted`: the operand is, or is not, a predicate, as the grammar requires.
  void require(bool wanted) {
    if (wanted) return;
    fail();
  }

  /// Parses a predicate or an expression. Both share the grammar of operands; is_truth() tells
  /// which one the result is.
  PathPlace parse_or() {
    check_stack();
    PathPlace left = parse_and();
    while (token_.is("||")) {
      require(is_truth(left));
      advance();
      const PathPlace right = parse_and();
      require(is_truth(right));
      left = join(PathOp::logical_or, left, right);
      has_steps_ = false;
    }
    return left;
  }
  PathPlace parse_and() {
    PathPlace left = parse_comparison();
    while (token_.is("&&")) {
      require(is_truth(left));
      advance();
      const PathPlace right = parse_comparison();
      require(is_truth(right));
      left = join(PathOp::logical_and, left, right);
      has_steps_ = false;
    }
    return left;
  }
  [[nodiscard]] std::optional<PathOp> comparison() const {
    struct Symbol {
      std::string_view text;
      PathOp op;
    };
    constexpr Symbol kSymbols[] = {
        {"==", PathOp::equal},
        {"!=", PathOp::not_equal},
        {"<>", PathOp::not_equal},
        {"<", PathOp::less},
        {">", PathOp::greater},
        {"<=", PathOp::less_or_equal},
        {">=", PathOp::greater_or_equal},
    };
    for (const Symbol& symbol : kSymbols) {
      if (token_.is(symbol.text)) return symbol.op;
    }
    return std::nullopt;
  }
  PathPlace parse_comparison() {
    check_stack();
    if (take("!")) {
      PathPlace of = kNoPlace;
      if (token_.is("(")) {
        advance();
        of = parse_or();
        require(is_truth(of));
        expect(")");
      } else if (is_word("exists")) {
        of = parse_exists();
      } else {
        fail();
      }
      has_steps_ = false;
      return add({.op = PathOp::logical_not, .left = of});
    }
    if (is_word("exists") && behind().is("(")) return parse_exists();
    const PathPlace left = parse_sum();
    if (const auto op = comparison()) {
      require(!is_truth(left));
      advance();
      const PathPlace right = parse_sum();
      require(!is_truth(right));
      has_steps_ = false;
      return join(*op, left, right);
    }
    if (is_word("starts")) return parse_starts(left);
    if (is_word("like_regex")) return parse_like(left);
    return left;
  }
  PathPlace parse_exists() {
    advance();
    expect("(");
    const PathPlace of = parse_sum();
    require(!is_truth(of));
    expect(")");
    has_steps_ = false;
    return add({.op = PathOp::exists, .left = of});
  }
  PathPlace parse_starts(PathPlace left) {
    advance();
    expect_word("with");
    const bool fits = token_.kind == Kind::string || token_.kind == Kind::variable;
    if (!fits) fail();
    const PathPlace right =
        add({.op = token_.kind == Kind::string ? PathOp::string : PathOp::variable,
             .text = token_.text});
    advance();
    has_steps_ = false;
    return join(PathOp::starts_with, left, right);
  }
  PathPlace parse_like(PathPlace left) {
    advance();
    if (token_.kind != Kind::string) fail();
    PathNode node{.op = PathOp::like_regex, .left = left, .text = token_.text};
    advance();
    if (is_word("flag")) {
      advance();
      if (token_.kind != Kind::string) fail();
      node.flags = read_flags(token_.text);
      advance();
    }
    has_steps_ = false;
    // Compile the pattern now: a malformed one is an error of the path, not of its run.
    static_cast<void>(CompiledRegex{node.text, path_regex_flags(node.flags)});
    return add(std::move(node));
  }
  static std::string read_flags(std::string_view written) {
    std::string flags;
    for (const char c : {'i', 's', 'm', 'x', 'q'}) {
      if (written.find(c) != std::string_view::npos) flags += c;
    }
    const auto unknown = written.find_first_not_of("ismxq");
    if (unknown != std::string_view::npos) {
      throw sql_error(sqlstate::syntax_error, "invalid input syntax for type {}", "jsonpath")
          .with_detail("Unrecognized flag character \"" + std::string(1, written[unknown]) +
                       "\" in LIKE_REGEX predicate.");
    }
    const bool is_quoted = flags.find('q') != std::string::npos;
    if (!is_quoted && flags.find('x') != std::string::npos) {
      throw_error(sqlstate::feature_not_supported,
                  "XQuery \"x\" flag (expanded regular expressions) is not implemented");
    }
    return flags;
  }

  PathPlace parse_sum() {
    check_stack();
    PathPlace left = parse_product();
    for (;;) {
      const bool adds = token_.is("+");
      if (!adds && !token_.is("-")) return left;
      require(!is_truth(left));
      advance();
      const PathPlace right = parse_product();
      require(!is_truth(right));
      left = join(adds ? PathOp::add : PathOp::subtract, left, right);
    }
  }
  PathPlace parse_product() {
    PathPlace left = parse_unary();
    for (;;) {
      PathOp op = PathOp::multiply;
      if (token_.is("/")) {
        op = PathOp::divide;
      } else if (token_.is("%")) {
        op = PathOp::modulo;
      } else if (!token_.is("*")) {
        return left;
      }
      require(!is_truth(left));
      advance();
      const PathPlace right = parse_unary();
      require(!is_truth(right));
      left = join(op, left, right);
    }
  }
  PathPlace parse_unary() {
    check_stack();
    const bool is_plus = token_.is("+");
    if (!is_plus && !token_.is("-")) return parse_accessors();
    advance();
    const PathPlace of = parse_unary();
    require(!is_truth(of));
    const PathNode& node = tree_.at(of);
    // Fold the sign into a literal, as PostgreSQL does.
    if (node.op == PathOp::number && node.next == kNoPlace) {
      const bool is_zero = node.text.find_first_not_of("0.") == std::string::npos;
      if (!is_plus && !is_zero) {
        PathNode& number = tree_.nodes[of];
        number.text = number.text.starts_with('-') ? number.text.substr(1) : "-" + number.text;
      }
      return of;
    }
    return add({.op = is_plus ? PathOp::plus : PathOp::minus, .left = of});
  }

  PathPlace parse_accessors() {
    has_steps_ = false;
    PathPlace first = kNoPlace;
    if (take("(")) {
      first = parse_or();
      expect(")");
      has_steps_ = false;
      if (is_word("is")) {
        require(is_predicate(tree_.at(first).op));
        advance();
        expect_word("unknown");
        return add({.op = PathOp::is_unknown, .left = first});
      }
    } else {
      first = parse_primary();
    }
    PathPlace end = first;
    bool any = false;
    while (tree_.at(end).next != kNoPlace) end = tree_.at(end).next;
    for (;;) {
      const auto step = parse_step();
      if (!step) break;
      tree_.nodes[end].next = *step;
      end = *step;
      any = true;
    }
    has_steps_ = any;
    return first;
  }
  PathPlace parse_primary() {
    PathNode node;
    switch (token_.kind) {
      case Kind::string:
        node.op = PathOp::string;
        node.text = token_.text;
        break;
      case Kind::variable:
        node.op = PathOp::variable;
        node.text = token_.text;
        break;
      case Kind::number:
      case Kind::integer:
        node.op = PathOp::number;
        node.text = plain_number(token_.text);
        break;
      default:
        if (token_.is("$")) {
          node.op = PathOp::root;
        } else if (token_.is("@")) {
          node.op = PathOp::current;
          if (depth_ == 0) misplaced("@ is not allowed in root expressions");
        } else if (is_word("last")) {
          node.op = PathOp::last;
          if (brackets_ == 0) misplaced("LAST is allowed only in array subscripts");
        } else if (is_word("null")) {
          node.op = PathOp::null;
        } else if (is_word("true") || is_word("false")) {
          node.op = PathOp::boolean;
          node.truth = token_.text == "true";
        } else {
          fail();
        }
    }
    advance();
    return add(std::move(node));
  }
  std::optional<PathPlace> parse_step() {
    if (token_.is("[")) return parse_brackets();
    if (token_.is("?")) {
      advance();
      expect("(");
      ++depth_;
      const PathPlace of = parse_or();
      --depth_;
      require(is_truth(of));
      expect(")");
      return add({.op = PathOp::filter, .left = of});
    }
    if (!take(".")) return std::nullopt;
    if (take("*")) return add({.op = PathOp::any_key});
    if (take("**")) return parse_any();
    const bool is_key = token_.kind == Kind::name || token_.kind == Kind::string;
    if (!is_key) fail();
    if (token_.kind == Kind::name && behind().is("(")) {
      if (const auto method = path_method_named(lowered(token_.text))) {
        return parse_method(*method);
      }
    }
    const PathPlace key = add({.op = PathOp::key, .text = token_.text});
    advance();
    return key;
  }
  PathPlace parse_method(PathOp op) {
    advance();
    expect("(");
    PathNode node{.op = op};
    if (op == PathOp::datetime && token_.kind == Kind::string) {
      node.text = token_.text;
      node.truth = true;  // `truth`: the method has a template
      advance();
    }
    const bool has_precision = op == PathOp::to_time || op == PathOp::to_time_tz ||
                               op == PathOp::to_timestamp || op == PathOp::to_timestamp_tz;
    if (has_precision && token_.kind == Kind::integer) node.text = take_integer({});
    if (op == PathOp::to_decimal && !token_.is(")")) {
      node.text = take_signed_integer();
      if (take(",")) node.flags = take_signed_integer();
      if (token_.is(",")) {
        throw SqlError{sqlstate::syntax_error, "invalid input syntax for type jsonpath"}
            .with_detail(".decimal() can only have an optional precision[,scale].");
      }
    }
    expect(")");
    return add(std::move(node));
  }
  std::string take_integer(std::string_view sign) {
    if (token_.kind != Kind::integer) fail();
    std::string written = std::string{sign} + plain_number(token_.text);
    advance();
    return written;
  }
  std::string take_signed_integer() {
    if (take("-")) return take_integer("-");
    static_cast<void>(take("+"));
    return take_integer({});
  }
  std::uint32_t parse_level() {
    std::uint32_t level = 0;
    if (is_word("last")) {
      level = kLastLevel;
    } else {
      if (token_.kind != Kind::integer) fail();
      const auto [end, error] =
          std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), level);
      if (error != std::errc{}) {
        throw_error(sqlstate::numeric_value_out_of_range,
                    "value \"{}\" is out of range for type {}", token_.text, "integer");
      }
    }
    advance();
    return level;
  }
  PathPlace parse_any() {
    PathNode node{.op = PathOp::any, .first = 0, .last = kLastLevel};
    if (take("{")) {
      node.first = parse_level();
      node.last = node.first;
      if (is_word("to")) {
        advance();
        node.last = parse_level();
      }
      expect("}");
    }
    return add(std::move(node));
  }
  PathPlace parse_brackets() {
    advance();
    if (take("*")) {
      expect("]");
      return add({.op = PathOp::any_array});
    }
    PathNode node{.op = PathOp::subscripts};
    ++brackets_;
    do {
      const PathPlace from = parse_sum();
      require(!is_truth(from));
      PathPlace to = kNoPlace;
      if (is_word("to")) {
        advance();
        to = parse_sum();
        require(!is_truth(to));
      }
      node.list.push_back({from, to});
    } while (take(","));
    --brackets_;
    expect("]");
    return add(std::move(node));
  }

  PathScanner scanner_;
  std::string_view whole_;
  PathTree tree_;
  PathToken token_;
  std::optional<PathToken> behind_;
  int depth_ = 0;  ///< nesting depth of filters
  int brackets_ = 0;
  bool has_steps_ = false;  ///< the last operand read has steps after it
  const char* misplaced_ = nullptr;
};

}  // namespace

std::string path_regex_flags(std::string_view written) {
  const auto has = [&](char flag) { return written.find(flag) != std::string_view::npos; };
  std::string flags;
  if (has('i')) flags += 'i';
  if (has('q')) {
    flags += 'q';
  } else if (has('m')) {
    flags += has('s') ? 'w' : 'n';
  } else if (!has('s')) {
    flags += 'p';
  }
  return flags;
}

PathTree parse_path(std::string_view text, MemoryAccount* account) {
  return PathParser{text, account}.parse();
}

}  // namespace swizzle::sql
