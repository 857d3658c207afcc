#include "server/observability/http_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace swizzle::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using Request = http::request<http::string_body>;
using Reply = http::response<http::string_body>;

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{100};
/// The page may run only its own scripts, and not in another site's frame.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Reply reply_with(HttpResponse response) {
  Reply reply{static_cast<http::status>(response.status), 11};
  reply.set(http::field::content_type, response.content_type);
  reply.set(http::field::cache_control, "no-store");
  reply.set("X-Content-Type-Options", "nosniff");
  reply.set("Content-Security-Policy", kContentPolicy);
  reply.set("Cross-Origin-Resource-Policy", "same-origin");
  reply.set("Referrer-Policy", "no-referrer");
  reply.body() = std::move(response.body);
  reply.keep_alive(false);
  reply.prepare_payload();
  return reply;
}

std::string text_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

IpAddress address_of(const asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return IpAddress::from_bytes(std::as_bytes(std::span{bytes}));
  }
  const auto bytes = address.to_v6().to_bytes();
  return IpAddress::from_bytes(std::as_bytes(std::span{bytes}));
}

/// Returns the parts of a request on which an aside answer depends. Pre: its path is below
/// kAsidePaths.
HttpRequest request_aside(Request& request, const tcp::endpoint& peer) {
  HttpRequest aside;
  aside.is_post = request.method() == http::verb::post;
  aside.path = text_of(request.target());
  if (const std::size_t mark = aside.path.find('?'); mark != std::string::npos) {
    aside.query = aside.path.substr(mark + 1);
    aside.path.resize(mark);
  }
  aside.body = std::move(request.body());
  aside.host = text_of(request[http::field::host]);
  aside.origin = text_of(request[http::field::origin]);
  aside.authorization = text_of(request[http::field::authorization]);
  aside.marker = text_of(request["X-Swizzle-Console"]);
  aside.peer = address_of(peer.address());
  aside.peer_port = peer.port();
  return aside;
}

bool is_aside(const Request& request) {
  return text_of(request.target()).starts_with(HttpServer::kAsidePaths);
}

}  // namespace

/// State shared with the coroutines, which the io_context ends after the server.
struct HttpServer::State : std::enable_shared_from_this<State> {
  /// Counts a connection; its destruction ends the count.
  class Visit {
   public:
    explicit Visit(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {
      ++state_->visits;
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { --state_->visits; }

   private:
    std::shared_ptr<State> state_;
  };

  State(asio::io_context& to_run, Answer for_paths, AsideAnswer for_requests)
      : events(to_run), answer(std::move(for_paths)), aside(std::move(for_requests)) {}

  asio::awaitable<void> accept_from(tcp::acceptor& acceptor);
  asio::awaitable<void> serve(tcp::socket peer);
  /// Returns the response to a complete request.
  asio::awaitable<Reply> reply_to(Request request, tcp::endpoint peer);
  [[nodiscard]] Reply reply_at_once(const Request& request) const;
  /// Returns the aside answer. An exception fails its request only.
  [[nodiscard]] HttpResponse answer_aside(const HttpRequest& request) const noexcept;
  asio::thread_pool& worker();

  asio::io_context& events;
  Answer answer;
  AsideAnswer aside;
  std::vector<tcp::acceptor> acceptors;
  int visits = 0;
  std::mutex worker_mutex;
  std::optional<asio::thread_pool> worker_thread;
};

HttpServer::HttpServer(asio::io_context& events, std::vector<Descriptor> sockets, Answer answer,
                       AsideAnswer aside)
    : state_(std::make_shared<State>(events, std::move(answer), std::move(aside))) {
  // Coroutines keep references to their acceptors: reserve, so that these do not move.
  state_->acceptors.reserve(sockets.size());
  for (Descriptor& socket : sockets) {
    // The address family is used only by open and bind, which are not called.
    state_->acceptors.emplace_back(events, tcp::v4(), socket.release());
    asio::co_spawn(events, state_->accept_from(state_->acceptors.back()), asio::detached);
  }
}

HttpServer::~HttpServer() {
  // Coroutines keep the rest alive until the io_context is destroyed.
  state_->acceptors.clear();
  asio::thread_pool* worker = nullptr;
  {
    const std::scoped_lock lock{state_->worker_mutex};
    if (state_->worker_thread) worker = &*state_->worker_thread;
  }
  // Join without the mutex: pending work may call run_aside().
  if (worker != nullptr) worker->join();
}

void HttpServer::run_aside(std::function<void()> work) {
  asio::post(state_->worker(), std::move(work));
}

asio::thread_pool& HttpServer::State::worker() {
  const std::scoped_lock lock{worker_mutex};
  if (!worker_thread) worker_thread.emplace(1U);
  return *worker_thread;
}

asio::awaitable<void> HttpServer::State::accept_from(tcp::acceptor& acceptor) {
  const std::shared_ptr<State> self = shared_from_this();
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
    // Out of descriptors or memory: wait until a connection ends.
    pause.expires_after(kPause);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failure));
  }
}

asio::awaitable<void> HttpServer::State::serve(tcp::socket peer) {
  const Visit visit{shared_from_this()};
  beast::tcp_stream stream{std::move(peer)};
  stream.expires_after(kPatience);
  beast::flat_buffer buffer{kLongestHead + kLongestBody};
  http::request_parser<http::string_body> parser;
  parser.header_limit(kLongestHead);
  parser.body_limit(kLongestBody);
  error_code failure;
  co_await http::async_read_header(stream, buffer, parser,
                                   asio::redirect_error(asio::use_awaitable, failure));
  // Read no body of other requests: they may be refused before it is sent.
  if (!failure && is_aside(parser.get()) && parser.get().method() == http::verb::post) {
    co_await http::async_read(stream, buffer, parser,
                              asio::redirect_error(asio::use_awaitable, failure));
  }
  // Closed or timed out: no answer. Other errors are about the request.
  const bool is_wrong =
      failure.category() == http::make_error_code(http::error::end_of_stream).category();
  if (failure && (!is_wrong || failure == http::error::end_of_stream)) co_return;
  Reply reply;
  if (failure) {
    reply = reply_with({.status = 400, .body = "not HTTP/1\n"});
  } else if (visits > kMostAtOnce) {
    reply = reply_with({.status = 503, .body = "too many at once\n"});
  } else {
    error_code unknown;
    const tcp::endpoint from = stream.socket().remote_endpoint(unknown);
    reply = co_await reply_to(parser.release(), from);
    stream.expires_after(kPatience);
  }
  co_await http::async_write(stream, reply, asio::redirect_error(asio::use_awaitable, failure));
  static_cast<void>(stream.socket().shutdown(tcp::socket::shutdown_send, failure));
}

asio::awaitable<Reply> HttpServer::State::reply_to(Request request, tcp::endpoint peer) {
  const bool is_get = request.method() == http::verb::get;
  if (!aside || !is_aside(request) || (!is_get && request.method() != http::verb::post)) {
    co_return reply_at_once(request);
  }
  const HttpRequest asked = request_aside(request, peer);
  // Make the answer on the aside thread, then return to this one.
  co_await asio::post(asio::bind_executor(worker().get_executor(), asio::use_awaitable));
  HttpResponse response = answer_aside(asked);
  co_await asio::post(asio::bind_executor(events.get_executor(), asio::use_awaitable));
  co_return reply_with(std::move(response));
}

HttpResponse HttpServer::State::answer_aside(const HttpRequest& request) const noexcept {
  try {
    return aside(request);
  } catch (const std::exception&) {
    return {.status = 503};
  }
}

Reply HttpServer::State::reply_at_once(const Request& request) const {
  // Balancers send OPTIONS to get the status alone.
  constexpr std::array kMethods{http::verb::get, http::verb::head, http::verb::options};
  if (std::ranges::find(kMethods, request.method()) == kMethods.end()) {
    return reply_with({.status = 405, .body = "GET, HEAD and OPTIONS only\n"});
  }
  const std::string_view target{request.target().data(), request.target().size()};
  Reply reply = reply_with(answer(target));
  // Keep Content-Length: HEAD returns that of GET.
  if (request.method() == http::verb::head) reply.body().clear();
  return reply;
}

}  // namespace swizzle::server
