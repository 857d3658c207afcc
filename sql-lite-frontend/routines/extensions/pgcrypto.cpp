// pgcrypto: digests, password hashes, raw encryption and random bytes, by OpenSSL and the system's
// crypt(). OpenPGP messages are not supported.
#include <crypt.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/types/functions/text/digests.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr SqlState kExternalRoutine{"39000"};

const unsigned char* raw_bytes(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Value bytes_value(FunctionContext& context, std::span<const unsigned char> bytes) {
  return Value::from_bytes(context.arena.copy(std::as_bytes(bytes)));
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return lower;
}

[[noreturn]] void cannot_use(std::string_view what, std::string_view why) {
  throw_error(sqlstate::invalid_parameter_value, "Cannot use \"{}\": {}", what, why);
}

const EVP_MD* digest_named(std::string_view name) {
  const std::string lower = lower_case(name);
  // OpenSSL still knows names of algorithms that it no longer includes.
  const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> usable{
      EVP_MD_fetch(nullptr, lower.c_str(), nullptr), &EVP_MD_free};
  const EVP_MD* const digest = EVP_get_digestbyname(lower.c_str());
  if (digest == nullptr || !usable) cannot_use(name, "No such hash algorithm");
  return digest;
}

Value digest(FunctionContext& context, Arguments a) {
  const std::string hash = digest_of(digest_named(a[1].as_text()), a[0].as_bytes());
  return Value::from_bytes(context.arena.copy(as_bytes(hash)));
}

Value hmac(FunctionContext& context, Arguments a) {
  const std::string hash = hmac_of(digest_named(a[2].as_text()), a[1].as_bytes(), a[0].as_bytes());
  return Value::from_bytes(context.arena.copy(as_bytes(hash)));
}

constexpr std::string_view kSaltLetters =
    "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The system's crypt() cannot be ended, so a bcrypt of more rounds than take some seconds is
/// refused.
constexpr int kMostBcryptCost = 15;

/// True if `salt` is for bcrypt. Throws for costs so high that the computation, which cannot be
/// interrupted, would take too long.
bool is_bcrypt(std::string_view salt) {
  if (!salt.starts_with("$2a$") && !salt.starts_with("$2x$")) return false;
  int cost = 0;
  const std::string_view digits = salt.substr(4, 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), cost);
  constexpr int kMostThereIs = 31;
  if (error != std::errc{} || cost <= kMostBcryptCost || cost > kMostThereIs) return true;
  throw SqlError{sqlstate::feature_not_supported,
                 fmt::format("crypt with a cost of {} is not supported", cost)}
      .with_detail("It could not be canceled while it computes.")
      .with_hint(fmt::format("Use a cost of at most {}.", kMostBcryptCost));
}

/// Maps two bytes of a salt to letters as DES does; the system's function accepts only its own
/// letters.
std::string des_salt(std::string_view salt) {
  std::string letters{salt.substr(0, 2)};
  for (char& letter : letters) {
    if (!kSaltLetters.contains(letter)) letter = kSaltLetters.front();
  }
  return letters;
}

/// Runs on a thread for blocking work, because it may take long, depending on the number of rounds.
Value crypt_password(FunctionContext& context, Arguments a) {
  const std::string_view asked = a[1].as_text();
  const bool is_des = !is_bcrypt(asked) && !asked.starts_with("$1$") && !asked.starts_with('_');
  std::string password{a[0].as_text()};
  const std::string salt = is_des ? des_salt(asked) : std::string{asked};
  std::string hash;
  Runtime::current().run_aside([&] {
    const auto data = std::make_unique<crypt_data>();
    const char* const made = crypt_r(password.c_str(), salt.c_str(), data.get());
    if (made != nullptr && made[0] != '*') hash = made;
    explicit_bzero(data.get(), sizeof *data);
  });
  explicit_bzero(password.data(), password.size());
  if (hash.empty()) throw SqlError{sqlstate::invalid_parameter_value, "invalid salt"};
  if (is_des) hash.replace(0, 2, asked.substr(0, 2));
  return Value::from_text(context.arena.copy(std::string_view{hash}));
}

/// bcrypt's alphabet.
constexpr std::string_view kBcryptLetters =
    "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

std::string random_letters(FunctionContext& context, std::size_t count) {
  std::vector<std::byte> random(count);
  context.session.random_bytes(random);
  std::string letters;
  for (const std::byte byte : random) {
    letters += kSaltLetters[std::to_integer<std::size_t>(byte) % kSaltLetters.size()];
  }
  return letters;
}

/// Returns 16 random bytes in bcrypt's alphabet, six bits a letter.
std::string bcrypt_salt(FunctionContext& context) {
  std::array<std::byte, 16> random{};
  context.session.random_bytes(random);
  std::string text;
  unsigned bits = 0;
  unsigned pending = 0;
  for (const std::byte byte : random) {
    pending = pending << 8U | std::to_integer<unsigned>(byte);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += kBcryptLetters[pending >> bits & 0x3FU];
    }
  }
  text += kBcryptLetters[pending << (6 - bits) & 0x3FU];
  return text;
}

/// Returns a salt. `rounds` 0: the usual number.
std::string salt_of(FunctionContext& context, std::string_view kind, std::int32_t rounds) {
  const auto require = [](bool is_right) {
    if (is_right) return;
    throw SqlError{sqlstate::invalid_parameter_value, "gen_salt: Incorrect number of rounds"};
  };
  if (kind == "des") {
    require(rounds == 0 || rounds == 25);
    return random_letters(context, 2);
  }
  if (kind == "md5") {
    require(rounds == 0 || rounds == 1000);
    return "$1$" + random_letters(context, 8);
  }
  if (kind == "xdes") {
    constexpr std::int32_t kUsual = 725;
    if (rounds == 0) rounds = kUsual;
    // An even number could reveal weak keys.
    require(rounds >= 1 && rounds <= 0xFFFFFF && rounds % 2 == 1);
    std::string text = "_";
    for (unsigned shift = 0; shift < 24; shift += 6) {
      text += kSaltLetters[static_cast<unsigned>(rounds) >> shift & 0x3FU];
    }
    return text + random_letters(context, 4);
  }
  if (kind == "bf") {
    constexpr std::int32_t kUsual = 6;
    if (rounds == 0) rounds = kUsual;
    require(rounds >= 4 && rounds <= 31);
    return fmt::format("$2a${:02}${}", rounds, bcrypt_salt(context));
  }
  throw SqlError{sqlstate::invalid_parameter_value, "gen_salt: Unknown salt algorithm"};
}

Value gen_salt(FunctionContext& context, Arguments a) {
  const std::string salt = salt_of(context, lower_case(a[0].as_text()), 0);
  return Value::from_text(context.arena.copy(std::string_view{salt}));
}
Value gen_salt_rounds(FunctionContext& context, Arguments a) {
  const std::string salt = salt_of(context, lower_case(a[0].as_text()), a[1].as_int4());
  return Value::from_text(context.arena.copy(std::string_view{salt}));
}

Value gen_random_bytes(FunctionContext& context, Arguments a) {
  const std::int32_t count = a[0].as_int4();
  constexpr std::int32_t kMost = 1024;
  if (count < 1 || count > kMost) throw SqlError{kExternalRoutine, "Length not in range"};
  std::byte* const bytes = context.arena.allocate(static_cast<std::size_t>(count), 1);
  const std::span<std::byte> out{bytes, static_cast<std::size_t>(count)};
  context.session.random_bytes(out);
  return Value::from_bytes(out);
}

/// "aes-cbc/pad:pkcs": a cipher, its mode, and whether the last block is filled up.
struct CipherChoice {
  std::string family;
  bool is_ecb = false;
  bool pads = true;
  std::size_t key_size = 0;  ///< 0: determined by the key
  std::size_t most_key = 0;
};

CipherChoice cipher_named(std::string_view written) {
  const std::string lower = lower_case(written);
  CipherChoice choice;
  std::string_view rest = lower;
  const std::size_t slash = rest.find('/');
  std::string_view options = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  std::string_view name = rest.substr(0, slash);
  while (!options.empty()) {
    const std::size_t end = options.find('/');
    const std::string_view option = options.substr(0, end);
    options = end == std::string_view::npos ? "" : options.substr(end + 1);
    if (!option.starts_with("pad:")) cannot_use(written, "Unknown option");
    const std::string_view pad = option.substr(4);
    if (pad != "pkcs" && pad != "none") cannot_use(written, "No such cipher algorithm");
    choice.pads = pad == "pkcs";
  }
  if (name.ends_with("-ecb")) choice.is_ecb = true;
  if (name.ends_with("-ecb") || name.ends_with("-cbc")) name.remove_suffix(4);
  if (name == "aes" || name.starts_with("aes-") || name == "rijndael") {
    choice.family = "aes";
    choice.most_key = 32;
  } else if (name == "bf" || name == "blowfish") {
    choice.family = "bf";
    choice.most_key = 56;
  } else if (name == "des") {
    choice.family = "des";
    choice.most_key = choice.key_size = 8;
  } else if (name == "3des" || name == "des3") {
    choice.family = "des-ede3";
    choice.most_key = choice.key_size = 24;
  } else if (name == "cast5") {
    choice.family = "cast5";
    choice.most_key = choice.key_size = 16;
  } else {
    cannot_use(written, "No such cipher algorithm");
  }
  if (name.starts_with("aes-")) cannot_use(written, "No such cipher algorithm");
  return choice;
}

struct CipherFree {
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};

enum class Way : std::uint8_t { encrypt, decrypt };

/// `what`: name of the function in errors.
Value run_cipher(FunctionContext& context, Way way, std::string_view what, Bytes data, Bytes key,
                 Bytes iv, std::string_view algorithm) {
  const CipherChoice choice = cipher_named(algorithm);
  std::string padded_key{as_text(key.first(std::min(key.size(), choice.most_key)))};
  std::size_t key_size = choice.key_size;
  if (choice.family == "aes") key_size = key.size() <= 16 ? 16 : (key.size() <= 24 ? 24 : 32);
  if (key_size != 0) padded_key.resize(key_size, '\0');
  std::string name = choice.family;
  if (choice.family == "aes") name += fmt::format("-{}", key_size * 8);
  // DES in ECB with two or three keys has a name without a mode.
  if (choice.family != "des-ede3" || !choice.is_ecb) name += choice.is_ecb ? "-ecb" : "-cbc";
  const auto fail = [&](std::string_view why) {
    throw_error(kExternalRoutine, "{} error: {}", what, why);
  };
  const EVP_CIPHER* const cipher = EVP_get_cipherbyname(name.c_str());
  if (cipher == nullptr) fail("Cipher cannot be initialized");
  const std::unique_ptr<EVP_CIPHER_CTX, CipherFree> state{EVP_CIPHER_CTX_new()};
  const int direction = way == Way::encrypt ? 1 : 0;
  std::array<unsigned char, EVP_MAX_IV_LENGTH> iv_bytes{};
  std::copy_n(raw_bytes(iv), std::min(iv.size(), iv_bytes.size()), iv_bytes.begin());
  bool is_ready = EVP_CipherInit_ex(state.get(), cipher, nullptr, nullptr, nullptr, direction) == 1;
  if (is_ready && key_size == 0) {
    is_ready = EVP_CIPHER_CTX_set_key_length(state.get(), static_cast<int>(padded_key.size())) == 1;
  }
  is_ready =
      is_ready && EVP_CipherInit_ex(state.get(), nullptr, nullptr,
                                    reinterpret_cast<const unsigned char*>(padded_key.data()),
                                    iv_bytes.data(), direction) == 1;
  if (!is_ready) fail("Cipher cannot be initialized");
  EVP_CIPHER_CTX_set_padding(state.get(), choice.pads ? 1 : 0);
  std::vector<unsigned char> out(data.size() + EVP_MAX_BLOCK_LENGTH);
  int first = 0;
  int last = 0;
  const bool is_done = EVP_CipherUpdate(state.get(), out.data(), &first, raw_bytes(data),
                                        static_cast<int>(data.size())) == 1 &&
                       EVP_CipherFinal_ex(state.get(), out.data() + first, &last) == 1;
  explicit_bzero(padded_key.data(), padded_key.size());
  if (!is_done) fail(way == Way::encrypt ? "Encryption failed" : "Decryption failed");
  return bytes_value(context, std::span{out}.first(static_cast<std::size_t>(first) +
                                                   static_cast<std::size_t>(last)));
}

Value encrypt(FunctionContext& context, Arguments a) {
  return run_cipher(context, Way::encrypt, "encrypt", a[0].as_bytes(), a[1].as_bytes(), {},
                    a[2].as_text());
}
Value decrypt(FunctionContext& context, Arguments a) {
  return run_cipher(context, Way::decrypt, "decrypt", a[0].as_bytes(), a[1].as_bytes(), {},
                    a[2].as_text());
}
Value encrypt_iv(FunctionContext& context, Arguments a) {
  return run_cipher(context, Way::encrypt, "encrypt_iv", a[0].as_bytes(), a[1].as_bytes(),
                    a[2].as_bytes(), a[3].as_text());
}
Value decrypt_iv(FunctionContext& context, Arguments a) {
  return run_cipher(context, Way::decrypt, "decrypt_iv", a[0].as_bytes(), a[1].as_bytes(),
                    a[2].as_bytes(), a[3].as_text());
}

/// Throws the error of the OpenPGP functions, which are not supported.
Value refuse_pgp(FunctionContext& /*context*/, Arguments /*a*/) {
  throw SqlError{sqlstate::feature_not_supported,
                 "OpenPGP messages (pgp_… and armor) are not supported"};
}

constexpr ScalarEntry kCryptoFunctions[] = {
    {"digest", &digest},
    {"hmac", &hmac},
    {"crypt", &crypt_password},
    {"gen_salt", &gen_salt},
    {"gen_salt_rounds", &gen_salt_rounds},
    {"gen_random_bytes", &gen_random_bytes},
    {"encrypt", &encrypt},
    {"decrypt", &decrypt},
    {"encrypt_iv", &encrypt_iv},
    {"decrypt_iv", &decrypt_iv},
    {"pgp", &refuse_pgp},
};

constexpr std::string_view kCryptoScript = R"SQL(
CREATE FUNCTION digest(text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'digest' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION digest(bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'digest' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hmac(text, text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'hmac' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hmac(bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'hmac' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION crypt(text, text) RETURNS text
  AS '$libdir/pgcrypto', 'crypt' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gen_salt(text) RETURNS text
  AS '$libdir/pgcrypto', 'gen_salt' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION gen_salt(text, int4) RETURNS text
  AS '$libdir/pgcrypto', 'gen_salt_rounds' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION encrypt(bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'encrypt' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION decrypt(bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'decrypt' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION encrypt_iv(bytea, bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'encrypt_iv' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION decrypt_iv(bytea, bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'decrypt_iv' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gen_random_bytes(int4) RETURNS bytea
  AS '$libdir/pgcrypto', 'gen_random_bytes' LANGUAGE c VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION gen_random_uuid() RETURNS uuid
  AS 'gen_random_uuid' LANGUAGE internal VOLATILE PARALLEL SAFE;
CREATE FUNCTION pgp_sym_encrypt(text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_encrypt(text, text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_encrypt_bytea(bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_encrypt_bytea(bytea, text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_decrypt(bytea, text) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_decrypt(bytea, text, text) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_decrypt_bytea(bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_sym_decrypt_bytea(bytea, text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_encrypt(text, bytea) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_encrypt(text, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_encrypt_bytea(bytea, bytea) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_encrypt_bytea(bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt(bytea, bytea) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt(bytea, bytea, text) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt(bytea, bytea, text, text) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt_bytea(bytea, bytea) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt_bytea(bytea, bytea, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_pub_decrypt_bytea(bytea, bytea, text, text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_key_id(bytea) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION armor(bytea) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION armor(bytea, text[], text[]) RETURNS text
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dearmor(text) RETURNS bytea
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pgp_armor_headers(text, key OUT text, value OUT text) RETURNS SETOF record
  AS '$libdir/pgcrypto', 'pgp' LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE;
)SQL";

}  // namespace

const BundledExtension& pgcrypto_extension() {
  static constexpr BundledExtension kExtension{.name = "pgcrypto",
                                               .version = "1.3",
                                               .comment = "cryptographic functions",
                                               .script = kCryptoScript,
                                               .scalars = kCryptoFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
