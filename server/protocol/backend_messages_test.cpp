#include "server/protocol/backend_messages.h"

#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "server/protocol/receive_buffer.h"

namespace swizzle::server {
namespace {

using namespace std::string_literals;

std::string written(const auto& put) {
  BufferPool pool;
  SendBuffer out{pool};
  put(out);
  return std::string{as_text(out.pending())};
}

TEST_CASE("messages to the client have PostgreSQL's bytes") {
  CHECK(written([](auto& out) { put_authentication(out, AuthenticationCode::ok); }) ==
        "R\0\0\0\x08\0\0\0\0"s);
  CHECK(written([](auto& out) {
          put_authentication_sasl(out, std::array{std::string_view{"SCRAM-SHA-256"}});
        }) == "R\0\0\0\x17\0\0\0\x0ASCRAM-SHA-256\0\0"s);
  CHECK(written([](auto& out) {
          put_negotiate_protocol_version(out, {3, 2}, std::array{std::string_view{"_pq_.x"}});
        }) == "v\0\0\0\x13\0\3\0\2\0\0\0\1_pq_.x\0"s);
  CHECK(written([](auto& out) { put_backend_key_data(out, 258, as_bytes("KEY!")); }) ==
        "K\0\0\0\x0C\0\0\1\2KEY!"s);
  CHECK(written([](auto& out) { put_parameter_status(out, "a", "b"); }) ==
        "S\0\0\0\x08"
        "a\0b\0"s);
  CHECK(written([](auto& out) { put_notification(out, 258, "c", "hi"); }) ==
        "A\0\0\0\x0D\0\0\1\2c\0hi\0"s);
  CHECK(written([](auto& out) { put_ready_for_query(out, sql::TransactionStatus::failed); }) ==
        "Z\0\0\0\5E"s);
  CHECK(written([](auto& out) { put_command_complete(out, "SELECT 1"); }) ==
        "C\0\0\0\x0DSELECT 1\0"s);
  CHECK(written([](auto& out) {
          put_parameter_description(out, std::array{std::uint32_t{23}, std::uint32_t{25}});
        }) == "t\0\0\0\x0E\0\2\0\0\0\x17\0\0\0\x19"s);
  CHECK(written([](auto& out) { out.put_empty(BackendKind::bind_complete); }) == "2\0\0\0\4"s);
  CHECK(written([](auto& out) {
          put_copy_response(out, BackendKind::copy_in_response, {sql::Format::text, 2});
        }) == "G\0\0\0\x0B\0\0\2\0\0\0\0"s);
  CHECK(written([](auto& out) { put_copy_data(out, as_bytes("1\n")); }) ==
        "d\0\0\0\6"
        "1\n"s);
}

TEST_CASE("RowDescription has PostgreSQL's bytes") {
  sql::OutputColumn column;
  column.name = "abalance";
  column.type_oid = 23;
  column.type_size = 4;
  CHECK(written([&](auto& out) { put_row_description(out, {&column, 1}); }) ==
        "T\0\0\0\x21\0\1abalance\0\0\0\0\0\0\0\0\0\0\x17\0\4\xFF\xFF\xFF\xFF\0\0"s);
}

TEST_CASE("ErrorResponse carries S, V, C, M and a place always and the rest if it is there") {
  const std::source_location place;
  sql::Diagnostic report;
  report.state = SqlState{"23505"};
  report.message = "no";
  CHECK(written([&](auto& out) { put_report(out, BackendKind::error_response, report, place); }) ==
        "E\0\0\0\x2BSERROR\0VERROR\0C23505\0Mno\0F\0L0\0Rreport\0\0"s);
  report.position = 12;
  report.constraint = "k";
  report.message = "cut\0off"s;
  CHECK(written([&](auto& out) { put_report(out, BackendKind::error_response, report, place); }) ==
        "E\0\0\0\x33SERROR\0VERROR\0C23505\0Mcut\0P12\0nk\0F\0L0\0Rreport\0\0"s);
}

/// A row that fails while it is written.
class FailingRow final : public sql::OutputRow {
 public:
  [[nodiscard]] std::size_t size() const noexcept override { return 1; }
  void append_data_row(std::string& buffer) const override {
    buffer += "half";
    throw std::runtime_error{"no"};
  }
  [[nodiscard]] std::optional<std::string> text(std::size_t) const override { return {}; }
};

TEST_CASE("a row that fails leaves nothing behind") {
  BufferPool pool;
  SendBuffer out{pool};
  put_command_complete(out, "BEGIN");
  const std::size_t before = out.size();
  CHECK_THROWS_AS(put_data_row(out, FailingRow{}), std::runtime_error);
  CHECK(out.size() == before);
}

TEST_CASE("the send buffer keeps its memory until it is released") {
  BufferPool pool;
  SendBuffer out{pool};
  put_ready_for_query(out, sql::TransactionStatus::idle);
  for (int i = 0; i < 10'000; ++i) out.put_text("0123456789");
  CHECK(out.size() == 100'006);
  out.consume(1);
  out.release();  // keeps what is not sent
  CHECK(out.size() == 100'005);
  out.consume(100'005);
  CHECK(out.empty());
  CHECK(out.capacity() >= 100'000);
  out.release();
  CHECK(out.capacity() < 100);
}

TEST_CASE("the receive buffer grows with what has arrived, not with what is claimed") {
  BufferPool pool;
  ReceiveBuffer in{pool};
  CHECK(in.capacity() == 0);
  std::size_t arrived = 0;
  while (arrived < 1'000'000) {
    const MutableBytes room = in.room();
    REQUIRE(room.size() >= ReceiveBuffer::kLeastRead);
    const std::size_t got = std::min<std::size_t>(room.size(), 1000);
    std::fill_n(room.begin(), got, static_cast<std::byte>(arrived));
    in.commit(got);
    arrived += got;
    REQUIRE(in.capacity() <= std::max<std::size_t>(4 * arrived, ReceiveBuffer::kInitial));
  }
  CHECK(in.buffered().size() == arrived);
  in.release();  // keeps what is not dealt with
  CHECK(in.buffered().size() == arrived);
  in.consume(arrived);
  in.release();
  CHECK(in.capacity() == 0);
}

TEST_CASE("a long message counts where the server's memory does") {
  sql::MemoryTotal total;
  total.set_limit(std::size_t{2} << 20U);
  BufferPool pool{total};
  {
    ReceiveBuffer in{pool};
    std::size_t arrived = 0;
    const auto fill = [&] {
      for (;;) {
        const std::size_t room = in.room().size();
        in.commit(room);
        arrived += room;
      }
    };
    CHECK_THROWS_AS(fill(), std::bad_alloc);
    // Twice as much, for a copy, would exceed the limit.
    CHECK(arrived == std::size_t{1} << 20U);
    CHECK(total.used_bytes() == std::size_t{1} << 20U);
    in.consume(arrived);
    in.release();
    CHECK(total.used_bytes() == 0);
    CHECK(in.room().size() == ReceiveBuffer::kInitial);
    CHECK(total.used_bytes() == 0);
  }
  ReceiveBuffer another{pool};
  while (another.capacity() < std::size_t{1} << 20U) another.commit(another.room().size());
  CHECK(total.used_bytes() == std::size_t{1} << 20U);
}

TEST_CASE("the receive buffer moves what is left to the front instead of growing") {
  BufferPool pool;
  ReceiveBuffer in{pool};
  for (int round = 0; round < 1000; ++round) {
    const MutableBytes room = in.room();
    const std::size_t got = std::min<std::size_t>(room.size(), 3000);
    in.commit(got);
    in.consume(std::min<std::size_t>(in.buffered().size(), 3000));
  }
  CHECK(in.capacity() == ReceiveBuffer::kInitial);
}

}  // namespace
}  // namespace swizzle::server
