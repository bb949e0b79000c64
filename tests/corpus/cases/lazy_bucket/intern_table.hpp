// A table of interned numbers: adding is rare, asking is frequent and takes no
// lock. Buckets are made when their first number comes.
#pragma once

#include "lazy.hpp"

#include <cstddef>
#include <cstdint>

namespace intern {

class InternTable {
public:
    // False if there is no room in the bucket.
    bool add(std::uint64_t number)
    {
        const std::size_t index = number % kBuckets;
        Bucket *bucket = buckets_[index].get_or_make([index] { return new Bucket(index); });
        const std::uint64_t stored = number ^ bucket->salt;
        for (std::atomic<std::uint64_t> &cell : bucket->cells) {
            std::uint64_t found = bucket->empty;
            if (cell.compare_exchange_strong(found, stored, std::memory_order_relaxed) ||
                found == stored)
                return true;
        }
        return false;
    }

    bool contains(std::uint64_t number) const
    {
        const Bucket *bucket = buckets_[number % kBuckets].peek();
        if (bucket == nullptr)
            return false;
        const std::uint64_t stored = number ^ bucket->salt;
        for (const std::atomic<std::uint64_t> &cell : bucket->cells) {
            if (cell.load(std::memory_order_relaxed) == stored)
                return true;
        }
        return false;
    }

    std::size_t buckets_in_use() const
    {
        std::size_t count = 0;
        for (const Lazy<Bucket> &bucket : buckets_)
            count += bucket.peek() != nullptr;
        return count;
    }

private:
    static constexpr std::size_t kBuckets = 4;
    static constexpr std::size_t kCells = 4;

    struct Bucket {
        explicit Bucket(std::size_t index) : salt(0x9e3779b97f4a7c15u * (index + 1)), empty(salt)
        {
            for (std::atomic<std::uint64_t> &cell : cells)
                cell.store(empty, std::memory_order_relaxed);
        }

        std::uint64_t salt;  // 0 is not interned: it would look like an empty cell
        std::uint64_t empty;
        std::atomic<std::uint64_t> cells[kCells];
    };

    Lazy<Bucket> buckets_[kBuckets];
};

} // namespace intern
