-- Greedy and lazy quantifiers together: the whole is as long, or as short, as its first quantifier asks.

select substring('XY1234Z', 'Y*([0-9]{1,3})'), substring('XY1234Z', 'Y*?([0-9]{1,3})');

select regexp_match('abc01234xyz', '(.*)(\d+)(.*)'), regexp_match('abc01234xyz', '(.*?)(\d+)(.*)'), regexp_match('abc01234xyz', '(?:(.*?)(\d+)(.*)){1,1}');

select regexp_match('aabb', 'a*b*?'), regexp_match('aabb', 'a*?b*'), regexp_match('aabb', '(a*?)(b*)$'), regexp_match('aabb', '(?:a*b*){1,1}?'), regexp_match('aabb', '(?:a*b*?){1,1}'), regexp_match('xaabb', 'a+?b+'), regexp_match('xaabb', '(a|ab)+?');

select regexp_replace('foobarbaz', 'b..?', 'X', 'g'), regexp_replace('aaaa', 'a{2,3}?', 'X', 'g'), regexp_replace('aaaa', 'a{2}?', 'X', 'g'), regexp_matches('abcabc', '(a.*?)c', 'g'), regexp_split_to_array('a1b22c', '\d+?'), regexp_match('<b>x</b>', '<.+?>'), regexp_match('<b>x</b>', '<(.+?)>.*<(.+?)>'), regexp_match('<b>x</b>', '<(.+)>.*?<(.+?)>');

select regexp_match('abc01234xyz', '(.*)(\d+?)(.*)'), regexp_match('abc01234xyz', '(?:(.*)(\d+?)){1,1}?(.*)'), regexp_match('xx', 'x{1,1}?'), regexp_match('xx', '(?:x+){1,1}?'), regexp_match('xxyy', '(?:x+){1,1}?y*');

select 'äöü' ~ 'ä+?ö', regexp_match('ääö', 'ä+?'), regexp_match('ääö', '(ä+?)(.*)'), regexp_replace('aXbX', '.*?X', '-'), regexp_replace('aXbX', '.*?X', '-', 'g'), regexp_split_to_array('a,,b', ',+?');

select regexp_match(E'a\nb', 'a.*?$', 'n'), regexp_match(E'ab\nb', '^.+?b', 'n'), regexp_match('ab', '(?:a|ab)(?:c|bcd)*?'), regexp_match('abcd', '(?:a|ab)(?:c|bcd)*?$');

select substring('foobar' from 'o(.)b'), substring('foobar', 'o+?'), substring('foobar', '(?:o+?)(.*)'), substring('<a><b>' from '<(.+?)>');
