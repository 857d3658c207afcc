#include "storage/page/page.h"

#include <fmt/format.h>

#include "base/checksum.h"

namespace swizzle {
namespace {

std::uint64_t checksum_of(const std::byte* page) noexcept {
  constexpr std::size_t kBody = sizeof(PageHeader::checksum);
  const auto id = load<std::uint64_t>(page + offsetof(PageHeader, id));
  return checksum({page + kBody, kPageBytes - kBody}, id);
}

}  // namespace

void seal_page(std::byte* page) noexcept {
  store(page, checksum_of(page));
}

Result<> check_page(const std::byte* page, PageId expected) {
  const auto header = load<PageHeader>(page);
  if (header.checksum != checksum_of(page))
    return fail(sqlstate::data_corrupted, fmt::format("page {} fails its checksum", raw(expected)));
  if (header.id != expected)
    return fail(sqlstate::data_corrupted, fmt::format("page {} was read where page {} belongs",
                                                      raw(header.id), raw(expected)));
  return {};
}

}  // namespace swizzle
