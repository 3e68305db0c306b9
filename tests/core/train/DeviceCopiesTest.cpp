// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/DeviceCopies.hpp"

#include "FakeDevice.hpp"

#include <ATen/ATen.h>

#include <vector>

using namespace inSitu;

namespace
{

//- Batches that the host writes again and again to the same place, and work that reads them
struct CopiesBench
{
    explicit CopiesBench(DeviceCopies::Way way) : copies(at::kCPU, queue, way) {}

    static float valueOf(std::size_t batch) { return 2.5f + 3*static_cast<float>(batch); }

    //- The number of batches that had been computed when the host could write this one
    int add(std::int64_t size)
    {
        copies.waitForHost();
        const int nBefore = nDone;
        const at::Tensor values = here.narrow(0, 0, size);
        values.fill_(valueOf(nBatches++));

        copies.nextBatch();
        copies.bring(wide.narrow(1, 1, 2), values.narrow(0, 0, 2));
        const at::Tensor landed = copies.bring(values);
        queue->put([this, landed]
        {
            ++nDone;
            wides.push_back(wide.clone());
            landings.push_back(landed.clone());
        });
        return nBefore;
    }

    std::shared_ptr<FakeQueue> queue = std::make_shared<FakeQueue>();
    DeviceCopies copies;
    at::Tensor here = at::zeros({40}), wide = at::full({3, 4}, 7.0f);
    std::size_t nBatches = 0;
    int nDone = 0;
    std::vector<at::Tensor> wides, landings;
};

}


TEST(DeviceCopies, EachBatchIsComputedFromItsOwnValues)
{
    for (const DeviceCopies::Way way : {DeviceCopies::Way::inQueue, DeviceCopies::Way::beside})
    {
        CopiesBench bench(way);
        const std::vector<std::int64_t> sizes{5, 5, 9, 3, 40, 9, 7, 7, 7};
        for (const std::int64_t size : sizes)
        {
            bench.add(size);
        }
        bench.queue->waitFor(bench.queue->mark());
        ASSERT_EQ(bench.landings.size(), sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i)
        {
            const float value = CopiesBench::valueOf(i);
            EXPECT_TRUE(at::equal(bench.landings[i], at::full({sizes[i]}, value))) << i;
            EXPECT_TRUE(at::equal(bench.wides[i],
                at::tensor({7.0f, value, value, 7.0f}).expand({3, 4}))) << i;
        }
    }
}


TEST(DeviceCopies, TheNextBatchTravelsWhileOneIsComputed)
{
    const auto nDone = [](DeviceCopies::Way way)
    {
        CopiesBench bench(way);
        std::vector<int> n(7);
        for (int& before : n)
        {
            before = bench.add(6);
        }
        return n;
    };
    // Once memory has been taken: the third goes where the first was, and waits for that one alone
    EXPECT_EQ(nDone(DeviceCopies::Way::beside), (std::vector<int>{0, 0, 1, 1, 2, 3, 4}));
    EXPECT_EQ(nDone(DeviceCopies::Way::inQueue), (std::vector<int>{0, 0, 1, 2, 3, 4, 5}));
}
