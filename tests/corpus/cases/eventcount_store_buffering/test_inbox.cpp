// Everything that is put in is taken out, in order, and the worker does not
// sleep through an item.
#include "inbox.hpp"

#include <cassert>

int main()
{
    const int items = 5;
    work::Inbox<int, 8> inbox;

    std::thread worker([&inbox] {
        for (int i = 0; i < items; i++) {
            int item = inbox.take();
            assert(item == i);
            (void)item;
        }
    });
    for (int i = 0; i < items; i++)
        inbox.put(i);
    worker.join();
    return 0;
}
