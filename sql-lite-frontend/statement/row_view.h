#pragma once

#include "sql-lite-frontend/statement/statement.h"

namespace swizzle::sql {

/// Result columns as RowDescription shows them. `formats`: none is all text, one is for all.
std::vector<OutputColumn> output_columns(std::span<const OutputTarget> targets,
                                         std::span<const Format> formats);
/// The same into a vector that keeps its memory.
void put_output_columns(std::vector<OutputColumn>& columns, std::span<const OutputTarget> targets,
                        std::span<const Format> formats);

/// The row in a run's output slots.
class RowView final : public OutputRow {
 public:
  /// `columns` outlive it.
  RowView(PlanRun& run, std::span<const OutputColumn> columns) : run_(run), columns_(columns) {}
  [[nodiscard]] std::size_t size() const noexcept override { return columns_.size(); }
  void append_data_row(std::string& buffer) const override;
  [[nodiscard]] std::optional<std::string> text(std::size_t column) const override;

 private:
  void count_long_row(std::size_t bytes) const;

  PlanRun& run_;
  std::span<const OutputColumn> columns_;
  mutable MemoryShare sent_;  ///< of a long row, until the next one
};

/// A row of values outside a plan's slots: the result of CALL.
class ValuesRow final : public OutputRow {
 public:
  ValuesRow(FunctionContext& context, std::span<const OutputColumn> columns,
            std::span<const TypeId> types, std::span<const Value> values)
      : context_(context), columns_(columns), types_(types), values_(values) {}
  [[nodiscard]] std::size_t size() const noexcept override { return columns_.size(); }
  void append_data_row(std::string& buffer) const override;
  [[nodiscard]] std::optional<std::string> text(std::size_t column) const override;

 private:
  FunctionContext& context_;
  std::span<const OutputColumn> columns_;
  std::span<const TypeId> types_;
  std::span<const Value> values_;
};

/// A row of texts, for SHOW and EXPLAIN.
class TextRow final : public OutputRow {
 public:
  /// `client` is the encoding of the client's texts; null is UTF-8.
  TextRow(std::span<const std::optional<std::string>> values, const EncodingTable* client)
      : values_(values), client_(client) {}
  [[nodiscard]] std::size_t size() const noexcept override { return values_.size(); }
  void append_data_row(std::string& buffer) const override;
  [[nodiscard]] std::optional<std::string> text(std::size_t column) const override {
    return values_[column];
  }

 private:
  std::span<const std::optional<std::string>> values_;
  const EncodingTable* client_;
};

}  // namespace swizzle::sql
