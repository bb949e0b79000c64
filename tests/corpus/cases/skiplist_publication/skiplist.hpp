// An ordered set of keys for a memory table: one writer, any number of readers
// without a lock. Keys are never taken out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace memtable {

template <typename Key>
class SkipList {
public:
    static constexpr int kMaxHeight = 4;

    SkipList() : head_(make_node(Key{}, kMaxHeight)) {}

    SkipList(const SkipList &) = delete;
    SkipList &operator=(const SkipList &) = delete;

    // The writer's. The key must not be there yet.
    void insert(const Key &key)
    {
        Node *before[kMaxHeight];
        find(key, before);
        int height = random_height();
        if (height > max_height_.load(std::memory_order_relaxed)) {
            for (int i = max_height_.load(std::memory_order_relaxed); i < height; i++)
                before[i] = head_;
            // Readers that see the new height before the links just fall through.
            max_height_.store(height, std::memory_order_relaxed);
        }
        Node *node = make_node(key, height);
        for (int i = 0; i < height; i++) {
            // Nobody sees the new node yet.
            node->set_next_relaxed(i, before[i]->next_relaxed(i));
            before[i]->set_next_relaxed(i, node);
        }
    }

    bool contains(const Key &key) const
    {
        const Node *node = find(key, nullptr);
        return node != nullptr && node->key == key;
    }

    // Calls a function for each key, in order.
    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (const Node *node = head_->next(0); node != nullptr; node = node->next(0))
            visit(node->key);
    }

private:
    struct Node {
        explicit Node(const Key &k) : key(k) {}

        // For everybody: the node that is found is complete.
        Node *next(int level) const { return links[level].load(std::memory_order_acquire); }
        void set_next(int level, Node *node)
        {
            links[level].store(node, std::memory_order_release);
        }

        // For the writer alone, and for nodes that nobody knows yet.
        Node *next_relaxed(int level) const { return links[level].load(std::memory_order_relaxed); }
        void set_next_relaxed(int level, Node *node)
        {
            links[level].store(node, std::memory_order_relaxed);
        }

        Key key;
        std::atomic<Node *> links[kMaxHeight] = {};
    };

    Node *make_node(const Key &key, int)
    {
        nodes_.push_back(std::make_unique<Node>(key));
        return nodes_.back().get();
    }

    int random_height()
    {
        seed_ = seed_ * 1103515245u + 12345u;
        int height = 1;
        for (std::uint32_t bits = seed_ >> 16; height < kMaxHeight && (bits & 1); bits >>= 1)
            height++;
        return height;
    }

    Node *find(const Key &key, Node **before) const
    {
        Node *node = head_;
        for (int level = max_height_.load(std::memory_order_relaxed) - 1;; level--) {
            for (Node *next = node->next(level); next != nullptr && next->key < key;
                 next = node->next(level))
                node = next;
            if (before != nullptr)
                before[level] = node;
            if (level == 0)
                return node->next(0);
        }
    }

    std::vector<std::unique_ptr<Node>> nodes_;
    Node *head_;
    std::atomic<int> max_height_{1};
    std::uint32_t seed_ = 42;
};

} // namespace memtable
