// Scenarios of a C++ library for `wmfix check`, and for any other test run: declare an
// object and its operations, and small programs are made of them, whose results some
// order of the calls must explain. `wmfix help scenarios` is the manual.
//
// This file has `main`: include it in one file of a program, or define WMFIX_NO_MAIN and
// call wmfix_scenarios_main(argc, argv).
#ifndef WMFIX_SCENARIOS_HPP
#define WMFIX_SCENARIOS_HPP

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "scenarios/main.h"
#include "scenarios/macros.h"

namespace wmfix {

// A parameter whose values meet: there are two of them.
struct key {
    int value;
    operator int() const { return value; }
};

// 0 in the parts before and after, else the number of the calling thread from 1.
inline int thread() { return wmfix_thread_number; }

// What must hold in every run.
inline void expect(bool holds, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    wmfix_expect_at(holds ? 1 : 0, file, line);
}

namespace detail {

template <class T> struct tag {
    static char value;
};
template <class T> char tag<T>::value = 0;

template <class...> struct make_void {
    typedef void type;
};
template <class T, class = void> struct is_streamed : std::false_type {};
template <class T>
struct is_streamed<T, typename make_void<decltype(std::declval<std::ostream &>() << std::declval<const T &>())>::type>
    : std::true_type {};
template <class T, class = void> struct is_optional : std::false_type {};
template <class T>
struct is_optional<T, typename make_void<decltype(std::declval<const T &>().has_value()),
                                         decltype(*std::declval<const T &>())>::type> : std::true_type {};

// Results as text.
template <class T, class = void> struct printer {
    static_assert(is_streamed<T>::value, "a result must be printed with <<: give the operation's type one");
    static void print(std::ostream &to, const T &value) { to << value; }
};
template <> struct printer<bool> {
    static void print(std::ostream &to, bool value) { to << (value ? "true" : "false"); }
};
template <> struct printer<std::string> {
    static void print(std::ostream &to, const std::string &value) { to << '"' << value << '"'; }
};
template <class T> struct printer<T *> {
    static void print(std::ostream &to, const T *value) { to << (value != nullptr ? "not null" : "null"); }
};
template <class T> struct printer<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
    static void print(std::ostream &to, T value)
    {
        to.precision(17);
        to << value;
    }
};
template <class T>
struct printer<T, typename std::enable_if<std::is_enum<T>::value && !is_streamed<T>::value>::type> {
    static void print(std::ostream &to, T value) { to << static_cast<long long>(value); }
};
template <class A, class B> struct printer<std::pair<A, B>> {
    static void print(std::ostream &to, const std::pair<A, B> &value)
    {
        to << '(';
        printer<A>::print(to, value.first);
        to << ", ";
        printer<B>::print(to, value.second);
        to << ')';
    }
};
template <class T> struct printer<T, typename std::enable_if<is_optional<T>::value>::type> {
    static void print(std::ostream &to, const T &value)
    {
        typedef typename std::decay<decltype(*value)>::type held;
        if (value.has_value())
            printer<held>::print(to, *value);
        else
            to << "nothing";
    }
};

// A result whose text is made later: making it may order threads.
template <class T> struct box {
    static void print(const void *from, char *text, size_t size)
    {
        std::ostringstream to;
        printer<T>::print(to, *static_cast<const T *>(from));
        snprintf(text, size, "%s", to.str().c_str());
    }
    static void drop(void *from) { delete static_cast<T *>(from); }
};

template <class T, class = void> struct refusal_of {
    static const bool possible = false;
    static bool is(const T &) { return false; }
};
template <> struct refusal_of<bool> {
    static const bool possible = true;
    static bool is(bool value) { return !value; }
};
template <class T> struct refusal_of<T *> {
    static const bool possible = true;
    static bool is(const T *value) { return value == nullptr; }
};
template <class T> struct refusal_of<T, typename std::enable_if<is_optional<T>::value>::type> {
    static const bool possible = true;
    static bool is(const T &value) { return !value.has_value(); }
};

// A result that is a number, or becomes one.
template <class T, class = void> struct keeper {
    static void keep(T value, wmfix_result &result)
    {
        result.kind = WMFIX_BOXED;
        result.refused = refusal_of<T>::is(value);
        result.box = new T(std::move(value));
        result.print = box<T>::print;
        result.drop = box<T>::drop;
    }
};
template <class T>
struct keeper<T, typename std::enable_if<std::is_integral<T>::value ||
                                         (std::is_enum<T>::value && !is_streamed<T>::value)>::type> {
    static void keep(T value, wmfix_result &result)
    {
        result.kind = std::is_same<T, bool>::value ? WMFIX_TRUTH
                      : std::is_unsigned<T>::value ? WMFIX_UNSIGNED
                                                   : WMFIX_SIGNED;
        result.refused = refusal_of<T>::is(value);
        result.number = static_cast<long long>(value);
    }
};

template <class R> struct caller {
    template <class F> static void call(F &&body, wmfix_result &result)
    {
        keeper<typename std::decay<R>::type>::keep(body(), result);
    }
};
template <> struct caller<void> {
    template <class F> static void call(F &&body, wmfix_result &) { body(); }
};

// Arguments from their numbers.
template <class T, class = void> struct argument {
    static const char kind = 'v';
    static T make(long long number) { return T(static_cast<int>(number)); }
};
template <class T> struct argument<T, typename std::enable_if<std::is_arithmetic<T>::value>::type> {
    static const char kind = 'v';
    static T make(long long number) { return static_cast<T>(number); }
};
template <> struct argument<key> {
    static const char kind = 'k';
    static key make(long long number)
    {
        key made = {static_cast<int>(number)};
        return made;
    }
};
template <> struct argument<std::string> {
    static const char kind = 'v';
    static std::string make(long long number) { return std::to_string(number); }
};

template <size_t... I> struct indices {};
template <size_t N, size_t... I> struct count_to : count_to<N - 1, N - 1, I...> {};
template <size_t... I> struct count_to<0, I...> {
    typedef indices<I...> type;
};

// The parameters of a body after its object, and after what belongs to its thread.
template <class R, class O, class Own, class... A> struct operation_of {
    static const void *own_tag() { return &tag<Own>::value; }
    static const char *parameters()
    {
        static const char kinds[] = {argument<typename std::decay<A>::type>::kind..., '\0'};
        static_assert(sizeof...(A) <= WMFIX_MAX_PARAMETERS, "an operation has too many parameters");
        return kinds;
    }
    template <class F> static void run(F &body, const wmfix_call *call)
    {
        run(body, call, typename count_to<sizeof...(A)>::type());
    }
    template <class F, size_t... I> static void run(F &body, const wmfix_call *call, indices<I...>)
    {
        O &object = *static_cast<O *>(call->object);
        Own &own = *static_cast<Own *>(call->own);
        caller<R>::call(
            [&]() -> R {
                return body(object, own, argument<typename std::decay<A>::type>::make(call->arguments[I])...);
            },
            *call->result);
    }
};
template <class R, class O, class... A> struct operation_of<R, O, void, A...> {
    static const void *own_tag() { return nullptr; }
    static const char *parameters()
    {
        static const char kinds[] = {argument<typename std::decay<A>::type>::kind..., '\0'};
        static_assert(sizeof...(A) <= WMFIX_MAX_PARAMETERS, "an operation has too many parameters");
        return kinds;
    }
    template <class F> static void run(F &body, const wmfix_call *call)
    {
        run(body, call, typename count_to<sizeof...(A)>::type());
    }
    template <class F, size_t... I> static void run(F &body, const wmfix_call *call, indices<I...>)
    {
        O &object = *static_cast<O *>(call->object);
        caller<R>::call(
            [&]() -> R { return body(object, argument<typename std::decay<A>::type>::make(call->arguments[I])...); },
            *call->result);
    }
};

// A second parameter that is a reference to change belongs to the thread.
template <class R, class O, class... A> struct split : operation_of<R, O, void, A...> {};
template <class R, class O, class Own, class... A>
struct split<R, O, Own &, A...>
    : std::conditional<std::is_const<Own>::value, operation_of<R, O, void, Own &, A...>,
                       operation_of<R, O, Own, A...>>::type {};

template <class F> struct body_of : body_of<decltype(&F::operator())> {};
template <class C, class R, class O, class... A> struct body_of<R (C::*)(O &, A...) const> {
    typedef R result;
    typedef typename std::remove_const<O>::type object;
    typedef split<R, object, A...> calls;
};

// The words of an operation.
struct words {
    unsigned flags;
    bool has_refusal;
    long long refused;
    words() : flags(0), has_refusal(false), refused(0) {}
    words with(unsigned more) const
    {
        words all = *this;
        all.flags |= more;
        return all;
    }
    template <class T> words refusal(T value) const
    {
        words all = *this;
        all.has_refusal = true;
        all.refused = static_cast<long long>(value);
        return all;
    }
};

template <class F> struct operation {
    typedef body_of<F> type;
    typedef typename std::decay<typename type::result>::type result;
    wmfix_operation declared;
    F body;
    operation(const char *name, const char *role, const words &given, F given_body)
        : declared(), body(std::move(given_body))
    {
        declared.name = name;
        declared.role = role;
        declared.flags = given.flags;
        declared.has_refusal = given.has_refusal;
        declared.refusal = given.refused;
        declared.can_refuse = given.has_refusal || refuses(std::is_void<result>());
        declared.has_result = !std::is_void<result>::value;
        declared.parameters = type::calls::parameters();
        declared.object_tag = &tag<typename type::object>::value;
        declared.own_tag = type::calls::own_tag();
        declared.run = run;
    }
    static bool refuses(std::true_type) { return false; }
    static bool refuses(std::false_type) { return refusal_of<result>::possible; }
    // `declared` comes first, so that its address is that of the whole.
    static void run(const wmfix_operation *declared, const wmfix_call *call)
    {
        type::calls::run(reinterpret_cast<const operation *>(declared)->body, call);
    }
};

struct registration {
    // Declarations live as long as the program. None is a static object of a function:
    // whether these are made takes locks.
    template <class F> registration(const char *name, const char *role, const words &given, F body)
    {
        wmfix_add_operation(&(new operation<F>(name, role, given, std::move(body)))->declared);
    }
    registration(const char *name, int threads)
    {
        wmfix_role *role = new wmfix_role();
        role->name = name;
        role->threads = threads;
        wmfix_add_role(role);
    }
};

template <class T> struct object_registration {
    object_registration(const char *name, void *(*create)(), void (*destroy)(void *))
    {
        wmfix_object *object = wmfix_object_of(&tag<T>::value);
        object->name = name;
        object->create = create;
        object->destroy = destroy;
    }
};

template <class F> struct maker {
    typedef typename body_of<F>::object object;
    typedef typename std::decay<typename body_of<F>::result>::type made;
    static F *&body()
    {
        static F *kept = nullptr;
        return kept;
    }
    static void *create(void *from) { return new made((*body())(*static_cast<object *>(from))); }
    static void destroy(void *own) { delete static_cast<made *>(own); }
    static void look(void *from, wmfix_result *result)
    {
        caller<typename body_of<F>::result>::call(
            [&]() -> typename body_of<F>::result { return (*body())(*static_cast<object *>(from)); }, *result);
    }
};

struct thread_registration {
    template <class F> explicit thread_registration(F body)
    {
        maker<F>::body() = new F(std::move(body));
        wmfix_object *object = wmfix_object_of(&tag<typename maker<F>::object>::value);
        object->own_tag = &tag<typename maker<F>::made>::value;
        object->create_own = maker<F>::create;
        object->destroy_own = maker<F>::destroy;
    }
};

struct look_registration {
    template <class F> explicit look_registration(F body)
    {
        maker<F>::body() = new F(std::move(body));
        wmfix_object_of(&tag<typename maker<F>::object>::value)->finally = maker<F>::look;
    }
};

} // namespace detail
} // namespace wmfix

#define WMFIX_WORD_strict .with(WMFIX_STRICT)
#define WMFIX_WORD_refuses .with(WMFIX_REFUSES)
#define WMFIX_WORD_waits .with(WMFIX_WAITS)
#define WMFIX_WORD_once .with(WMFIX_ONCE)
#define WMFIX_WORD_unjudged .with(WMFIX_UNJUDGED)
#define WMFIX_WORD_refusal(...) .refusal(__VA_ARGS__)

#define WMFIX_DECLARE_(name, role, words, ...) \
    static const ::wmfix::detail::registration wmfix_operation_##name(#name, #role, words, [] __VA_ARGS__);
#define WMFIX_OPERATION(name, role, ...) WMFIX_WORDS_0_(name, role, ::wmfix::detail::words(), __VA_ARGS__)
#define WMFIX_ROLE(name, threads) static const ::wmfix::detail::registration wmfix_role_##name(#name, threads);
#define WMFIX_OBJECT(...) \
    static const ::wmfix::detail::object_registration<__VA_ARGS__> WMFIX_JOIN_(wmfix_object_, __LINE__)( \
        #__VA_ARGS__, []() -> void * { return new __VA_ARGS__(); }, \
        [](void *made) { delete static_cast<__VA_ARGS__ *>(made); });
#define WMFIX_OBJECT_FROM(type, ...) \
    static const ::wmfix::detail::object_registration<type> WMFIX_JOIN_(wmfix_object_, __LINE__)( \
        #type, []() -> void * { return new type(__VA_ARGS__); }, \
        [](void *made) { delete static_cast<type *>(made); });
#define WMFIX_THREAD(...) \
    static const ::wmfix::detail::thread_registration WMFIX_JOIN_(wmfix_thread_, __LINE__)([] __VA_ARGS__);
#define WMFIX_FINALLY(...) \
    static const ::wmfix::detail::look_registration WMFIX_JOIN_(wmfix_finally_, __LINE__)([] __VA_ARGS__);

#ifndef WMFIX_NO_MAIN
int main(int argc, char **argv) { return wmfix_scenarios_main(argc, argv); }
#endif

#endif
