// Elements in memory that the other process can use in place.
#pragma once

#include <obvia.hpp>

template <class Word> class shared_words {
public:
    explicit shared_words(std::size_t count) : count_(count)
    {
        void *memory = nullptr;
        obvia::check(obvia_share(count * sizeof(Word), OBVIA_WRITE, &memory));
        first_ = static_cast<Word *>(memory);
    }
    ~shared_words() { obvia_unshare(first_); }
    shared_words(const shared_words &) = delete;
    shared_words &operator=(const shared_words &) = delete;

    Word *data() const { return first_; }
    std::size_t size() const { return count_; }

private:
    Word *first_ = nullptr;
    std::size_t count_;
};
