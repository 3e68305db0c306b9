// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

namespace inSitu
{

//- What must not go on while the process ends: std::exit destroys what a thread may be using. If
//  the process exits while an object lives, its stop is called, in the thread that exits and before
//  anything is destroyed that was there when the object was made. stop must not throw.
class ExitStop
{
public:

    explicit ExitStop(std::function<void()> stop);
    ~ExitStop();

    //- Before what is there by now is destroyed, too
    void renew();

    ExitStop(const ExitStop&) = delete;
    ExitStop& operator=(const ExitStop&) = delete;

private:

    struct Living;
    static Living& living();
    static void stopAll();

    std::function<void()> stop_;
};

}
