#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizzle::clients {

/// A table with headings and columns as wide as their widest cell. NULL is an empty cell.
class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };
  using Cell = std::optional<std::string>;

  explicit TextTable(std::vector<std::string> headings)
      : headings_(std::move(headings)), aligns_(headings_.size(), Align::left) {}
  void align(std::size_t column, Align to) { aligns_[column] = to; }
  /// Pre: as many cells as headings.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string print() const;

 private:
  std::vector<std::string> headings_;
  std::vector<Align> aligns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Returns the columns of a terminal that UTF-8 text takes, if each character takes one.
std::size_t letters_in(const std::string& text) noexcept;

}  // namespace swizzle::clients
