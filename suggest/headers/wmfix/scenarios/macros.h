/* What WMFIX_OPERATION of C and of C++ have in common: the words between the role and
   the parameters. The parameters begin with a parenthesis, a word does not. */
#ifndef WMFIX_SCENARIOS_MACROS_H
#define WMFIX_SCENARIOS_MACROS_H

#define WMFIX_JOIN_(a, b) WMFIX_JOIN_2_(a, b)
#define WMFIX_JOIN_2_(a, b) a##b
#define WMFIX_FIRST_(...) WMFIX_FIRST_2_(__VA_ARGS__, ~)
#define WMFIX_FIRST_2_(first, ...) first
#define WMFIX_SECOND_(...) WMFIX_SECOND_2_(__VA_ARGS__, ~, ~)
#define WMFIX_SECOND_2_(first, second, ...) second
#define WMFIX_REST_(first, ...) __VA_ARGS__

/* WORD if the first of the arguments is a word, else BODY. */
#define WMFIX_IS_(...) 1,
#define WMFIX_KIND_1 ~, BODY
#define WMFIX_KIND_WMFIX_IS_ ~, WORD,
#define WMFIX_KIND_(...) WMFIX_SECOND_(WMFIX_JOIN_(WMFIX_KIND_, WMFIX_FIRST_(WMFIX_IS_ __VA_ARGS__)))

/* WMFIX_DECLARE_(name, role, words, body…) with each word as WMFIX_WORD_<word>. */
#define WMFIX_WORDS_0_(name, role, words, ...) \
    WMFIX_JOIN_(WMFIX_WORDS_0_, WMFIX_KIND_(__VA_ARGS__))(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_0_BODY(name, role, words, ...) WMFIX_DECLARE_(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_0_WORD(name, role, words, word, ...) \
    WMFIX_WORDS_1_(name, role, words WMFIX_WORD_##word, __VA_ARGS__)
#define WMFIX_WORDS_1_(name, role, words, ...) \
    WMFIX_JOIN_(WMFIX_WORDS_1_, WMFIX_KIND_(__VA_ARGS__))(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_1_BODY(name, role, words, ...) WMFIX_DECLARE_(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_1_WORD(name, role, words, word, ...) \
    WMFIX_WORDS_2_(name, role, words WMFIX_WORD_##word, __VA_ARGS__)
#define WMFIX_WORDS_2_(name, role, words, ...) \
    WMFIX_JOIN_(WMFIX_WORDS_2_, WMFIX_KIND_(__VA_ARGS__))(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_2_BODY(name, role, words, ...) WMFIX_DECLARE_(name, role, words, __VA_ARGS__)
#define WMFIX_WORDS_2_WORD(name, role, words, word, ...) \
    WMFIX_DECLARE_(name, role, words WMFIX_WORD_##word, __VA_ARGS__)

#endif
