/*---------------------------------------------------------------------------*\
  =========                 |
  \\      /  F ield         | inSituFoam: neural networks trained beside
   \\    /   O peration     | OpenFOAM solvers
    \\  /    A nd           |
     \\/     M anipulation  |
-------------------------------------------------------------------------------
License
    This file is part of inSituFoam, an extension of OpenFOAM.

    inSituFoam is free software: you can redistribute it and/or modify it
    under the terms of the GNU General Public License as published by
    the Free Software Foundation, either version 3 of the License, or
    (at your option) any later version.

    inSituFoam is distributed in the hope that it will be useful, but WITHOUT
    ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
    FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
    for more details.

    You should have received a copy of the GNU General Public License
    along with inSituFoam: the file LICENSE at its top.

\*---------------------------------------------------------------------------*/

#include "foamNode.H"
#include "base/Error.hpp"
#include "ITstream.H"
#include "OSspecific.H"
#include "StringStream.H"

#include <cmath>
#include <cstdio>
#include <cstdlib>

// * * * * * * * * * * * * * * * Local Functions * * * * * * * * * * * * * * //

namespace
{

using namespace Foam;
using inSitu::ConfigError;
using inSitu::Node;


// A dictionary is named after its file, followed by the keywords that lead to it
std::string fileOf(const fileName& name)
{
    std::string path = name;

    while (!isFile(path, false, true))
    {
        const auto end = path.find_last_of("./");
        if (end == std::string::npos || end == 0)
        {
            return name;
        }
        path.erase(end);
    }
    return path;
}


// The shortest decimal that reads back as the same number
std::string text(const scalar value)
{
    char buffer[32];
    if (value == std::floor(value) && mag(value) < 1e15)
    {
        // Whole numbers beyond the range of label come as scalars
        std::snprintf(buffer, sizeof(buffer), "%.0f", double(value));
        return buffer;
    }
    for (const int precision : {6, 15, 17})
    {
        std::snprintf(buffer, sizeof(buffer), "%.*g", precision, double(value));
        if (static_cast<scalar>(std::strtod(buffer, nullptr)) == value)
        {
            break;
        }
    }
    return buffer;
}


// The values of one entry, token by token
class entryReader
{
    const std::string& file_;
    const std::string keyword_;
    const UList<token>& tokens_;
    label next_;

    [[noreturn]] void fail(const std::string& message) const
    {
        const label at = min(next_, tokens_.size() - 1);
        throw ConfigError
        (
            file_,
            at < 0 ? 0 : tokens_[at].lineNumber(),
            keyword_ + " " + message
              + "; write one value, a list in ( ) or a dictionary in { }"
        );
    }

    bool at(const token::punctuationToken punctuation, const label ahead = 0) const
    {
        const label i = next_ + ahead;
        return
            i < tokens_.size()
         && tokens_[i].isPunctuation()
         && tokens_[i].pToken() == punctuation;
    }

    // A list written with a size in front: 2(a b) or 2{a}
    bool atSize() const
    {
        return
            tokens_[next_].isLabel()
         && (at(token::BEGIN_LIST, 1) || at(token::BEGIN_BLOCK, 1));
    }

    Node scalar(std::string value, const bool quoted = false)
    {
        Node node =
            Node::scalar(std::move(value), file_, tokens_[next_].lineNumber());
        node.quoted = quoted;
        ++next_;
        return node;
    }

    Node list()
    {
        const int line = tokens_[next_].lineNumber();
        std::vector<Node> items;
        for (++next_; !at(token::END_LIST); )
        {
            items.push_back(value());
        }
        ++next_;
        return Node::list(std::move(items), file_, line);
    }

    Node uniformList(const label size)
    {
        const int line = tokens_[next_].lineNumber();
        ++next_;
        const std::vector<Node> items(size, value());
        if (!at(token::END_BLOCK))
        {
            fail("has a list that is not closed by }");
        }
        ++next_;
        return Node::list(items, file_, line);
    }

    // List<scalar> 2(0.1 0.2), held by OpenFOAM in one token
    Node compound()
    {
        OStringStream os;
        os.precision(17);
        tokens_[next_].compoundToken().write(os);
        const tokenList inner(ITstream::parse(os.str()));

        Node node = entryReader(file_, keyword_, inner).single();
        node.line = tokens_[next_].lineNumber();
        for (Node& item : node.items)
        {
            item.line = node.line;
        }
        ++next_;
        return node;
    }

    Node value()
    {
        if (next_ >= tokens_.size())
        {
            fail("ends too early");
        }

        if (atSize())
        {
            const label size = tokens_[next_++].labelToken();
            return at(token::BEGIN_BLOCK) ? uniformList(size) : value();
        }
        if (at(token::BEGIN_LIST))
        {
            return list();
        }

        const token& tok = tokens_[next_];

        if (tok.isLabel())
        {
            return scalar(std::to_string(tok.labelToken()));
        }
        if (tok.isNumber())
        {
            return scalar(text(tok.number()));
        }
        if (tok.isWord())
        {
            return scalar(tok.wordToken());
        }
        if (tok.isString())
        {
            string value(tok.stringToken());
            if (value.size() && std::string("$~<").find(value[0]) != std::string::npos)
            {
                value.expand();
            }
            return scalar(value, true);
        }
        if (tok.isBool())
        {
            return scalar(tok.boolToken() ? "true" : "false");
        }
        if (tok.isCompound())
        {
            return compound();
        }

        fail("has a value that cannot be read");
    }


public:

    entryReader
    (
        const std::string& file,
        const std::string& keyword,
        const UList<token>& tokens
    )
    :
        file_(file),
        keyword_(keyword),
        tokens_(tokens),
        next_(0)
    {}

    // All tokens as one value
    Node single()
    {
        Node node = value();
        if (next_ < tokens_.size())
        {
            fail("has more than one value");
        }
        return node;
    }
};


// A block is where its first entry is; without one, where the block around it is
Node convert(const dictionary& dict, const std::string& file, const int line)
{
    Node node = Node::block(file, line);

    for (const entry& item : dict)
    {
        const std::string& key = item.keyword();

        if (item.isDict())
        {
            node.add(key, convert(item.dict(), file, node.line));
        }
        else
        {
            const ITstream& values = item.stream();
            if (values.empty())
            {
                throw ConfigError(file, node.line, key + " has no value");
            }
            node.add(key, entryReader(file, key, values).single());
        }

        if (node.entries.size() == 1)
        {
            node.line = node.entries.front().second.line;
        }
    }
    return node;
}

} // End anonymous namespace


// * * * * * * * * * * * * * * * Global Functions  * * * * * * * * * * * * * //

inSitu::Node Foam::functionObjects::foamNode(const dictionary& dict)
{
    return convert(dict, fileOf(dict.name()), 0);
}

// ************************************************************************* //
