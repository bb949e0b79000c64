// Hazard pointers: a reader announces which object it is about to use, and a
// writer that has taken an object out of the structure frees it only when nobody
// has announced it.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace reclaim {

template <typename T, std::size_t Readers>
class HazardDomain {
public:
    ~HazardDomain()
    {
        for (T *object : retired_)
            delete object;
    }

    // Announces the object that the source points to, and returns it. It stays
    // alive until clear().
    T *protect(std::size_t reader, const std::atomic<T *> &source)
    {
        T *object = source.load(std::memory_order_relaxed);
        for (;;) {
            hazards_[reader].pointer.store(object, std::memory_order_release);
            T *again = source.load(std::memory_order_acquire);
            if (again == object)
                return object;
            object = again;
        }
    }

    void clear(std::size_t reader)
    {
        hazards_[reader].pointer.store(nullptr, std::memory_order_release);
    }

    // One writer at a time: the object is out of the structure.
    void retire(T *object)
    {
        retired_.push_back(object);
        scan();
    }

    std::size_t waiting() const { return retired_.size(); }

private:
    struct alignas(64) Hazard {
        std::atomic<T *> pointer{nullptr};
    };

    bool announced(const T *object) const
    {
        for (const Hazard &hazard : hazards_) {
            if (hazard.pointer.load(std::memory_order_acquire) == object)
                return true;
        }
        return false;
    }

    void scan()
    {
        std::vector<T *> kept;
        for (T *object : retired_) {
            if (announced(object))
                kept.push_back(object);
            else
                delete object;
        }
        retired_.swap(kept);
    }

    Hazard hazards_[Readers];
    std::vector<T *> retired_;
};

} // namespace reclaim
