// Two flags without orders, set by two calls and read by two: what the second call reads
// says nothing of what the first one wrote. With LOG, each call is followed by what a log
// behind a lock does, which orders the calls and so hides that.
#include <wmfix/scenarios.hpp>

#include <atomic>
#include <mutex>

struct Flags {
    std::atomic<int> first{0}, second{0};
};

static void log_it()
{
#ifdef LOG
    static std::mutex lock;
    std::lock_guard<std::mutex> guard(lock);
#endif
}

template <class Call> static int logged(Call call)
{
    log_it();
    int result = call();
    log_it();
    return result;
}

WMFIX_OBJECT(Flags)
WMFIX_ROLE(writer, 1)
WMFIX_ROLE(reader, 1)
WMFIX_OPERATION(set_first, writer, (Flags &f) {
    logged([&] { return f.first.store(1, std::memory_order_relaxed), 0; });
})
WMFIX_OPERATION(set_second, writer, (Flags &f) {
    logged([&] { return f.second.store(1, std::memory_order_relaxed), 0; });
})
WMFIX_OPERATION(get_second, reader, (Flags &f) {
    return logged([&] { return f.second.load(std::memory_order_relaxed); });
})
WMFIX_OPERATION(get_first, reader, (Flags &f) {
    return logged([&] { return f.first.load(std::memory_order_relaxed); });
})
