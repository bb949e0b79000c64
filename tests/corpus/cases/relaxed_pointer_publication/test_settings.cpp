// Readers look at the settings while they are replaced: a snapshot is always
// consistent in itself, and generations never go back.
#include "settings.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main()
{
    service::Settings initial;
    initial.max_connections = 10;
    initial.timeout_ms = 100;
    service::SettingsStore store(initial);
    std::vector<int> wrong(2);

    std::vector<std::thread> readers;
    for (int me = 0; me < 2; me++) {
        readers.emplace_back([&store, &wrong, me] {
            int seen = 0;
            for (int i = 0; i < 6; i++) {
                const service::Settings &settings = store.get();
                if (settings.timeout_ms != settings.max_connections * 10)
                    wrong[me]++;
                if (settings.generation < seen)
                    wrong[me]++;
                seen = settings.generation;
            }
        });
    }
    for (int i = 2; i < 5; i++) {
        store.edit([i](service::Settings &settings) {
            settings.max_connections = 10 * i;
            settings.timeout_ms = 100 * i;
        });
    }
    for (std::thread &reader : readers)
        reader.join();

    if (wrong[0] + wrong[1] != 0) {
        std::printf("%d wrong snapshots\n", wrong[0] + wrong[1]);
        return 1;
    }
    return 0;
}
