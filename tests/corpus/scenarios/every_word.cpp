// Everything that a scenario file of C++11 can say.
#include <wmfix/scenarios.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>

enum class status { inserted, replaced, full };

struct point {
    int x, y;
};
static std::ostream &operator<<(std::ostream &to, const point &from) { return to << from.x << '/' << from.y; }

class Map {
    std::mutex lock;
    std::map<int, int> values;
    std::size_t most;

public:
    explicit Map(std::size_t size, bool) : most(size) {}

    status insert(int key, int value)
    {
        std::lock_guard<std::mutex> guard(lock);
        if (values.count(key) == 0 && values.size() == most)
            return status::full;
        return values.insert(std::make_pair(key, value)).second ? status::inserted : status::replaced;
    }

    std::pair<bool, int> find(int key)
    {
        std::lock_guard<std::mutex> guard(lock);
        auto found = values.find(key);
        return found == values.end() ? std::make_pair(false, 0) : std::make_pair(true, found->second);
    }

    std::size_t size() const { return values.size(); }
};

// What a thread needs to use the map.
struct Guest {
    Map *map;
    int visits;
    ~Guest() { wmfix::expect(visits <= 4); }
};

class Semaphore {
    std::mutex lock;
    std::condition_variable changed;
    int count = 0;

public:
    void release()
    {
        std::lock_guard<std::mutex> guard(lock);
        ++count;
        changed.notify_one();
    }

    void acquire()
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [this] { return count > 0; });
        --count;
    }
};

WMFIX_OBJECT_FROM(Map, 1, true)
WMFIX_THREAD((Map &m) {
    Guest guest = {&m, 0};
    return guest;
})
WMFIX_OBJECT(Semaphore)
WMFIX_ROLE(keeper, 1)
WMFIX_OPERATION(insert, any, refusal(status::full), (Map &m, wmfix::key k, int v) { return m.insert(k, v); })
WMFIX_OPERATION(find, any, strict, (Map &, Guest &guest, wmfix::key k) {
    ++guest.visits;
    return guest.map->find(k);
})
WMFIX_OPERATION(release, keeper, (Semaphore &s) { s.release(); })
WMFIX_OPERATION(acquire, any, waits, (Semaphore &s) {
    s.acquire();
    return wmfix::thread() > 0;
})
WMFIX_OPERATION(name, any, once, unjudged, (const Map &) -> std::string { return "a, map"; })
WMFIX_OPERATION(place, any, refuses, (const Map &, int x) {
    point at = {x, 0};
    return at;
})
WMFIX_FINALLY((Map &m) {
    wmfix::expect(m.size() <= 1);
    return m.size();
})
