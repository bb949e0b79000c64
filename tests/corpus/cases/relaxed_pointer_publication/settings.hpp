// Settings that a service reads on every request and an administrator replaces
// now and then. Readers take no lock: they get the snapshot of the moment. Old
// snapshots are kept until the store goes away; they are small and few.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace service {

struct Settings {
    int generation = 0;
    int max_connections = 0;
    int timeout_ms = 0;
    std::string log_prefix;
};

class SettingsStore {
public:
    explicit SettingsStore(Settings initial)
    {
        auto first = std::make_unique<Settings>(std::move(initial));
        current_.store(first.get(), std::memory_order_relaxed);
        snapshots_.push_back(std::move(first));
    }

    SettingsStore(const SettingsStore &) = delete;
    SettingsStore &operator=(const SettingsStore &) = delete;

    // The snapshot of the moment. It stays valid as long as the store.
    const Settings &get() const { return *current_.load(std::memory_order_acquire); }

    // Replaces the settings. Only one thread at a time may do so.
    void replace(Settings settings)
    {
        settings.generation = latest_generation_ + 1;
        auto next = std::make_unique<Settings>(std::move(settings));
        latest_generation_ = next->generation;
        current_.store(next.get(), std::memory_order_relaxed);
        snapshots_.push_back(std::move(next));
    }

    // Applies a function to a copy of the current settings and installs it.
    template <typename Edit>
    void edit(Edit edit)
    {
        Settings copy = *snapshots_.back();
        edit(copy);
        replace(std::move(copy));
    }

private:
    std::atomic<const Settings *> current_{nullptr};
    std::vector<std::unique_ptr<Settings>> snapshots_;
    int latest_generation_ = 0;
};

} // namespace service
