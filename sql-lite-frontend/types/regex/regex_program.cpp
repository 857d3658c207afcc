#include "sql-lite-frontend/types/regex/regex_program.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using NodeKind = RegexNode::Kind;

}  // namespace

std::size_t character_before(std::string_view text, std::size_t at) noexcept {
  constexpr unsigned char kMask = 0xc0;
  constexpr unsigned char kContinuation = 0x80;
  do --at;
  while ((static_cast<unsigned char>(text[at]) & kMask) == kContinuation);
  return at;
}

std::uint32_t RegexProgrammer::program_of(std::span<const std::uint32_t> span) {
  return finish(parts(span, add({})));
}

std::uint32_t RegexProgrammer::program_of_repeat(std::uint32_t part, std::uint32_t least,
                                                 std::uint32_t most) {
  return finish(repeat(part, least, most, add({})));
}

std::uint32_t RegexProgrammer::finish(std::uint32_t begin) {
  programs_.push_back({.steps = std::exchange(steps_, {}), .begin = begin});
  return static_cast<std::uint32_t>(programs_.size() - 1);
}

std::uint32_t RegexProgrammer::add(RegexProgram::Step step) {
  constexpr std::size_t kMostSteps = 200'000;
  if (++all_steps_ > kMostSteps) invalid_regex("regular expression is too complex");
  steps_.push_back(step);
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

std::uint32_t RegexProgrammer::parts(std::span<const std::uint32_t> span, std::uint32_t next) {
  if (direction_ == RegexDirection::forward) {
    for (const std::uint32_t part : span | std::views::reverse) next = node(part, next);
  } else {
    for (const std::uint32_t part : span) next = node(part, next);
  }
  return next;
}

std::uint32_t RegexProgrammer::node(std::uint32_t place, std::uint32_t next) {
  require_regex_stack();
  const RegexNode& node = tree_[place];
  switch (node.kind) {
    case NodeKind::empty:
      return next;
    case NodeKind::character:
      return add({.kind = RegexProgram::Step::Kind::character,
                  .next = next,
                  .operand = static_cast<std::uint32_t>(node.character)});
    case NodeKind::any:
      return add({.kind = RegexProgram::Step::Kind::any, .next = next});
    case NodeKind::set:
      return add({.kind = RegexProgram::Step::Kind::set, .next = next, .operand = node.number});
    case NodeKind::look_ahead:
    case NodeKind::look_behind:
      return is_in_reference_ ? next : look(node, next);
    case NodeKind::reference: {
      const bool was_in_reference = std::exchange(is_in_reference_, true);
      next = this->node(tree_.groups[node.number - 1], next);
      is_in_reference_ = was_in_reference;
      return next;
    }
    case NodeKind::group:
    case NodeKind::sequence:
      return parts(node.parts, next);
    case NodeKind::choice: {
      std::uint32_t ways = this->node(node.parts.back(), next);
      for (const std::uint32_t part : node.parts | std::views::reverse | std::views::drop(1)) {
        const std::uint32_t way = this->node(part, next);
        ways = add({.kind = RegexProgram::Step::Kind::split, .next = way, .operand = ways});
      }
      return ways;
    }
    case NodeKind::repeat:
      return repeat(node.parts.front(), node.least, node.most, next);
    default:
      if (is_in_reference_) return next;
      return add({.kind = RegexProgram::Step::Kind::check, .checked = node.kind, .next = next});
  }
}

std::uint32_t RegexProgrammer::repeat(std::uint32_t part, std::uint32_t least, std::uint32_t most,
                                      std::uint32_t next) {
  if (most == RegexNode::kUnlimited) {
    const std::uint32_t again = add({.kind = RegexProgram::Step::Kind::split});
    const std::uint32_t once = node(part, again);
    steps_[again].next = once;
    steps_[again].operand = next;
    next = again;
  } else {
    const std::uint32_t end = next;
    for (std::uint32_t i = least; i < most; ++i) {
      const std::uint32_t once = node(part, next);
      next = add({.kind = RegexProgram::Step::Kind::split, .next = once, .operand = end});
    }
  }
  for (std::uint32_t i = 0; i < least; ++i) next = node(part, next);
  return next;
}

/// A look around is a program of its own; one behind runs backwards.
std::uint32_t RegexProgrammer::look(const RegexNode& node, std::uint32_t next) {
  const RegexDirection outer = direction_;
  std::vector<RegexProgram::Step> outer_steps = std::exchange(steps_, {});
  direction_ =
      node.kind == NodeKind::look_ahead ? RegexDirection::forward : RegexDirection::backward;
  const std::uint32_t inside = program_of(node.parts);
  direction_ = outer;
  steps_ = std::move(outer_steps);
  return add({.kind = RegexProgram::Step::Kind::look,
              .checked = node.kind,
              .is_negative = node.is_negative,
              .next = next,
              .operand = inside});
}

RegexRun::RegexRun(const RegexTree& tree, std::span<const RegexProgram> programs,
                   std::string_view text)
    : tree_(tree), programs_(programs), text_(text), scratch_(programs.size()) {}

bool RegexRun::is_word(char32_t character) const {
  return is_in_class(CharacterClass::word, tree_.options.letters, character);
}

bool RegexRun::check(NodeKind kind, std::size_t at) const {
  const bool has_before = at > 0;
  const bool has_after = at < text_.size();
  switch (kind) {
    case NodeKind::line_begin:
      return !has_before || (tree_.options.newline_anchors && text_[at - 1] == '\n');
    case NodeKind::line_end:
      return !has_after || (tree_.options.newline_anchors && text_[at] == '\n');
    case NodeKind::text_begin:
      return !has_before;
    case NodeKind::text_end:
      return !has_after;
    default:
      break;
  }
  const bool word_before =
      has_before && is_word(decode_character(text_.substr(character_before(text_, at))));
  const bool word_after = has_after && is_word(decode_character(text_.substr(at)));
  switch (kind) {
    case NodeKind::word_begin:
      return !word_before && word_after;
    case NodeKind::word_end:
      return word_before && !word_after;
    case NodeKind::word_edge:
      return word_before != word_after;
    default:
      return word_before == word_after;
  }
}

bool RegexRun::look(const RegexProgram::Step& step, std::size_t at) {
  require_regex_stack();
  bool is_found = false;
  const bool is_ahead = step.checked == NodeKind::look_ahead;
  run(step.operand, at, is_ahead ? text_.size() : 0,
      is_ahead ? RegexDirection::forward : RegexDirection::backward, [&](std::size_t) {
        is_found = true;
        return false;
      });
  return is_found != step.is_negative;
}

bool RegexRun::takes(const RegexProgram::Step& step, char32_t character) const {
  switch (step.kind) {
    case RegexProgram::Step::Kind::character:
      return same_character(tree_.options, character, step.operand);
    case RegexProgram::Step::Kind::any:
      return character != '\n' || !tree_.options.newline_stops_dot;
    default:
      return tree_.sets[step.operand].contains(tree_.options, character);
  }
}

/// Adds a step and those that it leads to without a character.
void RegexRun::add(std::uint32_t program, Scratch& scratch, Places& places, std::uint32_t step,
                   std::size_t at) {
  const std::vector<RegexProgram::Step>& steps = programs_[program].steps;
  scratch.pending.push_back(step);
  while (!scratch.pending.empty()) {
    step = scratch.pending.back();
    scratch.pending.pop_back();
    if (places.noted[step] == places.turn) continue;
    places.noted[step] = places.turn;
    const RegexProgram::Step& found = steps[step];
    switch (found.kind) {
      case RegexProgram::Step::Kind::accept:
        places.accepts = true;
        break;
      case RegexProgram::Step::Kind::split:
        scratch.pending.push_back(found.operand);
        scratch.pending.push_back(found.next);
        break;
      case RegexProgram::Step::Kind::check:
        if (check(found.checked, at)) scratch.pending.push_back(found.next);
        break;
      case RegexProgram::Step::Kind::look:
        if (look(found, at)) scratch.pending.push_back(found.next);
        break;
      default:
        places.list.push_back(step);
    }
  }
}

template <class Found>
void RegexRun::run(std::uint32_t program, std::size_t begin, std::size_t limit,
                   RegexDirection direction, Found&& found) {
  constexpr std::size_t kWorkOfStep = 4;
  const std::vector<RegexProgram::Step>& steps = programs_[program].steps;
  Scratch& scratch = scratch_[program];
  const auto start = [&steps](Places& places) {
    places.noted.resize(steps.size());
    places.list.clear();
    places.accepts = false;
    if (++places.turn == 0) {
      std::ranges::fill(places.noted, 0);
      places.turn = 1;
    }
  };
  start(scratch.now);
  add(program, scratch, scratch.now, programs_[program].begin, begin);
  const bool is_forward = direction == RegexDirection::forward;
  for (std::size_t at = begin;;) {
    if (scratch.now.accepts && !found(at)) return;
    if (at == limit || scratch.now.list.empty()) return;
    const std::size_t other =
        is_forward ? at + utf8_length(text_[at]) : character_before(text_, at);
    const char32_t character = decode_character(text_.substr(std::min(at, other)));
    start(scratch.then);
    for (const std::uint32_t step : scratch.now.list)
      if (takes(steps[step], character))
        add(program, scratch, scratch.then, steps[step].next, other);
    yield_point(kWorkOfStep * (1 + scratch.now.list.size()));
    std::swap(scratch.now, scratch.then);
    at = other;
  }
}

std::optional<std::size_t> RegexRun::longest(std::uint32_t program, std::size_t begin,
                                             std::size_t limit) {
  std::optional<std::size_t> end;
  run(program, begin, limit, RegexDirection::forward, [&](std::size_t at) {
    end = at;
    return true;
  });
  return end;
}

std::optional<std::size_t> RegexRun::shortest(std::uint32_t program, std::size_t begin,
                                              std::size_t least, std::size_t limit) {
  std::optional<std::size_t> end;
  run(program, begin, limit, RegexDirection::forward, [&](std::size_t at) {
    if (at < least) return true;
    end = at;
    return false;
  });
  return end;
}

bool RegexRun::matches(std::uint32_t program, std::size_t begin, std::size_t end) {
  return longest(program, begin, end) == end;
}

std::vector<bool> RegexRun::ends(std::uint32_t program, std::size_t begin, std::size_t limit) {
  std::vector<bool> found(limit - begin + 1);
  run(program, begin, limit, RegexDirection::forward, [&](std::size_t at) {
    found[at - begin] = true;
    return true;
  });
  return found;
}

}  // namespace swizzle::sql
