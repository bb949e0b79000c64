// The judge of the headers against one by brute force, on random histories of queues and
// stacks; and histories that are right or wrong by construction. Arguments: how many
// histories, and the seed.
#define WMFIX_NO_MAIN
#include <wmfix/scenarios.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace {

enum class Kind { queue, stack, for_each_thread };
Kind kind = Kind::queue;
constexpr std::size_t capacity = 3;

// What is specified, with no thread in it.
struct Model {
    std::map<int, std::deque<int>> parts;

    std::size_t size() const
    {
        std::size_t all = 0;
        for (const auto &part : parts)
            all += part.second.size();
        return all;
    }

    bool push(int thread, int value)
    {
        if (size() == capacity)
            return false;
        parts[kind == Kind::for_each_thread ? thread : 0].push_back(value);
        return true;
    }

    std::optional<int> pop(int thread)
    {
        if (size() == 0)
            return {};
        auto own = parts.find(kind == Kind::for_each_thread ? thread : 0);
        if (own == parts.end() || own->second.empty())
            own = std::find_if(parts.begin(), parts.end(), [](const auto &part) { return !part.second.empty(); });
        std::deque<int> &from = own->second;
        int value = kind == Kind::stack ? from.back() : from.front();
        if (kind == Kind::stack)
            from.pop_back();
        else
            from.pop_front();
        return value;
    }
};

WMFIX_OBJECT(Model)
WMFIX_OPERATION(push, any, (Model &m, int v) { return m.push(wmfix::thread(), v); })
WMFIX_OPERATION(pop, any, (Model &m) { return m.pop(wmfix::thread()); })
WMFIX_OPERATION(poll, any, refuses, (Model &m) { return m.pop(wmfix::thread()); })
WMFIX_OPERATION(take, any, strict, (Model &m) { return m.pop(wmfix::thread()); })
WMFIX_OPERATION(size, any, (const Model &m) { return static_cast<int>(m.size()); })
WMFIX_OPERATION(guess, any, unjudged, (const Model &m) { return static_cast<int>(m.size()); })

struct Answer {
    std::string text;
    bool refused;
    bool operator==(const Answer &other) const { return text == other.text && refused == other.refused; }
};

struct Call {
    int thread; // from 1; 0 before and after
    int index;
    std::string name;
    int value;
};

struct History {
    std::vector<Answer> before, after;
    std::vector<std::vector<Answer>> calls;
};

Answer make(Model &model, const Call &call)
{
    if (call.name == "push") {
        bool done = model.push(call.thread, call.value);
        return {done ? "true" : "false", !done};
    }
    if (call.name == "size" || call.name == "guess")
        return {std::to_string(model.size()), false};
    std::optional<int> got = model.pop(call.thread);
    return {got ? std::to_string(*got) : "nothing", !got};
}

Call call_of(const wmfix_step &step, int thread, int index)
{
    return {thread, index, step.operation->name, static_cast<int>(step.arguments[0])};
}

// What the part after gives, by the words of the manual: everything is drained and asked.
std::vector<Answer> drained(Model &model, int calls)
{
    std::vector<Answer> all;
    for (const char *name : {"pop", "poll", "take"})
        for (int i = 0; i <= calls; ++i) {
            all.push_back(make(model, {0, 0, name, 0}));
            if (all.back().refused)
                break;
        }
    all.push_back(make(model, {0, 0, "size", 0}));
    return all;
}

int number_of_calls(const wmfix_scenario &scenario)
{
    int all = scenario.before_count;
    for (int thread = 0; thread < scenario.threads; ++thread)
        all += scenario.counts[thread];
    return all;
}

std::vector<Answer> start(Model &model, const wmfix_scenario &scenario)
{
    std::vector<Answer> all;
    for (int i = 0; i < scenario.before_count; ++i)
        all.push_back(make(model, call_of(scenario.before[i], 0, i)));
    return all;
}

bool is_alone(const Call &call, const Answer &answer)
{
    return answer.refused && call.name != "take" && call.name != "guess";
}

// Every order of these threads' calls: one permutation of the threads' numbers after the
// other, each made from the beginning.
template <class Check> bool any_order(const std::vector<std::vector<Call>> &threads, Check check)
{
    std::vector<std::size_t> order;
    for (std::size_t thread = 0; thread < threads.size(); ++thread)
        order.insert(order.end(), threads[thread].size(), thread);
    do {
        std::vector<std::size_t> next(threads.size(), 0);
        std::vector<Call> calls;
        for (std::size_t thread : order)
            calls.push_back(threads[thread][next[thread]++]);
        if (check(calls))
            return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
}

bool gives(Model &model, const Call &call, const History &history)
{
    Answer there = make(model, call);
    return call.name == "guess" ||
           there == history.calls[static_cast<std::size_t>(call.thread - 1)][static_cast<std::size_t>(call.index)];
}

bool explained(const wmfix_scenario &scenario, const History &history)
{
    std::vector<std::vector<Call>> common(static_cast<std::size_t>(scenario.threads));
    std::vector<Call> alone;
    for (int thread = 0; thread < scenario.threads; ++thread)
        for (int i = 0; i < scenario.counts[thread]; ++i) {
            Call call = call_of(scenario.calls[thread][i], thread + 1, i);
            const Answer &seen = history.calls[static_cast<std::size_t>(thread)][static_cast<std::size_t>(i)];
            if (!is_alone(call, seen))
                common[static_cast<std::size_t>(thread)].push_back(call);
            else if (call.name != "poll")
                alone.push_back(call);
        }
    bool is_common = any_order(common, [&](const std::vector<Call> &calls) {
        Model model;
        return start(model, scenario) == history.before &&
               std::all_of(calls.begin(), calls.end(),
                           [&](const Call &call) { return gives(model, call, history); }) &&
               drained(model, number_of_calls(scenario)) == history.after;
    });
    return is_common && std::all_of(alone.begin(), alone.end(), [&](const Call &refusal) {
        // As many first calls of the other threads as there may be.
        std::vector<std::size_t> taken(common.size(), 0);
        for (;;) {
            std::vector<std::vector<Call>> some(common.size());
            for (std::size_t thread = 0; thread < common.size(); ++thread)
                for (std::size_t i = 0; i < common[thread].size(); ++i)
                    if (static_cast<int>(thread) + 1 == refusal.thread ? common[thread][i].index < refusal.index
                                                                      : i < taken[thread])
                        some[thread].push_back(common[thread][i]);
            bool found = any_order(some, [&](const std::vector<Call> &calls) {
                Model model;
                start(model, scenario);
                return std::all_of(calls.begin(), calls.end(),
                                   [&](const Call &call) { return gives(model, call, history); }) &&
                       make(model, refusal).refused;
            });
            if (found)
                return true;
            std::size_t at = 0;
            while (at < taken.size() && taken[at] == common[at].size())
                taken[at++] = 0;
            if (at == taken.size())
                return false;
            ++taken[at];
        }
    });
}

wmfix_answer answer_of(const wmfix_step *step, const Answer &given)
{
    wmfix_answer answer = {};
    answer.operation = step == nullptr ? nullptr : step->operation;
    if (step != nullptr)
        std::copy(step->arguments, step->arguments + WMFIX_MAX_PARAMETERS, answer.arguments);
    answer.refused = given.refused;
    answer.text = wmfix_copy(given.text.c_str());
    return answer;
}

// The same history as the headers have it.
void convert(const wmfix_scenario &scenario, const History &history, wmfix_outcome &outcome)
{
    std::memset(&outcome, 0, sizeof outcome);
    for (std::size_t i = 0; i < history.before.size(); ++i)
        outcome.before.list[outcome.before.count++] = answer_of(&scenario.before[i], history.before[i]);
    for (std::size_t thread = 0; thread < history.calls.size(); ++thread)
        for (std::size_t i = 0; i < history.calls[thread].size(); ++i)
            outcome.calls[thread][i] = answer_of(&scenario.calls[thread][i], history.calls[thread][i]);
    const wmfix_operation *asked = wmfix_find_operation("pop", 3);
    for (const Answer &answer : history.after) {
        wmfix_answer &to = outcome.after.list[outcome.after.count++];
        to = answer_of(nullptr, answer);
        to.operation = asked;
        if (answer.refused)
            do {
                asked = asked->next;
            } while (!wmfix_asks(asked));
    }
}

wmfix_judgement judged(wmfix_orders &orders, const History &history, std::string *why = nullptr)
{
    wmfix_outcome outcome;
    wmfix_judgement judgement;
    convert(*orders.scenario, history, outcome);
    wmfix_judge(&orders, &outcome, &judgement);
    if (why != nullptr) {
        char *text = wmfix_failure_text(orders.scenario, &outcome, &orders, &judgement);
        *why = text;
        free(text);
    }
    wmfix_free_outcome(&outcome);
    return judgement;
}

typedef std::mt19937 Random;

int below(Random &random, int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); }

wmfix_scenario any_scenario(Random &random)
{
    const char *const names[] = {"push", "push", "pop", "poll", "take", "size", "guess"};
    wmfix_scenario scenario;
    std::memset(&scenario, 0, sizeof scenario);
    scenario.threads = 2 + below(random, 2);
    scenario.before_count = below(random, 4);
    auto choose = [&](wmfix_step &step, int end) {
        const char *name = names[below(random, end)];
        step.operation = wmfix_find_operation(name, strlen(name));
    };
    for (int i = 0; i < scenario.before_count; ++i)
        choose(scenario.before[i], 3);
    for (int thread = 0; thread < scenario.threads; ++thread) {
        scenario.counts[thread] = 1 + below(random, scenario.threads == 2 ? 4 : 3);
        for (int i = 0; i < scenario.counts[thread]; ++i)
            choose(scenario.calls[thread][i], 7);
    }
    wmfix_number_values(&scenario);
    return scenario;
}

// A history of some order, in which a few results may then be others.
History any_history(Random &random, const wmfix_scenario &scenario)
{
    History history;
    Model model;
    history.before = start(model, scenario);
    history.calls.resize(static_cast<std::size_t>(scenario.threads));
    int left = number_of_calls(scenario) - scenario.before_count;
    while (left > 0) {
        int thread = below(random, scenario.threads);
        auto &calls = history.calls[static_cast<std::size_t>(thread)];
        int index = static_cast<int>(calls.size());
        if (index == scenario.counts[thread])
            continue;
        Call call = call_of(scenario.calls[thread][index], thread + 1, index);
        bool refuses = call.name != "size" && call.name != "guess" && below(random, 4) == 0;
        calls.push_back(refuses ? Answer{call.name == "push" ? "false" : "nothing", true} : make(model, call));
        --left;
    }
    history.after = drained(model, number_of_calls(scenario));
    for (int changes = below(random, 3); changes > 0; --changes) {
        auto &calls = history.calls[static_cast<std::size_t>(below(random, scenario.threads))];
        Answer &answer = calls[static_cast<std::size_t>(below(random, static_cast<int>(calls.size())))];
        if (!answer.refused && answer.text != "true")
            answer.text = std::to_string(1 + below(random, 4));
    }
    if (below(random, 8) == 0 && history.after.front().text != "nothing")
        history.after.front().text = std::to_string(1 + below(random, 4));
    return history;
}

int failures = 0;

void same(const std::string &what, bool is, bool should)
{
    if (is == should)
        return;
    std::cout << what << ": is " << is << ", should be " << should << '\n';
    ++failures;
}

std::string words(const wmfix_scenario &scenario, const History &history)
{
    wmfix_outcome outcome;
    wmfix_text text = {nullptr, 0, 0};
    convert(scenario, history, outcome);
    wmfix_append_table(&text, &scenario, &outcome);
    std::string all = text.text;
    free(text.text);
    wmfix_free_outcome(&outcome);
    return all;
}

void by_brute_force(long histories, unsigned seed)
{
    Random random(seed);
    long wrong = 0, made = 0;
    while (made < histories) {
        kind = static_cast<Kind>(below(random, 3));
        wmfix_scenario scenario = any_scenario(random);
        wmfix_orders orders;
        std::memset(&orders, 0, sizeof orders);
        orders.scenario = &scenario;
        for (int i = 0; i < 250 && made < histories; ++i, ++made) {
            History history = any_history(random, scenario);
            bool is = judged(orders, history).verdict == WMFIX_EXPLAINED;
            bool should = explained(scenario, history);
            wrong += !should;
            if (is != should)
                same(words(scenario, history), is, should);
        }
        wmfix_free_orders(&orders);
    }
    std::cout << made << " histories, " << wrong << " of them wrong\n";
}

// Results by thread: `r` alone is a refusal.
void by_construction(Kind of, const char *name, std::vector<Answer> before,
                     std::vector<std::vector<Answer>> calls, std::vector<Answer> after, bool should,
                     const char *why = "")
{
    wmfix_scenario scenario;
    wmfix_orders orders;
    std::string text;
    kind = of;
    std::memset(&orders, 0, sizeof orders);
    if (!wmfix_parse(name, &scenario))
        std::abort();
    orders.scenario = &scenario;
    History history = {before, after, calls};
    bool is = judged(orders, history, &text).verdict == WMFIX_EXPLAINED;
    same(std::string(name) + '\n' + text, is, should);
    if (!is && text.find(why) == std::string::npos) {
        std::cout << "not `" << why << "`:\n" << text;
        ++failures;
    }
    wmfix_free_orders(&orders);
}

const Answer done = {"true", false}, full = {"false", true}, empty = {"nothing", true};
Answer got(int value) { return {std::to_string(value), false}; }
// After everything that is left was taken.
std::vector<Answer> left(std::vector<Answer> values)
{
    for (int i = 0; i < 3; ++i)
        values.push_back(empty);
    values.push_back(got(0));
    return values;
}

void by_hand()
{
    const Kind queue = Kind::queue, stack = Kind::stack, each = Kind::for_each_thread;
    // A ring that always refuses.
    by_construction(queue, "push/pop", {}, {{full}, {empty}}, left({}), false, "nothing explains push(1) = false");
    by_construction(queue, "push/pop", {}, {{done}, {empty}}, left({}), false, "the nearest order, push(1), has pop() = 1 instead of nothing");
    // A push that its own thread does not find.
    by_construction(queue, "push+pop/size", {}, {{done, empty}, {got(0)}}, left({got(1)}), false,
                    "nothing explains pop() = nothing");
    by_construction(queue, "push:push/2pop", {done}, {{done}, {got(1), empty}}, left({got(2)}), true);
    // The same, where another thread may have taken it.
    by_construction(queue, "push+pop/pop", {}, {{done, empty}, {got(1)}}, left({}), true);
    // A ring that refuses both ways is right; one that is full for nobody's sake is not.
    by_construction(queue, "4push/2pop", {}, {{done, done, done, full}, {got(1), empty}},
                    left({got(2), got(3)}), true);
    by_construction(queue, "3push/2pop", {}, {{done, done, full}, {got(1), empty}}, left({got(2)}), false,
                    "nothing explains push(3) = false");
    // A refusal is strict where that is asked for.
    by_construction(queue, "3push+size/2pop", {}, {{done, done, done, got(3)}, {got(1), empty}},
                    left({got(2), got(3)}), true);
    by_construction(queue, "3push+size/pop+take", {}, {{done, done, done, got(3)}, {got(1), empty}},
                    left({got(2), got(3)}), false);
    // A refusal that says nothing.
    by_construction(queue, "push+poll/size", {}, {{done, empty}, {got(0)}}, left({got(1)}), true);
    // Something taken twice, lost, made up, and out of turn.
    by_construction(queue, "push/pop/pop", {}, {{done}, {got(1)}, {got(1)}}, left({}), false, "1 was taken twice");
    by_construction(queue, "push/pop", {}, {{done}, {got(1)}}, left({got(1)}), false, "1 was taken twice");
    by_construction(queue, "push/push", {}, {{done}, {done}}, left({got(2)}), false);
    by_construction(queue, "push/pop", {}, {{done}, {got(7)}}, left({}), false);
    by_construction(queue, "2push/2pop", {}, {{done, done}, {got(2), got(1)}}, left({}), false);
    by_construction(stack, "2push/2pop", {}, {{done, done}, {got(2), got(1)}}, left({}), true);
    // A queue with a queue for each thread: no order of one queue explains it.
    by_construction(each, "push:push/push+pop", {done}, {{done}, {done, got(3)}}, left({got(1), got(2)}), true);
    by_construction(queue, "push:push/push+pop", {done}, {{done}, {done, got(3)}}, left({got(1), got(2)}), false);
}

} // namespace

int main(int count, char **arguments)
{
    wmfix_check_declarations();
    by_hand();
    by_brute_force(count > 1 ? std::atol(arguments[1]) : 1000,
                   count > 2 ? static_cast<unsigned>(std::atol(arguments[2])) : 1);
    std::cout << failures << " differ\n";
    return failures != 0;
}
