// Reference-counted byte buffers that are handed between the stages of a
// pipeline without copying.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

namespace pipeline {

// A counter of owners. All of its operations are relaxed: the counter itself is
// always exact, and that is all that is asked of it.
class OwnerCount {
public:
    explicit OwnerCount(int owners) : owners_(owners) {}

    void add() { owners_.fetch_add(1, std::memory_order_relaxed); }

    // True for the last owner.
    bool drop() { return owners_.fetch_sub(1, std::memory_order_relaxed) == 1; }

    bool unique() const { return owners_.load(std::memory_order_acquire) == 1; }

private:
    std::atomic<int> owners_;
};

class Buffer {
public:
    static Buffer *create(std::size_t size) { return new Buffer(size); }

    void acquire() { owners_.add(); }

    void release()
    {
        if (owners_.drop())
            delete this;
    }

    bool unique() const { return owners_.unique(); }
    unsigned char *data() { return bytes_; }
    std::size_t size() const { return size_; }

private:
    explicit Buffer(std::size_t size) : owners_(1), size_(size), bytes_(new unsigned char[size])
    {
        std::memset(bytes_, 0, size);
    }
    ~Buffer() { delete[] bytes_; }

    OwnerCount owners_;
    std::size_t size_;
    unsigned char *bytes_;
};

// A handle that owns one reference.
class BufferRef {
public:
    BufferRef() = default;
    explicit BufferRef(std::size_t size) : buffer_(Buffer::create(size)) {}
    BufferRef(const BufferRef &other) : buffer_(other.buffer_)
    {
        if (buffer_)
            buffer_->acquire();
    }
    BufferRef(BufferRef &&other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    BufferRef &operator=(BufferRef other) noexcept
    {
        std::swap(buffer_, other.buffer_);
        return *this;
    }
    ~BufferRef()
    {
        if (buffer_)
            buffer_->release();
    }

    unsigned char &operator[](std::size_t at) { return buffer_->data()[at]; }
    std::size_t size() const { return buffer_->size(); }
    bool unique() const { return buffer_->unique(); }

private:
    Buffer *buffer_ = nullptr;
};

} // namespace pipeline
