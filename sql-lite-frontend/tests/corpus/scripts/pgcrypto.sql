-- oracle: 15
-- pgcrypto's functions.
CREATE EXTENSION pgcrypto;
SELECT digest('abc', 'md5'), digest('abc', 'SHA1'), digest('', 'sha224'), digest('abc'::bytea, 'sha256');
SELECT digest('abc', 'sha384'), digest('abc', 'sha512');
SELECT digest('abc', 'foo');
SELECT digest(NULL, 'md5'), digest('a', NULL);
SELECT hmac('data', 'key', 'md5'), hmac('data'::bytea, 'key'::bytea, 'sha256'), hmac('', '', 'sha1'), hmac('data', repeat('k', 200), 'sha512');
SELECT hmac('data', 'key', 'foo');
SELECT crypt('pw', '$2a$06$abcdefghijklmnopqrstuu'), crypt('pw', 'ab'), crypt('pw', '_J9..rasm'), crypt('pw', '$1$abc');
SELECT crypt('', 'ab'), crypt('é', '$1$salt'), crypt(NULL, 'ab');
SELECT crypt('pw', '$2a$06$abc');
SELECT crypt('a', 'b');
-- What is no method of pgcrypto's is a salt of DES.
SELECT crypt('pw', '$5$rounds=999999999$abcdefgh'), crypt('pw', '$6$abcdefgh'), crypt('pw', '$y$j9T$F5Jx5fExrKuPp53xLKQ..1');
SELECT crypt('pw', '$2b$04$abcdefghijklmnopqrstuu'), crypt('pw', '$2x$04$abcdefghijklmnopqrstuu'), crypt('pw', 'é$'), crypt('pw', '$3$$abc');
SELECT crypt('pw', '$2a$03$abcdefghijklmnopqrstuu');
SELECT crypt('pw', '$2a$32$abcdefghijklmnopqrstuu');
SELECT crypt('pw', '_abc');
SET statement_timeout = 200;
-- differs: refused: bcrypt of a cost that could not be canceled
SELECT crypt('pw', '$2a$31$abcdefghijklmnopqrstuu');
RESET statement_timeout;
SELECT hash = crypt('secret', hash), hash = crypt('other', hash) FROM (SELECT crypt('secret', gen_salt('bf', 4)) AS hash) s;
SELECT hash = crypt('secret', hash) FROM unnest(ARRAY[crypt('secret', gen_salt('md5')), crypt('secret', gen_salt('des')), crypt('secret', gen_salt('xdes')), crypt('secret', gen_salt('xdes', 7))]) hash;
SELECT length(gen_salt('bf')), substr(gen_salt('bf'), 1, 7), substr(gen_salt('bf', 10), 1, 7), substr(gen_salt('md5'), 1, 3), length(gen_salt('md5')), substr(gen_salt('xdes'), 1, 5), length(gen_salt('des')), gen_salt('bf') = gen_salt('bf');
SELECT gen_salt('foo');
SELECT gen_salt('bf', 3);
SELECT gen_salt('bf', 32);
SELECT gen_salt('md5', 5);
SELECT gen_salt('xdes', 2);
SELECT gen_salt('des', 3);
SELECT length(gen_random_bytes(16)), gen_random_bytes(16) = gen_random_bytes(16);
SELECT gen_random_bytes(0);
SELECT gen_random_bytes(1025);
SELECT length(gen_random_uuid()::text);
SELECT encrypt('abc', 'key', 'aes'), encrypt('', 'k', 'aes'), encrypt('abc', ''::bytea, 'aes'), encrypt('abc', repeat('k', 40)::bytea, 'aes');
SELECT encrypt('abcdefghabcdefgh', 'key', 'aes-ecb'), encrypt('abcdefghabcdefgh', 'key', 'aes-cbc'), encrypt('abcdefghabcdefgh', 'key', 'aes-ecb/pad:none');
SELECT encrypt('abc', repeat('k', 20)::bytea, 'aes'), encrypt('abc', repeat('k', 32)::bytea, 'AES');
SELECT encrypt('abc', 'key', '3des'), decrypt(encrypt('abc', 'key', '3des'), 'key', '3des'), encrypt('abcdefgh', 'key', '3des-ecb/pad:none');
SELECT encrypt('abc', 'key', 'foo');
SELECT encrypt('abc', 'key', 'aes-ecb/pad:none');
SELECT encrypt('abc', 'key', 'aes/foo:bar');
SELECT encrypt('abc', 'key', 'aes/pad:foo');
SELECT encrypt('abc', 'key', 'aes-foo');
SELECT encrypt('abc', 'key', 'bf');
SELECT decrypt(encrypt('abc', 'key', 'aes'), 'key', 'aes'), decrypt(encrypt('abc', 'key', 'aes-ecb'), 'key', 'aes-ecb');
SELECT decrypt('abc', 'key', 'aes');
SELECT decrypt('0123456789abcdef', 'key', 'aes');
SELECT encrypt_iv('abc', 'key', 'iv', 'aes'), decrypt_iv(encrypt_iv('abc', 'key', 'iv', 'aes'), 'key', 'iv', 'aes');
SELECT decrypt_iv('0123456789abcdef', 'key', 'iv', 'aes');
CREATE TABLE users (name text PRIMARY KEY, hash text);
INSERT INTO users VALUES ('a', crypt('secret', '$2a$04$abcdefghijklmnopqrstuu'));
SELECT name FROM users WHERE hash = crypt('secret', hash);
PREPARE login(text, text) AS SELECT name FROM users WHERE name = $1 AND hash = crypt($2, hash);
EXECUTE login('a', 'secret');
EXECUTE login('a', 'wrong');
-- differs: refused: OpenPGP messages
SELECT pgp_sym_decrypt(pgp_sym_encrypt('x', 'key'), 'key');
