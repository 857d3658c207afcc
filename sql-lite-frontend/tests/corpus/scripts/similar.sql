-- SUBSTRING … SIMILAR … ESCAPE, and SIMILAR TO.

select substring('abcdefg' similar 'a#"(b_d)#"%' escape '#');

select substring('abcdefg' similar '#"(b_d)#"%' escape '#');

select substring('abcdefg' similar '%' escape null), substring('Thomas' from '%#"o_a#"_' for '#'), substring('Thomas', '%#"o_a#"_', '#');

-- differs: the error's context
select substring('abcdefg' similar 'a#"%#"g#"x' escape '#');

select substring('abcdefg' similar 'a#"%g' escape '#'), substring('abcdefg' similar 'a%g' escape '#'), substring('abcdefg' similar 'a|b#"%#"g' escape '#');

select substring('abcdefg' similar '#"a*#"%' escape '#'), substring('aabbc' similar 'a*#"%#"c' escape '#'), substring('foobar' similar '%#"(o|b)+#"%' escape '#');

select 'abc' similar to 'a|abc', 'abc' similar to 'a_c' escape '\', 'abc' similar to '(a|x)%', 'a_c' similar to 'a#_c' escape '#', 'abc' similar to 'a[b-z]{1,1}c', regexp_match('abc', 'x'), 'abc' similar to null, similar_to_escape('a%'), similar_to_escape('a#%', '#'), similar_escape('a%', null);

-- differs: the error's context
select substring('abc' similar 'a' escape '##');
