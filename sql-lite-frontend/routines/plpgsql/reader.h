#pragma once

#include <initializer_list>

#include "sql-lite-frontend/routines/plpgsql/parser.h"
#include "sql-lite-frontend/routines/plpgsql/scanner.h"

namespace swizzle::sql::plpgsql {

/// Recursive-descent parser of a body. An SQL fragment is not parsed: it extends to a word that
/// ends it outside of parentheses. Files: reader.cpp (words and fragments), declarations.cpp,
/// read_steps.cpp, read_loops.cpp, read_statements.cpp.
class Reader {
 public:
  Reader(StatementContext& session, const Signature& signature);
  std::unique_ptr<Program> read();

 private:
  // reader.cpp
  [[nodiscard]] const Token& token(std::size_t ahead = 0) const noexcept {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is_word(std::string_view word) const noexcept { return token().is_word(word); }
  [[nodiscard]] bool is(std::string_view symbol) const noexcept { return token().is(symbol); }
  bool take_word(std::string_view word);
  bool take(std::string_view symbol);
  void expect_word(std::string_view word);
  void expect(std::string_view symbol);
  std::string expect_name();
  [[noreturn]] void fail_here() const;
  [[noreturn]] void fail_at(const Token& where) const;
  [[noreturn]] void fail(SqlState state, std::string message, const Token& where) const;
  [[nodiscard]] int line_here() const noexcept { return token().line; }
  /// Reads up to one of `ends`, which is not consumed. `expected` is the token that the error
  /// reports as missing if none of them follows.
  ExpressionPtr read_expression(std::initializer_list<std::string_view> ends,
                                std::string_view expected);
  ExpressionPtr read_statement();
  ExpressionPtr make(Expression::Kind kind, std::size_t begin, std::size_t end,
                     std::string_view instead = {});
  void skip_fragment(std::initializer_list<std::string_view> ends, std::string_view expected,
                     bool is_expression);
  [[nodiscard]] bool ends_here(std::initializer_list<std::string_view> ends) const;

  // declarations.cpp
  void declare_arguments();
  void declare_trigger_variables();
  void declare_event_trigger_variables();
  void take_settings();
  void declare_scope(std::string label, bool is_loop = false);
  std::size_t add_variable(Variable variable);
  std::size_t declare(Variable variable);
  void name_variable(const std::string& name, std::size_t variable);
  void read_declarations(BlockStep& block);
  void read_declaration(BlockStep& block);
  void read_cursor(Variable& variable);
  void read_collation(Variable& variable);
  void read_type(Variable& variable, std::initializer_list<std::string_view> ends);
  ShapePtr shape_of_type(TypeId composite);
  bool read_reference_type(Variable& variable, std::size_t begin, std::size_t end);
  void refuse_redeclared(const std::string& name, const Token& where) const;

  // read_steps.cpp
  std::unique_ptr<BlockStep> read_block(std::string label);
  void read_handlers(BlockStep& block);
  Condition read_condition();
  Steps read_steps(std::initializer_list<std::string_view> ends);
  StepPtr read_step();
  StepPtr read_labelled();
  std::string read_label();
  void check_end_label(const std::string& label);
  StepPtr read_if();
  StepPtr read_case();
  StepPtr read_exit(bool is_exit);
  StepPtr read_return();
  StepPtr read_assignment(const FoundName& found);
  void read_path(AssignedPart& part, std::size_t begin);

  // read_loops.cpp
  StepPtr read_plain_loop(std::string label);
  StepPtr read_while(std::string label);
  StepPtr read_for(std::string label);
  StepPtr read_foreach(std::string label);
  StepPtr read_integer_for(std::string label, std::string variable, std::size_t range_at);
  void read_loop_body(LoopStep& loop);
  std::optional<std::size_t> find_range() const;

  // read_statements.cpp
  StepPtr read_perform();
  StepPtr read_sql();
  StepPtr read_execute();
  std::vector<ExpressionPtr> read_using(std::initializer_list<std::string_view> ends);
  StepPtr read_raise();
  StepPtr read_assert();
  StepPtr read_diagnostics();
  StepPtr read_open();
  StepPtr read_fetch(bool is_move);
  StepPtr read_close();
  StepPtr read_transaction(bool is_commit);
  std::size_t read_cursor_variable();
  std::vector<ExpressionPtr> read_cursor_arguments(const Variable& variable);
  Targets read_targets();
  Target read_target();
  [[nodiscard]] std::optional<FoundName> found_here() const;
  std::optional<FoundName> take_variable();
  void require_assignable(std::size_t variable, const Token& where) const;

  template <class S>
  std::unique_ptr<S> step(int line) const {
    auto made = std::make_unique<S>();
    made->line = line;
    return made;
  }

  StatementContext& session_;
  const Signature& signature_;
  const std::string& body_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::unique_ptr<Program> program_;
  const Name* names_ = nullptr;
};

}  // namespace swizzle::sql::plpgsql
