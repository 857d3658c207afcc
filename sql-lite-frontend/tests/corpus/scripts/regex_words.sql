-- The beginning and the end of words in regular expressions.
select regexp_replace('foo foobar barfoo', '\mfoo', '<>', 'g'), regexp_replace('foo foobar barfoo', 'foo\M', '<>', 'g');
select regexp_replace('one two  three', '\m\w+', 'X', 'g'), regexp_replace('one two  three', '\w+\M', 'X', 'g');
select regexp_matches('a_b c1 d-e', '\m[a-z_]+\M', 'g');
select 'xfoo' ~ '\mfoo', 'foo x' ~ 'foo\M', 'foox' ~ 'foo\M', 'a.foo' ~ '\mfoo\M', 'foo' ~ 'f\moo', 'foo' ~ 'fo\Mo';
select 'xfoo' ~ '[[:<:]]foo', 'foox' ~ 'foo[[:>:]]', 'foo' ~ '[[:<:]]foo[[:>:]]';
select 'a foo' ~ '\m(foo|bar)\M', 'a xbar' ~ '\m(foo|bar)\M', 'bar' ~ '\m(?:foo|bar)+\M', 'foobarx' ~ '\m(?:foo|bar)+\M';
select 'foos' ~ '\mfoos?\M', 'foosx' ~ '\mfoos?\M', 'foo12' ~ '\mfoo\d*\M', 'foo 12' ~ '\mfoo\d*\M';
select 'xab' ~ '\ma?b', 'ab' ~ '\ma?b', ' b' ~ '\ma{0,1}b', ' aab' ~ '\ma{2}b';
select regexp_split_to_array('foo-bar baz', '\W+\mb'), regexp_count('cat concat cat', '\mcat\M');
select 'say "foo"' ~ '"\mfoo\M"', 'x' ~ '\mx$', 'x' ~ '^\mx\M$', E'a\nfoo' ~ '(?n)^\mfoo';
select regexp_replace('foo bar', '\m', '<', 'g'), regexp_replace(' foo, bar ', '\m', '<', 'g'), regexp_replace('', '\m', '<', 'g');
select regexp_replace('foo bar', '\M', '>', 'g'), regexp_replace(' foo, bar ', '\M', '>', 'g'), regexp_replace(E'a\nb', '\M', '>', 'g');
select regexp_replace('foo bar', '[[:<:]]', '<', 'g'), regexp_replace('foo bar', '[[:>:]]', '>', 'g');
select 'foo' ~ '\m.oo', 'xfoo' ~ '\m.oo', ' oo' ~ '\m.oo', 'x oo' ~ '\m.oo', 'a, oo' ~ '\m.*oo';
select regexp_replace('the quick-brown fox', '\m(.)', '<\1>', 'g'), regexp_replace('the quick-brown fox', '\M(.)', '<\1>', 'g');
select regexp_split_to_array('one, two;three', '\M\W+\m'), regexp_split_to_array('one, two;three', '\M[,;]\s*\m');
select regexp_matches('one, two;three', '\M.', 'g');
select 'a b' ~ ' \m', 'a ' ~ ' \m', 'a b' ~ '\M ', ' b' ~ '\M ', 'a.' ~ '\M$', 'a' ~ '\M$', 'a' ~ '^\m', '.a' ~ '^\m', 'a' ~ '\M\Z', 'a' ~ '\A\m';
select 'a,b' ~ ',\m', 'a,,' ~ ',\m', 'a,b' ~ '\M[,;]', ',b' ~ '\M[,;]', 'a_b' ~ '\M\W', 'a-b' ~ '\M\W', 'a-b' ~ '\W\m';
select 'xy' ~ '\m', ',' ~ '\m', '' ~ '\m', 'xy' ~ '\M', ',' ~ '\M', '' ~ '\M';
select regexp_instr('  ab  cd', '\m', 1, 2), regexp_instr('  ab  cd', '\M', 1, 2), regexp_count('  ab  cd', '\m'), regexp_count('  ab  cd', '\M');
select regexp_count(repeat('ab ', 3000), '\m'), regexp_count(repeat('- ', 3000), '\m.');
select 'a b' ~ '(?x) \m b', 'a b' ~ '(?x) \m  b';
-- differs: refused: \m and \M in the middle, where nothing says what stands beside them
select 'foo' ~ 'fo.\M';
-- differs: refused: \m and \M in the middle, where nothing says what stands beside them
select 'foo' ~ 'x|\m.';
