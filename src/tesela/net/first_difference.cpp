#include "tesela/net/first_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tesela::net {
namespace {

/// Steps are counted from 1: this asks what is remembered at all.
constexpr std::uint64_t no_step = 0;

constexpr std::uint32_t knows_topic = 1;
constexpr std::uint32_t knows_trail = 2;

/// A text and how it may be otherwise, in the place for one.
constexpr char between_texts = '\n';

Recalled recalled_of(const Notice& notice) {
    const std::string texts = notice.text.data();
    const std::size_t cut = std::min(texts.find(between_texts), texts.size());
    Recalled recalled{.oldest = notice.round,
                      .newest = static_cast<std::uint64_t>(notice.value),
                      .text = texts.substr(0, cut),
                      .otherwise = texts.substr(std::min(cut + 1, texts.size()))};
    if ((notice.detail & knows_trail) != 0) recalled.trail = notice.trail;
    return recalled;
}

}  // namespace

bool FirstDifference::find(Case what) {
    {
        const std::lock_guard lock(mutex_);
        if (case_) return false;
        case_ = std::move(what);
        std::sort(case_->nodes.begin(), case_->nodes.end());
    }
    ask(no_step);
    return true;
}

void FirstDifference::hear(int from, const Notice& notice) {
    if (static_cast<Kind>(notice.kind) == Kind::ask)
        answer(from, notice);
    else
        hear_answer(from, notice);
}

void FirstDifference::answer(int from, const Notice& notice) const {
    Notice told{.kind = static_cast<std::uint32_t>(Kind::told), .topic = notice.topic, .position = notice.position};
    if (const std::optional<Recalled> recalled = hooks_.recall(notice.topic, notice.position)) {
        told.detail = knows_topic | (recalled->trail ? knows_trail : 0U);
        told.round = recalled->oldest;
        told.trail = recalled->trail.value_or(0);
        told.value = static_cast<std::int64_t>(recalled->newest);
        told.set_text(recalled->text + between_texts + recalled->otherwise);
    }
    hooks_.send(from, told);
}

void FirstDifference::ask(std::uint64_t step) {
    Notice question{.kind = static_cast<std::uint32_t>(Kind::ask), .position = step};
    std::array<int, 2> nodes{};
    {
        const std::lock_guard lock(mutex_);
        asked_ = step;
        answers_ = {};
        question.topic = case_->topic;
        nodes = case_->nodes;
    }
    for (const int node : nodes) hooks_.send(node, question);
}

void FirstDifference::hear_answer(int from, const Notice& notice) {
    Next next;
    {
        const std::lock_guard lock(mutex_);
        if (!case_ || found_ || notice.topic != case_->topic || notice.position != asked_) return;
        const std::size_t of = from == case_->nodes[0] ? 0 : 1;
        if ((notice.detail & knows_topic) == 0)
            next.line = case_->why;
        else
            answers_[of] = recalled_of(notice);
        if (next.line.empty() && (!answers_[0] || !answers_[1])) return;
        if (next.line.empty()) next = decide();
        found_ = !next.step;
    }
    if (next.step) return ask(*next.step);
    hooks_.found(next.line);
}

FirstDifference::Next FirstDifference::decide() {
    const auto& [a, b] = answers_;
    if (asked_ == no_step) {
        oldest_ = std::max(a->oldest, b->oldest);
        newest_ = std::min(a->newest, b->newest);
        if (newest_ < oldest_) return {.line = forgotten()};
        if (oldest_ == no_step) same_ = no_step;
        return {.step = std::max(newest_, std::uint64_t{1})};
    }
    if (a->trail && b->trail) {
        (a->trail == b->trail ? same_ : other_) = asked_;
        return next_step();
    }
    // One of them has made the step after the last of the other.
    const bool goes_on = (a->trail || b->trail) && same_ == newest_ && asked_ == newest_ + 1;
    return {.line = goes_on ? difference() : case_->why};
}

FirstDifference::Next FirstDifference::next_step() const {
    if (!other_) return {.step = *same_ + 1};
    if (same_ && *other_ == *same_ + 1) return asked_ == *other_ ? Next{.line = difference()} : Next{.step = other_};
    if (same_) return {.step = *same_ + (*other_ - *same_) / 2};
    if (*other_ == oldest_) return {.line = forgotten()};
    return {.step = oldest_};
}

std::string FirstDifference::difference() const {
    const auto& [a, b] = answers_;
    const auto& [first, second] = case_->nodes;
    const std::string theirs = a->text == b->text ? fmt::format("does so {}", b->otherwise) : b->text;
    return fmt::format("step {} of {}: node {} {}, node {} {}: {}", asked_, case_->name, first, a->text, second, theirs,
                       rule_for_nodes);
}

std::string FirstDifference::forgotten() const {
    return fmt::format("{}. The first step that differs is one of the first {} of {}, which are not remembered",
                       case_->why, oldest_, case_->name);
}

}  // namespace tesela::net
