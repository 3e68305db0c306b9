// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace inSitu
{

//- Files in an archive: content by name
using ArchiveMembers = std::map<std::string, std::string>;

//- The members of a zip archive or, if it has tar's mark, of a tar archive in memory; nothing
//  is ever written. Meant for files from anywhere: members are plain files, stored and not
//  compressed, each name there once, all of them together not larger than the archive, and
//  checksums right. A leading "./" is dropped. name stands for the file in messages. Throws
//  Error, naming the member.
ArchiveMembers readArchive(std::string_view bytes, const std::string& name);

//- Names of the members of such an archive, compressed ones included, in its order: all are read,
//  checksums compared, and nothing is kept. Throws Error as readArchive() does; also if the members
//  unfold to more than 16 times the archive and 16 MiB.
std::vector<std::string> verifyArchive(std::string_view bytes, const std::string& name);

//- A zip archive with stored members, in the order of their names; equal members give equal
//  bytes
std::string zipArchive(const ArchiveMembers& members);

}
