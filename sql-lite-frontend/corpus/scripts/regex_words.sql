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
-- differs: refused: \m and \M beside what need not be a letter
select regexp_replace('foo bar', '\m', '<', 'g');
-- differs: refused: \m and \M beside what need not be a letter
select regexp_replace('foo bar', '\M', '>', 'g');
-- differs: refused: \m and \M beside what need not be a letter
select 'foo' ~ '\m.oo', 'foo' ~ 'fo.\M';
