#include "clients/swizzle/text_table.h"

#include <algorithm>

namespace swizzle::clients {

std::size_t letters_in(const std::string& text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string TextTable::print() const {
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings_) widths.push_back(letters_in(heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i] ? letters_in(*row[i]) : 0);
    }
  }
  std::string out;
  const auto put = [&](std::size_t column, const std::string& text, Align align) {
    const std::string padding(widths[column] - letters_in(text), ' ');
    if (column > 0) out += " | ";
    out += align == Align::right ? padding + text : text + padding;
  };
  const auto end_line = [&] {
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  };
  for (std::size_t i = 0; i < headings_.size(); ++i) put(i, headings_[i], Align::left);
  end_line();
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    out += (i > 0 ? "-+-" : "") + std::string(widths[i], '-');
  }
  out += '\n';
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) put(i, row[i].value_or(""), aligns_[i]);
    end_line();
  }
  return out;
}

}  // namespace swizzle::clients
