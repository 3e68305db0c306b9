// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/TorchFile.hpp"

#include "base/Error.hpp"
#include "io/Archive.hpp"
#include "io/Disk.hpp"
#include "io/Pickle.hpp"
#include "io/TorchView.hpp"

#include <algorithm>

namespace inSitu
{
namespace
{

constexpr int maximumDepth = 32;
constexpr std::size_t maximumRank = 64;
constexpr std::size_t maximumNameLength = 1024;
constexpr std::size_t entryCost = 128;

const char* const rebuildTensor = "torch._utils._rebuild_tensor_v2";
const char* const rebuildParameter = "torch._utils._rebuild_parameter";


std::vector<std::string> allowedGlobals()
{
    std::vector<std::string> names{rebuildTensor, rebuildParameter};
    for (const TorchType& type : torchTypes())
    {
        names.push_back(type.name);
    }
    return names;
}


//- The records of a file of torch.save
class Records
{
public:

    Records(std::string_view bytes, const std::string& name)
    :
        members_(readArchive(bytes, name)),
        name_(name)
    {
        const std::string pickle = "/data.pkl";
        for (const auto& [member, content] : members_)
        {
            if (member.size() > pickle.size() && member.find('/') == member.size() - pickle.size()
             && member.substr(member.size() - pickle.size()) == pickle)
            {
                prefix_ = member.substr(0, member.size() - pickle.size() + 1);
            }
        }
        if (prefix_.empty())
        {
            throw Error('\'' + name + "' has no data.pkl: it is no file of torch.save");
        }
        if (find("constants.pkl"))
        {
            throw Error('\'' + name + "' is a TorchScript module; a state dictionary that"
                " torch.save wrote is wanted");
        }
        const std::string* const order = find("byteorder");
        if (order && *order != "little")
        {
            throw Error('\'' + name + "' has the byte order " + shown(*order)
                + "; only little is read");
        }
    }

    //- nullptr if there is none
    const std::string* find(const std::string& record) const
    {
        const auto found = members_.find(prefix_ + record);
        return found == members_.end() ? nullptr : &found->second;
    }

    const std::string& pickle() const { return *find("data.pkl"); }

private:

    ArchiveMembers members_;
    std::string prefix_;
    const std::string& name_;
};


class StateReader
{
public:

    StateReader(std::string_view bytes, const std::string& name)
    :
        name_(name),
        records_(bytes, name),
        pickle_(records_.pickle(), allowedGlobals(), name + ":data.pkl"),
        room_(8*bytes.size() + 65536)
    {}

    StateTree read()
    {
        const Value& root = pickle_[pickle_.root()];
        if (root.kind != Kind::dict)
        {
            throw Error('\'' + name_ + "' holds a " + Pickle::nameOf(root.kind)
                + "; a state dictionary is wanted");
        }
        walk(pickle_.root(), "", 0);
        return std::move(state_);
    }

private:

    using Value = Pickle::Value;
    using Kind = Pickle::Kind;

    [[noreturn]] void fail(const std::string& entry, const std::string& what) const
    {
        throw Error('\'' + name_ + "': " + shown(entry) + ' ' + what);
    }

    //- A small file may refer to one value very often
    void spend(std::size_t bytes, const std::string& entry)
    {
        if (bytes > room_)
        {
            fail(entry, "and what is before it would need more than eight times the memory of"
                " the file");
        }
        room_ -= bytes;
    }

    void walk(Pickle::Index index, const std::string& entry, int depth)
    {
        const Value& value = pickle_[index];
        spend(entryCost + entry.size() + value.text.size(), entry);
        if (depth > maximumDepth)
        {
            fail(entry, "is nested too deeply");
        }
        if (state_.has(entry))
        {
            fail(entry, "is there twice");
        }

        switch (value.kind)
        {
            case Kind::none: return;
            case Kind::boolean:
            case Kind::integer: return state_.putInt(entry, value.integer);
            case Kind::real: return state_.putDouble(entry, value.real);
            case Kind::text: return state_.putText(entry, value.text);
            case Kind::call: return state_.putArray(entry, tensor(value, entry, depth));
            case Kind::dict: return walkDict(value, entry, depth);
            case Kind::list:
            case Kind::tuple:
                for (std::size_t i = 0; i < value.items.size(); ++i)
                {
                    walk(value.items[i], below(entry, std::to_string(i)), depth + 1);
                }
                return;
            case Kind::global:
            case Kind::persistent: break;
        }
        fail(entry, std::string("is a ") + Pickle::nameOf(value.kind)
            + "; tensors, numbers, texts and dicts of them are read");
    }

    void walkDict(const Value& dict, const std::string& entry, int depth)
    {
        for (std::size_t i = 0; i < dict.items.size(); i += 2)
        {
            const Value& key = pickle_[dict.items[i]];
            if (key.kind != Kind::text && key.kind != Kind::integer)
            {
                fail(entry, std::string("has a key that is a ") + Pickle::nameOf(key.kind));
            }
            walk(dict.items[i + 1],
                below(entry, key.kind == Kind::text ? key.text : std::to_string(key.integer)),
                depth + 1);
        }
    }

    std::string below(const std::string& entry, const std::string& key) const
    {
        if (entry.size() + key.size() > maximumNameLength)
        {
            fail(entry.empty() ? key : entry, "has a name of more than "
                + std::to_string(maximumNameLength) + " characters");
        }
        return entry.empty() ? key : entry + '/' + key;
    }

    // ---- tensors

    //- The arguments of a call
    const std::vector<Pickle::Index>& arguments(const Value& call, std::size_t least,
        std::size_t most, const std::string& entry) const
    {
        const auto& items = pickle_[call.items[1]].items;
        if (items.size() < least || items.size() > most)
        {
            fail(entry, "is rebuilt from " + std::to_string(items.size()) + " arguments; "
                + std::to_string(least) + " to " + std::to_string(most) + " are known");
        }
        return items;
    }

    StateTree::Array tensor(const Value& call, const std::string& entry, int depth)
    {
        const std::string& callee = pickle_[call.items[0]].text;
        if (callee == rebuildParameter)
        {
            const Value& data = pickle_[arguments(call, 3, 3, entry)[0]];
            if (depth > maximumDepth || data.kind != Kind::call)
            {
                fail(entry, "is a parameter without a tensor");
            }
            return tensor(data, entry, depth + 1);
        }
        if (callee != rebuildTensor)
        {
            fail(entry, "is a call of " + shown(callee) + ", which is refused");
        }

        const auto& items = arguments(call, 6, 7, entry);
        TorchView view;
        findStorage(view, pickle_[items[0]], entry);
        view.offset = size(items[1], entry);
        view.sizes = sizes(items[2], entry);
        view.strides = sizes(items[3], entry);
        if (items.size() == 7 && !pickle_[items[6]].items.empty())
        {
            fail(entry, "is a tensor with a negative or conjugate bit, which is not read");
        }
        const std::string fault = view.fault();
        if (!fault.empty())
        {
            fail(entry, fault);
        }
        spend(view.bytes(), entry);
        return view.copied();
    }

    std::int64_t size(Pickle::Index index, const std::string& entry) const
    {
        const Value& value = pickle_[index];
        if (value.kind != Kind::integer || value.integer < 0)
        {
            fail(entry, "has an offset, size or stride that is no count");
        }
        return value.integer;
    }

    std::vector<std::int64_t> sizes(Pickle::Index index, const std::string& entry) const
    {
        const Value& value = pickle_[index];
        if (value.kind != Kind::tuple || value.items.size() > maximumRank)
        {
            fail(entry, "has no tuple of at most " + std::to_string(maximumRank) + " sizes");
        }
        std::vector<std::int64_t> result;
        for (const Pickle::Index item : value.items)
        {
            result.push_back(size(item, entry));
        }
        return result;
    }

    //- The identifier is ('storage', type, record, device, number of elements)
    void findStorage(TorchView& view, const Value& storage, const std::string& entry) const
    {
        if (storage.kind != Kind::persistent)
        {
            fail(entry, std::string("has a ") + Pickle::nameOf(storage.kind) + " as storage");
        }
        const auto& id = pickle_[storage.items[0]].items;
        if (id.size() != 5 || pickle_[id[0]].text != "storage"
         || pickle_[id[1]].kind != Kind::global || pickle_[id[2]].kind != Kind::text)
        {
            fail(entry, "has a storage whose identifier is not known");
        }

        const std::string& typeName = pickle_[id[1]].text;
        const auto type = std::find_if(torchTypes().begin(), torchTypes().end(),
            [&](const TorchType& candidate) { return candidate.name == typeName; });
        if (type == torchTypes().end())
        {
            fail(entry, "has a storage of the type " + shown(typeName) + ", which is refused");
        }
        view.type = &*type;

        const std::string record = "data/" + pickle_[id[2]].text;
        const std::string* const content = records_.find(record);
        if (!content)
        {
            fail(entry, "has its numbers in the record " + shown(record) + ", which is missing");
        }
        view.storage = *content;
        const auto count = static_cast<std::uint64_t>(size(id[4], entry));
        if (content->size() % type->bytes != 0 || content->size()/type->bytes != count)
        {
            fail(entry, "has a storage of " + std::to_string(count) + " elements of "
                + std::to_string(type->bytes) + " bytes, but its record has "
                + std::to_string(content->size()) + " bytes");
        }
    }

    const std::string& name_;
    Records records_;
    Pickle pickle_;
    std::size_t room_;              //!< bytes that may still be made of the file
    StateTree state_;
};

}


StateTree readTorchState(std::string_view bytes, const std::string& name)
{
    if (bytes.substr(0, 2) == "\x80\x02")
    {
        throw Error('\'' + name + "' is in the format of torch before 1.6; load it in Python and"
            " save it again with torch.save");
    }
    return StateReader(bytes, name).read();
}


StateTree readTorchFile(const std::string& path)
{
    return readTorchState(readFile(path), path);
}

}
