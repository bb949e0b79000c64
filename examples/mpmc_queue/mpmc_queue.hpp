// A bounded queue for any number of senders and receivers. As in Dmitry Vyukov's
// queue, each cell carries a ticket that says for whose turn it is ready.
#pragma once

#include "port.hpp"

#include <cstddef>
#include <thread>

template <class T, std::size_t Capacity> class MpmcQueue {
public:
    MpmcQueue()
    {
        for (std::size_t i = 0; i < Capacity; i++)
            port_store_relaxed(cells[i].ticket, i);
    }

    // Waits for room.
    void send(const T &value)
    {
        const std::size_t turn = port_add_relaxed(next_to_send, std::size_t{1});
        Cell &cell = cells[turn % Capacity];
        while (port_load_relaxed(cell.ticket) != turn)
            std::this_thread::yield();
        cell.value = value;
        port_store_relaxed(cell.ticket, turn + 1);
    }

    // Waits for something to receive.
    T receive()
    {
        const std::size_t turn = port_add_relaxed(next_to_receive, std::size_t{1});
        Cell &cell = cells[turn % Capacity];
        while (port_load_relaxed(cell.ticket) != turn + 1)
            std::this_thread::yield();
        T value = cell.value;
        port_store_relaxed(cell.ticket, turn + Capacity);
        return value;
    }

private:
    struct Cell {
        std::atomic<std::size_t> ticket{0};
        T value{};
    };

    Cell cells[Capacity];
    std::atomic<std::size_t> next_to_send{0};
    std::atomic<std::size_t> next_to_receive{0};
};
