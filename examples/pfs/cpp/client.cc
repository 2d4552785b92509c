// A client of a tree that another process serves: pfs-client NAME ls|cat|put ...
#include "pfs.h"
#include <obvia.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

// A client of a tree, with its own file numbers and handles.
class Client {
public:
    explicit Client(const std::string &name) : pfs_(obvia::connect<IPfs>(name)) { obvia::check(pfs_->pfs_attach(&number_)); }
    // Errors are ignored: a server that has ended has no clients any more.
    ~Client() { pfs_->pfs_detach(number_); }

    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;

    // Returns the number of a path from the root.
    int32_t walk(const std::string &path)
    {
        int32_t fobj = 0;
        for (std::size_t at = 0, end; at < path.size(); at = end + 1) {
            end = std::min(path.find('/', at), path.size());
            if (end > at) {
                fobj = lookup(fobj, path.substr(at, end - at));
            }
        }
        return fobj;
    }

    // Calls `entry` with the kind and the name of each entry of a directory.
    template <class Each> void list(const std::string &path, Each entry)
    {
        const Handle handle(*this, walk(path), PFS_READ);
        std::vector<PFS_ENTRY> part(256);
        int64_t pos = 0;
        for (uint32_t got = 1; got != 0;) {
            obvia::check(pfs_->pfs_get_direntries(handle.number, &pos, static_cast<uint32_t>(part.size()), part.data(), &got));
            for (const PFS_ENTRY &found : obvia::span<PFS_ENTRY>(part).first(got)) {
                entry(found.kind, std::string(reinterpret_cast<const char *>(found.name), std::min(found.length, PFS_NAME_MAX)));
            }
        }
    }

    // Copies a file of the tree to a stream.
    void read(const std::string &path, std::ostream &to)
    {
        const Handle handle(*this, walk(path), PFS_READ);
        std::vector<uint8_t> part(PFS_TRANSFER_MAX / 4);
        int64_t pos = 0;
        for (uint32_t got = 1; got != 0 && to;) {
            obvia::check(pfs_->pfs_read(handle.number, &pos, static_cast<uint32_t>(part.size()), part.data(), &got));
            to.write(reinterpret_cast<const char *>(part.data()), got);
        }
    }

    // Creates or replaces a file of the tree.
    void write(const std::string &path, std::istream &from)
    {
        const std::size_t slash = path.rfind('/');
        const std::string name = path.substr(slash + 1);
        const int32_t directory = slash == std::string::npos ? 0 : walk(path.substr(0, slash));
        int32_t fobj = 0;
        if (pfs_->pfs_lookup(number_, directory, length(name), bytes(name), &fobj) < 0) {
            obvia::check(pfs_->pfs_create(number_, directory, length(name), bytes(name), PFS_FILE, 0644, &fobj));
        }
        const Handle handle(*this, fobj, PFS_WRITE | PFS_TRUNCATE);
        std::vector<char> part(PFS_TRANSFER_MAX / 4);
        int64_t pos = 0;
        while (from.read(part.data(), static_cast<std::streamsize>(part.size())), from.gcount() > 0) {
            const auto *data = reinterpret_cast<const uint8_t *>(part.data());
            obvia::check(pfs_->pfs_write(handle.number, &pos, static_cast<uint32_t>(from.gcount()), data));
        }
        if (from.bad()) {
            throw obvia::error(E_FAIL, "the file could not be read to its end");
        }
    }

private:
    // An open file. The destructor closes it.
    struct Handle {
        Handle(Client &owner, int32_t fobj, int32_t flags) : client(owner)
        {
            obvia::check(client.pfs_->pfs_open(client.number_, fobj, flags, 0, &number));
        }
        ~Handle() { client.pfs_->pfs_close(number); }
        Handle(const Handle &) = delete;
        Handle &operator=(const Handle &) = delete;

        Client &client;
        int32_t number = 0;
    };

    static const uint8_t *bytes(const std::string &name) { return reinterpret_cast<const uint8_t *>(name.data()); }
    static uint32_t length(const std::string &name) { return static_cast<uint32_t>(name.size()); }

    int32_t lookup(int32_t directory, const std::string &name)
    {
        int32_t fobj = 0;
        obvia::check(pfs_->pfs_lookup(number_, directory, length(name), bytes(name), &fobj));
        return fobj;
    }

    obvia::com_ptr<IPfs> pfs_;
    int32_t number_ = 0;
};

// Returns the text of an error: for an error number of the server, the system's text.
std::string text(const obvia::error &error)
{
    const uint32_t code = static_cast<uint32_t>(error.code());
    return code >> 16 == 0xa0a5 ? std::strerror(static_cast<int>(code & 0xffff)) : error.what();
}

int run(const std::vector<std::string> &words)
{
    if (words.size() == 3 && words[1] == "ls") {
        Client(words[0]).list(words[2], [](PFS_KIND kind, const std::string &name) {
            std::cout << name << (kind == PFS_DIRECTORY ? "/\n" : "\n");
        });
        return std::cout.flush() ? 0 : 1;
    }
    if (words.size() == 3 && words[1] == "cat") {
        Client(words[0]).read(words[2], std::cout);
        return std::cout.flush() ? 0 : 1;
    }
    if (words.size() == 4 && words[1] == "put") {
        std::ifstream local(words[2], std::ios::binary);
        if (!local) {
            std::cerr << "pfs-client: " << words[2] << " cannot be read\n";
            return 1;
        }
        Client(words[0]).write(words[3], local);
        return 0;
    }
    std::cerr << "usage: pfs-client NAME ls PATH | cat PATH | put LOCAL PATH\n";
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const obvia::error &error) {
        std::cerr << "pfs-client: " << text(error) << "\n";
        return 1;
    }
}
