#include "server/observability/http_server.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <new>
#include <utility>

namespace swizzle::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::empty_body>;
using Reply = http::response<http::string_body>;

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{100};

Reply reply_with(HttpResponse response) {
  Reply reply{static_cast<http::status>(response.status), 11};
  reply.set(http::field::content_type, response.content_type);
  reply.set(http::field::cache_control, "no-store");
  reply.set("X-Content-Type-Options", "nosniff");
  reply.body() = std::move(response.body);
  reply.keep_alive(false);
  reply.prepare_payload();
  return reply;
}

}  // namespace

struct HttpServer::State {
  /// Its end is the connection's.
  class Visit {
   public:
    explicit Visit(int& count) noexcept : count_(count) { ++count_; }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { --count_; }

   private:
    int& count_;
  };

  asio::awaitable<void> accept_from(tcp::acceptor& acceptor);
  asio::awaitable<void> serve(tcp::socket peer);
  [[nodiscard]] Reply reply_to(const Request& request) const;

  asio::io_context& events;
  Answer answer;
  std::vector<tcp::acceptor> acceptors;
  int visits = 0;
};

HttpServer::HttpServer(asio::io_context& events, std::vector<Descriptor> sockets, Answer answer)
    : state_(new State{events, std::move(answer), {}, 0}) {
  // Coroutines refer to their acceptor.
  state_->acceptors.reserve(sockets.size());
  for (Descriptor& socket : sockets) {
    // The family matters to whoever opens or binds: this is neither.
    state_->acceptors.emplace_back(events, tcp::v4(), socket.release());
    asio::co_spawn(events, state_->accept_from(state_->acceptors.back()), asio::detached);
  }
}

HttpServer::~HttpServer() = default;

asio::awaitable<void> HttpServer::State::accept_from(tcp::acceptor& acceptor) {
  asio::steady_timer pause{events};
  while (acceptor.is_open()) {
    error_code failure;
    tcp::socket peer =
        co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failure));
    bool has_room = !failure;
    try {
      if (has_room) asio::co_spawn(events, serve(std::move(peer)), asio::detached);
    } catch (const std::bad_alloc&) {
      has_room = false;
    }
    if (has_room) continue;
    // Out of descriptors or memory, until somebody leaves.
    pause.expires_after(kPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failure));
  }
}

asio::awaitable<void> HttpServer::State::serve(tcp::socket peer) {
  const Visit visit{visits};
  beast::tcp_stream stream{std::move(peer)};
  stream.expires_after(kPatience);
  beast::flat_buffer buffer{kLongestHead};
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kLongestHead);
  error_code failure;
  co_await http::async_read_header(stream, buffer, parser,
                                   asio::redirect_error(asio::use_awaitable, failure));
  // Gone, or out of patience; everything else is about what was sent.
  const bool is_wrong =
      failure.category() == http::make_error_code(http::error::end_of_stream).category();
  if (failure && (!is_wrong || failure == http::error::end_of_stream)) co_return;
  Reply reply = failure                ? reply_with({.status = 400, .body = "not HTTP/1\n"})
                : visits > kMostAtOnce ? reply_with({.status = 503, .body = "too many at once\n"})
                                       : reply_to(parser.get());
  co_await http::async_write(stream, reply, asio::redirect_error(asio::use_awaitable, failure));
  static_cast<void>(stream.socket().shutdown(tcp::socket::shutdown_send, failure));
}

Reply HttpServer::State::reply_to(const Request& request) const {
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    return reply_with({.status = 405, .body = "GET and HEAD only\n"});
  }
  const std::string_view target{request.target().data(), request.target().size()};
  Reply reply = reply_with(answer(target.substr(0, target.find('?'))));
  // The length stays: it is what GET would have brought.
  if (request.method() == http::verb::head) reply.body().clear();
  return reply;
}

}  // namespace swizzle::server
