#include "sql-lite-frontend/types/functions/numbers/number_template_parts.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Template = NumberTemplate;
using Node = Template::Node;
using Kind = Node::Kind;
using Ordinal = Template::Ordinal;

class TemplateParser {
 public:
  TemplateParser(std::string_view text, MemoryAccount* account) : rest_{text} {
    count_in(out_.nodes, account);
  }

  Template parse() {
    constexpr std::size_t kBytesOfNode = 16;
    require_room_for(rest_.size() + 1, kBytesOfNode);
    while (!rest_.empty()) {
      yield_point(50);
      step();
      if (out_.roman && has_others()) {
        throw SqlError{sqlstate::syntax_error, "\"RN\" is incompatible with other formats"}
            .with_detail("\"RN\" may only be used together with \"FM\".");
      }
    }
    return std::move(out_);
  }

 private:
  bool take(std::string_view word) {
    if (rest_.size() < word.size() || !equals_ignoring_case(rest_.substr(0, word.size()), word))
      return false;
    lower_ = is_lower(rest_[0]);
    rest_.remove_prefix(word.size());
    return true;
  }
  void add(Kind kind) { out_.nodes.push_back({kind, {}, Ordinal::none}); }

  void digit(Kind kind) {
    if (after_point_) {
      ++out_.after;
    } else {
      if (kind == Kind::zero && out_.first_zero < 0) out_.first_zero = out_.before;
      ++out_.before;
      if (after_shift_) ++out_.shifted;
    }
    add(kind);
  }

  void step() {
    if (take("FM")) {
      out_.filled = false;
      fills_ = true;
    } else if (take("EEEE")) {
      scientific();
    } else if (take("RN")) {
      if (out_.roman) refuse("cannot use \"RN\" twice");
      out_.roman = true;
      out_.roman_lower = lower_;
    } else if (take("SG")) {
      beside_s("SG");
      has_minus_ = has_plus_ = true;
      own_sign(Kind::sign_here);
    } else if (take("MI")) {
      beside_s("MI");
      has_minus_ = true;
      own_sign(Kind::minus);
    } else if (take("PL")) {
      beside_s("PL");
      has_plus_ = true;
      add(Kind::plus);
    } else if (take("PR")) {
      if (has_s_ || has_plus_ || has_minus_) {
        refuse("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
      }
      has_brackets_ = true;
      own_sign(Kind::brackets);
    } else if (take("B")) {
      out_.blank = true;
    } else if (take("TH")) {
      add(Kind::ordinal);
      out_.nodes.back().ordinal = lower_ ? Ordinal::lower : Ordinal::upper;
    } else if (take("S")) {
      if (has_s_) refuse("cannot use \"S\" twice");
      if (has_plus_ || has_minus_ || has_brackets_) {
        refuse("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
      }
      has_s_ = true;
      own_sign(Kind::sign);
    } else if (take("9")) {
      if (has_brackets_) refuse("\"9\" must be ahead of \"PR\"");
      digit(Kind::nine);
    } else if (take("0")) {
      if (has_brackets_) refuse("\"0\" must be ahead of \"PR\"");
      digit(Kind::zero);
    } else if (take(".") || take("D")) {
      if (after_point_) refuse("multiple decimal points");
      if (after_shift_) refuse(kShiftAndPoint);
      after_point_ = true;
      add(Kind::point);
    } else if (take(",") || take("G")) {
      add(Kind::comma);
    } else if (take("V")) {
      if (after_point_) refuse(kShiftAndPoint);
      after_shift_ = true;
    } else if (take("C")) {
      // Accepted without effect: PostgreSQL reads C and writes nothing for it.
    } else if (take("L")) {
      add(Kind::currency);
    } else {
      literal();
    }
  }

  static constexpr std::string_view kShiftAndPoint = "cannot use \"V\" and decimal point together";

  [[noreturn]] static void refuse(std::string_view what) {
    throw SqlError{sqlstate::syntax_error, std::string{what}};
  }

  void beside_s(std::string_view sign) const {
    if (has_s_) {
      throw_error(sqlstate::syntax_error, "cannot use \"S\" and \"{}\" together", sign);
    }
  }

  /// True after a pattern, besides 9 and the separators, that says how digits are written.
  [[nodiscard]] bool has_others() const {
    return out_.first_zero >= 0 || after_point_ || after_shift_ || out_.blank || out_.scientific ||
           has_s_ || has_plus_ || has_minus_ || has_brackets_;
  }

  void scientific() {
    if (out_.scientific) refuse("cannot use \"EEEE\" twice");
    if (out_.blank || fills_ || has_s_ || has_brackets_ || has_minus_ || has_plus_ || out_.roman ||
        after_shift_) {
      throw SqlError{sqlstate::syntax_error, "\"EEEE\" is incompatible with other formats"}
          .with_detail("\"EEEE\" may only be used together with digit and decimal point patterns.");
    }
    out_.scientific = true;
  }

  void own_sign(Kind kind) {
    out_.own_sign = true;
    add(kind);
  }

  void literal() {
    Node node;
    if (rest_[0] == '"') {
      rest_.remove_prefix(1);
      while (!rest_.empty() && rest_[0] != '"') {
        if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
        node.text.push_back(rest_[0]);
        rest_.remove_prefix(1);
      }
      if (!rest_.empty()) rest_.remove_prefix(1);
    } else {
      if (rest_.starts_with("\\\"")) rest_.remove_prefix(1);
      node.text.push_back(rest_[0]);
      rest_.remove_prefix(1);
    }
    out_.nodes.push_back(std::move(node));
  }

  std::string_view rest_;
  Template out_;
  bool after_point_ = false;
  bool after_shift_ = false;
  bool lower_ = false;
  bool fills_ = false;
  bool has_s_ = false;
  bool has_plus_ = false;
  bool has_minus_ = false;
  bool has_brackets_ = false;
};

}  // namespace

NumberTemplate parse_number_template(std::string_view text, MemoryAccount* account) {
  return TemplateParser{text, account}.parse();
}

}  // namespace swizzle::sql
