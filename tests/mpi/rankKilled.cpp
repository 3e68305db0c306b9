// SPDX-License-Identifier: GPL-3.0-or-later

// Usage: rankKilled sum|exchange: rank 1 kills itself while the others wait for it there

#include "MpiComm.hpp"

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    {
        inSitu::MpiComm comm(MPI_COMM_WORLD);
        const int n = comm.size();
        const auto ring =
            comm.exchange({{(comm.rank() + 1) % n, 800, 0}, {(comm.rank() + n - 1) % n, 0, 800}});

        std::vector<double> values(1000, 1.5);
        for (int step = 0; step < 30; ++step)
        {
            comm.startSum(values);
            ring->start();
            ring->finish();
            comm.finishSums();
        }

        if (comm.rank() == 1)
        {
            std::puts("rank 1 is about to go");
            std::fflush(stdout);
            std::raise(SIGKILL);
        }
        if (argc > 1 && std::string(argv[1]) == "exchange")
        {
            ring->start();
            ring->finish();
        }
        comm.sum(values);
        std::puts("has come back");
    }
    MPI_Finalize();
}
