// SPDX-License-Identifier: GPL-3.0-or-later
#include "DeviceSupport.hpp"
#include "scaleRows.hpp"

#include <cstring>

// Rows that get the model's scales on the device, against the same arithmetic of the host

namespace inSitu
{
namespace
{

using namespace test;

template<class T>
struct Rows
{
    int nSamples, nRows, nNoisyRows, nColumns, nFeatures, first, stride;

    void expectSameBits() const
    {
        const int n = nColumns + nFeatures;
        const at::Tensor raw =
            (draw({nSamples, nRows, nColumns}, 3)*1e3 + 1e5).to(typeOf<T>());
        const at::Tensor noise = (draw({nSamples, nNoisyRows, nColumns}, 5)*0.1).to(typeOf<T>());
        const at::Tensor numbers = draw({2*n + nSamples*nFeatures}, 7)*3;
        const at::Tensor expected = at::full({nSamples, nRows, stride}, 777, typeOf<T>());
        const auto* shift = numbers.const_data_ptr<double>();
        for (int s = 0; s < nSamples; ++s)
        {
            for (int r = 0; r < nRows; ++r)
            {
                for (int c = 0; c < n; ++c)
                {
                    const int i = (s*nRows + r)*nColumns + c;
                    const double value = c < nColumns ? raw.const_data_ptr<T>()[i]
                        : shift[2*n + s*nFeatures + c - nColumns];
                    T scaled = static_cast<T>((value - shift[c])/shift[n + c]);
                    if (c < nColumns && r < nNoisyRows)
                    {
                        scaled += noise.const_data_ptr<T>()[(s*nNoisyRows + r)*nColumns + c];
                    }
                    expected.mutable_data_ptr<T>()[(s*nRows + r)*stride + first + c] = scaled;
                }
            }
        }

        // The samples are in memory of their own, in another order
        std::vector<at::Tensor> there(nSamples);
        std::vector<std::int64_t> addresses(nSamples);
        for (int s = nSamples - 1; s >= 0; --s)
        {
            there[s] = raw[s].clone().to(testDevice());
            addresses[s] = reinterpret_cast<std::int64_t>(there[s].data_ptr());
        }
        RowScaling work;
        work.rows = at::tensor(addresses, at::kLong).to(testDevice());
        work.numbers = numbers.to(testDevice());
        work.noise = nNoisyRows > 0 ? noise.to(testDevice()) : at::Tensor();
        work.out = at::full({nSamples, nRows, stride}, 777, typeOf<T>()).to(testDevice());
        work.nColumns = nColumns;
        work.nFeatures = nFeatures;
        work.first = first;
        device::scaleRows(work);
        const at::Tensor got = work.out.to(at::kCPU);
        EXPECT_EQ(std::memcmp(got.const_data_ptr(), expected.const_data_ptr(), got.nbytes()), 0);
        std::cout << "  " << nSamples << " x " << nRows << " x " << n << ": largest difference "
            << (got - expected).abs().max().template item<double>() << std::endl;
    }
};

}


TEST(ScaleRows, AreThoseOfTheHostToTheBit)
{
    INSITU_NEEDS_DEVICE();
    Rows<float>{3, 137, 90, 5, 2, 0, 11}.expectSameBits();
    Rows<double>{3, 137, 90, 5, 2, 0, 11}.expectSameBits();
    Rows<float>{1, 601, 0, 2, 0, 3, 5}.expectSameBits();        // as on edges
    Rows<double>{2, 1, 1, 1, 0, 0, 1}.expectSameBits();
    Rows<float>{7, isEmulated ? 211 : 64007, 200, 4, 1, 0, 10}.expectSameBits();
}

}
