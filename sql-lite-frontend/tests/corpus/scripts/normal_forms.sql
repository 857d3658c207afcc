-- Unicode's normal forms, in SQL's own syntax.
select normalize(U&'e\0301') = U&'\00E9', normalize(U&'\00E9', NFD) = U&'e\0301', normalize(U&'\FB01', NFKC), normalize(U&'\FB01', NFC) = U&'\FB01';
select U&'\00E9' is normalized, U&'e\0301' is normalized, U&'e\0301' is nfd normalized, U&'\FB01' is nfkc normalized, U&'\FB01' is not nfkd normalized;
select normalize(null), null is normalized, normalize('abc'::varchar(2), nfc), pg_typeof(normalize('a'));
select "normalize"('abc', 'def');
select is_normalized('abc', 'def');
create table words (w text check (w is nfc normalized));
insert into words values (U&'\00E9');
insert into words values (U&'e\0301');
create index on words (normalize(w, nfkc));
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'words'::regclass;
select pg_get_indexdef('words_normalize_idx'::regclass);
create view forms as select normalize(w) as a, normalize(w, nfkd) as b, w is normalized as c, w is nfkc normalized as is_normal from words;
-- differs: a default of a function's argument is shown
select pg_get_viewdef('forms');
select unicode_assigned('abc'), unicode_assigned(U&'\0378');
select unicode_assigned(null), unicode_version() is not null, icu_unicode_version() is not null;
