// Runs a fuzz target without coverage: its corpus as it stands, then inputs made from it by random
// changes. Understands those of libFuzzer's options that our tests use, so that a build with clang
// and -DSWIZZLE_LIBFUZZER=ON runs the same commands.
//
//   TARGET [-runs=N] [-max_total_time=SECONDS] [-max_len=BYTES] [-seed=N] [CORPUS …]
//
// An input that ends the process is left in ./crash-<number>, and can be given as a corpus.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizers' runtime calls it so
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace swizzle {
namespace {

using Clock = std::chrono::steady_clock;

/// No input may take longer.
constexpr unsigned kPatienceSeconds = 30;

/// The input that runs now, for the report of a crash.
std::string current;
std::uint64_t executions = 0;

/// Takes no memory: the process is about to end.
void keep_input() {
  std::array<char, 64> name{};
  *fmt::format_to_n(name.data(), name.size() - 1, "crash-{}", executions).out = '\0';
  const int file = ::open(name.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  [[maybe_unused]] ssize_t written = ::write(file, current.data(), current.size());
  ::close(file);
  written = ::write(STDERR_FILENO, name.data(), std::string_view{name.data()}.size());
  written = ::write(STDERR_FILENO, " has the input\n", 15);
}

void on_signal(int signal) {
  keep_input();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void run(const std::string& input) {
  current = input;
  ++executions;
  // A copy of exactly that size, so that AddressSanitizer notices reads past it.
  const std::vector<std::uint8_t> bytes{input.begin(), input.end()};
  ::alarm(kPatienceSeconds);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// Makes inputs from others.
class Mutator {
 public:
  Mutator(std::uint64_t seed, std::size_t longest) : random_(seed), longest_(longest) {}

  std::string changed(const std::vector<std::string>& corpus) {
    std::string input = corpus[below(corpus.size())];
    for (std::size_t i = 1 + below(6); i > 0; --i) change(input, corpus[below(corpus.size())]);
    if (input.size() > longest_) input.resize(longest_);
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  std::string piece_of(const std::string& text) {
    const std::size_t at = below(text.size());
    return text.substr(at, 1 + below(std::min<std::size_t>(text.size(), 32)));
  }

  void change(std::string& input, const std::string& other) {
    const std::size_t at = below(input.size() + 1);
    switch (below(9)) {
      case 0:  // a bit
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:  // a byte
        if (at < input.size()) input[at] = static_cast<char>(random_());
        break;
      case 2:
        input.erase(at, 1 + below(8));
        break;
      case 3:
        input.insert(at, 1 + below(4), static_cast<char>(random_()));
        break;
      case 4:  // part of another
        input.insert(at, piece_of(other));
        break;
      case 5:  // the beginning of one, the end of another
        input = input.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      case 6:  // part of itself, often
        input.insert(at, repeated(piece_of(input)));
        break;
      case 7:
        overwrite(input, at, number());
        break;
      default:
        if (const std::size_t digit = input.find_first_of("0123456789", at);
            digit != std::string::npos) {
          input[digit] = static_cast<char>('0' + below(10));
        } else {
          input.insert(at, 1, kSpecial[below(kSpecial.size())]);
        }
    }
  }
  std::string repeated(const std::string& part) {
    std::string out;
    for (std::size_t i = below(20); i > 0; --i) out += part;
    return out;
  }
  /// A length or count that is likely to be wrong, the most significant byte first.
  std::string number() {
    static constexpr std::array<std::uint32_t, 12> kNumbers{
        0, 1, 4, 0x7F, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    const std::uint32_t value = kNumbers[below(kNumbers.size())];
    std::string bytes;
    for (std::size_t i = std::array{1U, 2U, 4U}[below(3)]; i > 0; --i) {
      bytes += static_cast<char>(value >> ((i - 1) * 8));
    }
    return bytes;
  }
  static void overwrite(std::string& input, std::size_t at, const std::string& bytes) {
    input.replace(at, std::min(bytes.size(), input.size() - at), bytes);
  }

  static constexpr std::string_view kSpecial = "'\"\\%_-+.,:;/()[]{}<>eE \t\n$~";
  std::mt19937_64 random_;
  std::size_t longest_;
};

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Options {
  std::uint64_t runs = 100'000;
  std::uint64_t max_total_time = 3600;
  std::uint64_t max_len = 4096;
  std::uint64_t seed = 1;
  std::vector<std::string> corpus;
};

/// In the order of their names, so that a seed means the same everywhere.
void read_corpus(const std::filesystem::path& path, std::vector<std::string>& corpus) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator{path}) files.push_back(entry);
    std::ranges::sort(files);
  } else {
    files.push_back(path);
  }
  for (const auto& file : files) corpus.push_back(contents_of(file));
}

Options parse(int count, char** words) {
  Options options;
  for (const std::string_view word : std::vector<std::string_view>(words + 1, words + count)) {
    bool is_option = false;
    for (const auto& [name, value] :
         {std::pair{"-runs=", &options.runs},
          std::pair{"-max_total_time=", &options.max_total_time},
          std::pair{"-max_len=", &options.max_len}, std::pair{"-seed=", &options.seed}}) {
      if (!word.starts_with(name)) continue;
      *value = std::stoull(std::string{word.substr(std::string_view{name}.size())});
      is_option = true;
    }
    if (!is_option) read_corpus(word, options.corpus);
  }
  return options;
}

int fuzz(const Options& options) {
  const auto end = Clock::now() + std::chrono::seconds{options.max_total_time};
  std::vector<std::string> corpus = options.corpus;
  for (const std::string& input : corpus) run(input);
  if (corpus.empty()) corpus.emplace_back();
  Mutator mutator{options.seed, options.max_len};
  while (executions < options.runs && Clock::now() < end) run(mutator.changed(corpus));
  ::alarm(0);
  fmt::print("{} executions, {} inputs in the corpus, seed {}\n", executions, options.corpus.size(),
             options.seed);
  return 0;
}

}  // namespace
}  // namespace swizzle

int main(int count, char** words) {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(&swizzle::keep_input);
  } else {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      ::signal(signal, &swizzle::on_signal);
    }
  }
  for (const int signal : {SIGABRT, SIGALRM}) ::signal(signal, &swizzle::on_signal);
  return swizzle::fuzz(swizzle::parse(count, words));
}
