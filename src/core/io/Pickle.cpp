// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/Pickle.hpp"

#include "base/Error.hpp"
#include "config/Json.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace inSitu
{
namespace
{

constexpr std::size_t maximumBytes = std::size_t(64) << 20;
constexpr std::size_t maximumValues = 1000000;
constexpr int maximumProtocol = 4;
const char* const orderedDict = "collections.OrderedDict";

//- Names as in Python's pickletools
enum Opcode : unsigned char
{
    MARK = '(', STOP = '.', BINFLOAT = 'G', BININT = 'J', BININT1 = 'K', BININT2 = 'M', NONE = 'N',
    BINPERSID = 'Q', REDUCE = 'R', BINUNICODE = 'X', EMPTY_LIST = ']', APPEND = 'a', BUILD = 'b',
    GLOBAL = 'c', EMPTY_DICT = '}', APPENDS = 'e', BINGET = 'h', LONG_BINGET = 'j', BINPUT = 'q',
    LONG_BINPUT = 'r', SETITEM = 's', TUPLE = 't', EMPTY_TUPLE = ')', SETITEMS = 'u', PROTO = 0x80,
    TUPLE1 = 0x85, TUPLE2 = 0x86, TUPLE3 = 0x87, NEWTRUE = 0x88, NEWFALSE = 0x89, LONG1 = 0x8A,
    NEWOBJ = 0x81, SHORT_BINUNICODE = 0x8C, STACK_GLOBAL = 0x93, MEMOIZE = 0x94, FRAME = 0x95
};


//- Name of an opcode that is refused
std::string nameOfRefused(unsigned char opcode)
{
    struct Known { unsigned char opcode; const char* name; };
    static const Known known[] =
    {
        {'0', "POP"}, {'1', "POP_MARK"}, {'2', "DUP"}, {'F', "FLOAT"}, {'I', "INT"}, {'L', "LONG"},
        {'P', "PERSID"}, {'S', "STRING"}, {'T', "BINSTRING"}, {'U', "SHORT_BINSTRING"},
        {'V', "UNICODE"}, {'d', "DICT"}, {'g', "GET"}, {'i', "INST"}, {'l', "LIST"}, {'o', "OBJ"},
        {'p', "PUT"}, {'B', "BINBYTES"}, {'C', "SHORT_BINBYTES"}, {0x81, "NEWOBJ"},
        {0x82, "EXT1"}, {0x83, "EXT2"}, {0x84, "EXT4"}, {0x8B, "LONG4"}, {0x8D, "BINUNICODE8"},
        {0x8E, "BINBYTES8"}, {0x8F, "EMPTY_SET"}, {0x90, "ADDITEMS"}, {0x91, "FROZENSET"},
        {0x92, "NEWOBJ_EX"}, {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"},
        {0x98, "READONLY_BUFFER"}
    };
    const auto found = std::find_if(std::begin(known), std::end(known),
        [&](const Known& entry) { return entry.opcode == opcode; });
    return found != std::end(known) ? found->name : "number " + std::to_string(opcode);
}

}


//- The stack machine
class Pickle::Reader
{
public:

    //- allowed: nullptr for any name
    Reader(Pickle& pickle, std::string_view bytes, const std::vector<std::string>* allowed,
        const std::string& name)
    :
        values_(pickle.values_),
        bytes_(bytes),
        allowed_(allowed),
        name_(name)
    {
        if (bytes.size() > maximumBytes)
        {
            fail("a pickle of more than 64 MiB is refused");
        }
    }

    Index read()
    {
        while (true)
        {
            start_ = at_;
            const auto opcode = static_cast<unsigned char>(take(1)[0]);
            if (opcode == STOP)
            {
                return result();
            }
            execute(opcode);
            if (std::max({stack_.size(), marks_.size(), memo_.size()}) > maximumValues)
            {
                fail("more than a million values are refused");
            }
        }
    }

private:

    [[noreturn]] void fail(const std::string& message) const
    {
        throw Error('\'' + name_ + "', byte " + std::to_string(start_) + ": " + message);
    }

    Index result()
    {
        if (stack_.size() != 1 || !marks_.empty())
        {
            fail("the pickle ends with " + std::to_string(stack_.size())
                + " values where one is due");
        }
        if (at_ != bytes_.size())
        {
            fail("there are bytes behind the end of the pickle");
        }
        return stack_.back();
    }

    void execute(unsigned char opcode)
    {
        switch (opcode)
        {
            case PROTO: return protocol();
            case FRAME: return static_cast<void>(number(8));

            case NONE: return constant(Kind::none, 0);
            case NEWTRUE: return constant(Kind::boolean, 1);
            case NEWFALSE: return constant(Kind::boolean, 0);
            case BININT: return integer(static_cast<std::int32_t>(number(4)));
            case BININT1: return integer(static_cast<std::int64_t>(number(1)));
            case BININT2: return integer(static_cast<std::int64_t>(number(2)));
            case LONG1: return longInteger();
            case BINFLOAT: return real();
            case BINUNICODE: return text(number(4));
            case SHORT_BINUNICODE: return text(number(1));

            case MARK: return marks_.push_back(stack_.size());
            case EMPTY_TUPLE: return sequence(Kind::tuple, {});
            case TUPLE: return sequence(Kind::tuple, popToMark());
            case TUPLE1: return sequence(Kind::tuple, popSome(1));
            case TUPLE2: return sequence(Kind::tuple, popSome(2));
            case TUPLE3: return sequence(Kind::tuple, popSome(3));
            case EMPTY_LIST: return sequence(Kind::list, {});
            case EMPTY_DICT: return sequence(Kind::dict, {});
            case APPEND: return extend(Kind::list, popSome(1));
            case APPENDS: return extend(Kind::list, popToMark());
            case SETITEM: return extend(Kind::dict, popSome(2));
            case SETITEMS: return extend(Kind::dict, popToMark());

            case GLOBAL: return global();
            case STACK_GLOBAL: return stackGlobal();
            case REDUCE: return reduce();
            case NEWOBJ:
                if (!allowed_)
                {
                    return reduce();
                }
                break;
            case BUILD: return build();
            case BINPERSID: return sequence(Kind::persistent, popSome(1));

            case BINPUT: return put(number(1));
            case LONG_BINPUT: return put(number(4));
            case MEMOIZE: return put(memo_.size());
            case BINGET: return get(number(1));
            case LONG_BINGET: return get(number(4));
        }
        fail("the pickle opcode " + nameOfRefused(opcode) + " is refused");
    }

    // ---- bytes

    std::string_view take(std::size_t count)
    {
        if (count > bytes_.size() - at_)
        {
            fail("the pickle ends early");
        }
        at_ += count;
        return bytes_.substr(at_ - count, count);
    }

    //- Unsigned, little-endian
    std::uint64_t number(std::size_t size)
    {
        const std::string_view digits = take(size);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
        {
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(digits[i])) << 8*i;
        }
        return value;
    }

    std::string_view line()
    {
        const std::size_t end = bytes_.find('\n', at_);
        if (end == std::string_view::npos)
        {
            fail("the pickle ends early");
        }
        const std::string_view content = take(end - at_);
        take(1);
        return content;
    }

    void protocol()
    {
        const std::uint64_t version = number(1);
        if (version < 2 || version > maximumProtocol)
        {
            fail("pickle protocol " + std::to_string(version) + " is refused; 2 to "
                + std::to_string(maximumProtocol) + " are read");
        }
    }

    // ---- values

    Index make(Kind kind)
    {
        if (values_.size() >= maximumValues)
        {
            fail("more than a million values are refused");
        }
        values_.emplace_back();
        values_.back().kind = kind;
        return static_cast<Index>(values_.size() - 1);
    }

    Value& push(Kind kind)
    {
        stack_.push_back(make(kind));
        return values_.back();
    }

    void constant(Kind kind, std::int64_t value)
    {
        push(kind).integer = value;
    }

    void integer(std::int64_t value)
    {
        push(Kind::integer).integer = value;
    }

    void longInteger()
    {
        const std::uint64_t size = number(1);
        if (size > 8)
        {
            fail("an integer of more than 64 bits is refused");
        }
        const std::uint64_t bits = number(size);
        const int missing = 64 - 8*static_cast<int>(size);
        integer(size == 0 ? 0 : static_cast<std::int64_t>(bits << missing) >> missing);
    }

    void real()
    {
        std::string digits(take(8));
        std::reverse(digits.begin(), digits.end());
        std::memcpy(&push(Kind::real).real, digits.data(), 8);
    }

    void text(std::uint64_t size)
    {
        const std::string_view content = take(size);
        push(Kind::text).text = content;
    }

    void sequence(Kind kind, std::vector<Index> items)
    {
        push(kind).items = std::move(items);
    }

    void extend(Kind kind, const std::vector<Index>& items)
    {
        Value& target = top();
        if (target.kind != kind || (kind == Kind::dict && items.size() % 2 != 0))
        {
            fail(std::string("items for a ") + nameOf(kind) + " meet a " + nameOf(target.kind));
        }
        target.items.insert(target.items.end(), items.begin(), items.end());
    }

    // ---- stack and memo

    //- Number of values above the last mark
    std::size_t depth() const
    {
        return stack_.size() - (marks_.empty() ? 0 : marks_.back());
    }

    Value& top()
    {
        if (depth() == 0)
        {
            fail("the pickle takes a value that is not there");
        }
        return values_[stack_.back()];
    }

    std::vector<Index> popSome(std::size_t count)
    {
        if (depth() < count)
        {
            fail("the pickle takes a value that is not there");
        }
        std::vector<Index> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
        stack_.resize(stack_.size() - count);
        return items;
    }

    std::vector<Index> popToMark()
    {
        if (marks_.empty())
        {
            fail("the pickle has no mark where one is due");
        }
        std::vector<Index> items = popSome(depth());
        marks_.pop_back();
        return items;
    }

    void put(std::uint64_t key)
    {
        top();
        memo_[key] = stack_.back();
    }

    void get(std::uint64_t key)
    {
        const auto found = memo_.find(key);
        if (found == memo_.end())
        {
            fail("the pickle refers to a value that is not there");
        }
        stack_.push_back(found->second);
    }

    // ---- names and calls

    void pushGlobal(const std::string& name)
    {
        if (allowed_ && name != orderedDict
         && std::find(allowed_->begin(), allowed_->end(), name) == allowed_->end())
        {
            fail(shown(name) + " is refused: a file of weights may name only "
                + orderedDict + ", " + join(*allowed_, ", ") + "; nothing was executed");
        }
        push(Kind::global).text = name;
    }

    void global()
    {
        const std::string module(line());
        pushGlobal(module + '.' + std::string(line()));
    }

    void stackGlobal()
    {
        const std::vector<Index> words = popSome(2);
        const Value& module = values_[words[0]];
        const Value& word = values_[words[1]];
        if (module.kind != Kind::text || word.kind != Kind::text)
        {
            fail("a name in the pickle is not a text");
        }
        pushGlobal(module.text + '.' + word.text);
    }

    void reduce()
    {
        std::vector<Index> items = popSome(2);
        const Value& callee = values_[items[0]];
        const Value& arguments = values_[items[1]];
        if (callee.kind != Kind::global || arguments.kind != Kind::tuple)
        {
            fail(std::string("a call of a ") + nameOf(callee.kind) + " is refused");
        }
        if (callee.text != orderedDict)
        {
            return sequence(Kind::call, std::move(items));
        }
        if (!arguments.items.empty())
        {
            fail("an OrderedDict with arguments is refused");
        }
        sequence(Kind::dict, {});
    }

    void build()
    {
        popSome(1);
        if (top().kind != Kind::dict && (allowed_ || top().kind != Kind::call))
        {
            fail(std::string("attributes of a ") + nameOf(top().kind) + " are refused");
        }
    }

    std::deque<Value>& values_;
    std::string_view bytes_;
    const std::vector<std::string>* allowed_;
    const std::string& name_;
    std::size_t at_ = 0;
    std::size_t start_ = 0;         //!< of the opcode
    std::vector<Index> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, Index> memo_;
};


Pickle::Pickle(std::string_view bytes, const std::vector<std::string>& allowed,
    const std::string& name)
{
    root_ = Reader(*this, bytes, &allowed, name).read();
}


Pickle::Pickle(std::string_view bytes, const std::string& name)
{
    root_ = Reader(*this, bytes, nullptr, name).read();
}


const char* Pickle::nameOf(Kind kind)
{
    switch (kind)
    {
        case Kind::none: return "None";
        case Kind::boolean: return "bool";
        case Kind::integer: return "int";
        case Kind::real: return "float";
        case Kind::text: return "str";
        case Kind::list: return "list";
        case Kind::tuple: return "tuple";
        case Kind::dict: return "dict";
        case Kind::global: return "name";
        case Kind::call: return "call";
        case Kind::persistent: break;
    }
    return "storage";
}


std::string shown(std::string_view text)
{
    constexpr std::size_t longest = 80;
    return jsonString(text.substr(0, longest)) + (text.size() > longest ? "…" : "");
}

}
