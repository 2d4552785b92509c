// Two interfaces with one IID. The program has to end before main(), which would call a method of
// one interface by the declaration of the other interface.
#include "meaning.h"
#include "meaning_later.h"

#include <obvia.hpp>

#include <cstdio>

namespace {

class Object final : public obvia::implements<Object, IMeaning> {
public:
    HRESULT First(int32_t *number) override
    {
        *number = 1;
        return S_OK;
    }
};

} // namespace

int main()
{
    int32_t number = 0;
    obvia::make<Object>().as<IMeaningLater>()->Before(2);
    obvia::make<Object>()->First(&number);
    std::puts("the methods of one were called by the other's");
    return 0;
}
