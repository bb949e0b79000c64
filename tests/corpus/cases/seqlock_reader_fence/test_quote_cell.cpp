// A quote is always one that was written: ask and bid differ by the time.
#include "quote_cell.hpp"

#include <cstdio>
#include <thread>
#include <vector>

int main()
{
    market::QuoteCell cell;
    std::vector<int> torn(2);

    std::thread feed([&cell] {
        for (int i = 1; i <= 4; i++) {
            market::Quote quote;
            quote.bid = 100 * i;
            quote.ask = 100 * i + i;
            quote.time = i;
            cell.write(quote);
        }
    });
    std::vector<std::thread> strategies;
    for (int me = 0; me < 2; me++) {
        strategies.emplace_back([&cell, &mine = torn[me]] {
            for (int i = 0; i < 4; i++) {
                market::Quote quote;
                if (cell.try_read(quote) && quote.ask - quote.bid != quote.time)
                    mine++;
            }
        });
    }
    feed.join();
    for (std::thread &strategy : strategies)
        strategy.join();
    if (torn[0] + torn[1] != 0) {
        std::printf("%d torn quotes\n", torn[0] + torn[1]);
        return 1;
    }
    return 0;
}
