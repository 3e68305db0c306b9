// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Archive.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "config/Json.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <archive.h>
#include <archive_entry.h>

namespace inSitu
{
namespace
{

constexpr std::size_t maximumNameLength = 255;

// Compressed members may unfold to so much
constexpr std::size_t maximumExpansion = 16;
constexpr std::size_t expansionForAll = std::size_t(16) << 20;


//- libarchive's own word for what went wrong
std::string reason(archive* handle)
{
    const char* const text = archive_error_string(handle);
    return text ? text : "no reason given";
}


bool isTar(std::string_view bytes)
{
    return bytes.substr(std::min<std::size_t>(bytes.size(), 257), 5) == "ustar";
}


class Reader
{
public:

    Reader(std::string_view bytes, const std::string& name)
    :
        handle_(archive_read_new(), archive_read_free),
        zip_(!isTar(bytes)),
        room_(bytes.size()),
        name_(name)
    {
        if (zip_)
        {
            archive_read_support_format_zip_seekable(handle_.get());
        }
        else
        {
            archive_read_support_format_tar(handle_.get());
        }
        if (archive_read_open_memory(handle_.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
        {
            fail("is neither a zip nor a tar archive");
        }
    }

    ArchiveMembers members()
    {
        ArchiveMembers members;
        visit([&](archive_entry* entry, const std::string& member)
        {
            members[member] = content(entry, member);
        });
        return members;
    }

    //- Read all and keep nothing; compressed members too
    std::vector<std::string> verifiedNames()
    {
        room_ = maximumExpansion*room_ + expansionForAll;
        std::vector<std::string> names;
        visit([&](archive_entry* entry, const std::string& member)
        {
            skim(entry, member);
            names.push_back(member);
        });
        return names;
    }

private:

    template<class Visit>
    void visit(const Visit& visitOne)
    {
        std::set<std::string> names;
        archive_entry* entry = nullptr;
        for (int state = 0; (state = archive_read_next_header(handle_.get(), &entry))
            != ARCHIVE_EOF;)
        {
            // A warning: the two headers of a zip disagree, or a user's name in a tar is odd
            if (state != ARCHIVE_OK && (zip_ || state != ARCHIVE_WARN))
            {
                fail(names.empty() && state == ARCHIVE_FATAL
                    ? "is neither a zip nor a tar archive" : "is damaged");
            }
            const std::string member = memberName(entry);
            if (!names.insert(member).second)
            {
                refuse(member, "is there twice");
            }
            visitOne(entry, member);
        }
    }

    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error('\'' + name_ + "' " + what + " (" + reason(handle_.get()) + ')');
    }

    [[noreturn]] void refuse(const std::string& member, const std::string& what) const
    {
        throw Error('\'' + name_ + "': the member " + jsonString(member) + ' ' + what);
    }

    std::string memberName(archive_entry* entry) const
    {
        const char* const path = archive_entry_pathname(entry);
        std::string member = path ? path : "";
        if (member.compare(0, 2, "./") == 0)
        {
            member.erase(0, 2);
        }
        const bool plain = std::all_of(member.begin(), member.end(),
            [](char c) { return c >= 0x20 && c < 0x7F; });
        if (member.empty() || member.size() > maximumNameLength || !plain)
        {
            refuse(member.substr(0, maximumNameLength), "has no plain name of 1 to "
                + std::to_string(maximumNameLength) + " ASCII characters");
        }
        return member;
    }

    void requirePlainFile(archive_entry* entry, const std::string& member) const
    {
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
        {
            refuse(member, "is not a plain file");
        }
    }

    void skim(archive_entry* entry, const std::string& member)
    {
        requirePlainFile(entry, member);
        std::vector<char> chunk(65536);
        la_ssize_t count = 0;
        while ((count = archive_read_data(handle_.get(), chunk.data(), chunk.size())) > 0)
        {
            if (static_cast<std::size_t>(count) > room_)
            {
                refuse(member, "unfolds to more than " + std::to_string(maximumExpansion)
                    + " times the archive");
            }
            room_ -= static_cast<std::size_t>(count);
        }
        if (count < 0)
        {
            refuse(member, "is damaged (" + reason(handle_.get()) + ')');
        }
    }

    void check(archive_entry* entry, const std::string& member) const
    {
        requirePlainFile(entry, member);
        const std::string format = archive_format_name(handle_.get());
        if (zip_ && (archive_entry_is_encrypted(entry)
            || format.find("(uncompressed)") == std::string::npos))
        {
            refuse(member, "is compressed or encrypted (as in TorchScript modules); only stored"
                " ones are read, which torch.save and PhysicsNeMo write");
        }
        if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0
         || static_cast<std::size_t>(archive_entry_size(entry)) > room_)
        {
            refuse(member, "claims to be larger than the archive has room for");
        }
    }

    std::string content(archive_entry* entry, const std::string& member)
    {
        check(entry, member);
        std::string bytes(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
        room_ -= bytes.size();

        std::size_t filled = 0;
        la_ssize_t count = 1;
        while (filled < bytes.size() && count > 0)
        {
            count = archive_read_data(handle_.get(), &bytes[filled], bytes.size() - filled);
            filled += count > 0 ? static_cast<std::size_t>(count) : 0;
        }

        // The checksum is compared when more is asked for than there is
        char more;
        if (filled < bytes.size() || archive_read_data(handle_.get(), &more, 1) != 0)
        {
            refuse(member, "is damaged (" + reason(handle_.get()) + ')');
        }
        return bytes;
    }

    std::unique_ptr<archive, int (*)(archive*)> handle_;
    bool zip_;
    std::size_t room_;          //!< bytes that members may still have
    const std::string& name_;
};


la_ssize_t append(archive*, void* target, const void* bytes, std::size_t size)
{
    static_cast<std::string*>(target)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
}


void require(archive* handle, bool good)
{
    if (!good)
    {
        throw Error("a zip archive cannot be made: " + reason(handle));
    }
}

}


ArchiveMembers readArchive(std::string_view bytes, const std::string& name)
{
    return Reader(bytes, name).members();
}


std::vector<std::string> verifyArchive(std::string_view bytes, const std::string& name)
{
    return Reader(bytes, name).verifiedNames();
}


std::string zipArchive(const ArchiveMembers& members)
{
    std::string bytes;
    const std::unique_ptr<archive, int (*)(archive*)> owner(archive_write_new(),
        archive_write_free);
    archive* const handle = owner.get();
    archive_write_set_format_zip(handle);
    archive_write_zip_set_compression_store(handle);
    archive_write_set_bytes_in_last_block(handle, 1);
    require(handle, archive_write_open(handle, &bytes, nullptr, append, nullptr)
        == ARCHIVE_OK);

    for (const auto& [name, content] : members)
    {
        const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
            archive_entry_free);
        archive_entry_set_pathname(entry.get(), name.c_str());
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
        require(handle, archive_write_header(handle, entry.get()) == ARCHIVE_OK);
        require(handle, archive_write_data(handle, content.data(), content.size())
            == static_cast<la_ssize_t>(content.size()));
    }
    require(handle, archive_write_close(handle) == ARCHIVE_OK);
    return bytes;
}

}
