// Readers use the current table while a writer replaces it. A table is wiped
// before it is freed.
#include "hazard.hpp"

#include <cstdio>
#include <thread>

struct Table {
    explicit Table(int value) : first(value), second(value) {}
    ~Table()
    {
        first = -1;
        second = -2;
    }
    int first;
    int second;
};

int main()
{
    reclaim::HazardDomain<Table, 2> domain;
    std::atomic<Table *> current{new Table(0)};
    std::vector<int> wrong(2);

    std::vector<std::thread> readers;
    for (std::size_t me = 0; me < 2; me++) {
        readers.emplace_back([&, me] {
            for (int i = 0; i < 3; i++) {
                const Table *table = domain.protect(me, current);
                if (table->first != table->second)
                    wrong[me]++;
                domain.clear(me);
            }
        });
    }
    for (int i = 1; i <= 3; i++) {
        Table *old = current.exchange(new Table(i), std::memory_order_acq_rel);
        domain.retire(old);
    }
    for (std::thread &reader : readers)
        reader.join();
    delete current.load();
    if (wrong[0] + wrong[1] != 0) {
        std::printf("%d wrong tables\n", wrong[0] + wrong[1]);
        return 1;
    }
    return 0;
}
