// SPDX-License-Identifier: GPL-3.0-or-later
#include "Products.hpp"

#include "base/Error.hpp"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace inSitu
{
namespace device
{
namespace
{

void check(cublasStatus_t status, const char* what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
    {
        throw Error(std::string("a matrix product on the GPU failed: ") + what + ": "
            + cublasLtGetStatusString(status));
    }
}


template<class T> constexpr cudaDataType_t dataType();
template<> constexpr cudaDataType_t dataType<double>() { return CUDA_R_64F; }
template<> constexpr cudaDataType_t dataType<float>() { return CUDA_R_32F; }
template<> constexpr cudaDataType_t dataType<BFloat16>() { return CUDA_R_16BF; }
template<> constexpr cudaDataType_t dataType<Float16>() { return CUDA_R_16F; }


//- What cuBLASLt calls D = op(A) op(B) + beta D, matrices column by column
struct Product
{
    long m, n, k;
    bool transposeA, transposeB;
    long lda, ldb, ldd;
    bool toAccumulator;         //!< D is of the accumulators' type
    bool add;                   //!< beta 1
    bool reluBias;

    bool operator<(const Product& o) const { return key() < o.key(); }

private:

    std::array<long, 11> key() const
    {
        return {m, n, k, transposeA, transposeB, lda, ldb, ldd, toAccumulator, add, reluBias};
    }
};


struct Operands
{
    const void* a;
    const void* b;
    void* d;
    const void* bias;
};


//- A matrix layout or a product's description, destroyed in time
template<class Handle, cublasStatus_t (*destroy)(Handle)>
class Owned
{
public:

    Owned() = default;
    Owned(Owned&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Owned& operator=(Owned&&) = delete;
    ~Owned() { if (handle_) destroy(handle_); }

    Handle* address() { return &handle_; }
    operator Handle() const { return handle_; }

private:

    Handle handle_ = nullptr;
};

using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;
using Handle = Owned<cublasLtHandle_t, cublasLtDestroy>;


struct Plan
{
    Description description;
    Layout a, b, d;
    std::vector<cublasLtMatmulHeuristicResult_t> candidates;    // the one in use comes first
};


// What cuBLAS takes on this generation (NVIDIA's recommendation)
constexpr std::size_t workspaceBytes = 32u << 20;

}


template<class T>
struct Products<T>::Impl
{
    static constexpr bool isDouble = std::is_same_v<T, double>;

    Plan make(const Product& p);
    void tune(Plan& plan, Stream stream, const Product& p, const Operands& o);
    void run(const Plan& plan, const cublasLtMatmulAlgo_t& algorithm, Stream stream,
        const Product& p, const Operands& o);
    bool multiply(Stream stream, const Product& p, const Operands& o);

    bool tf32;
    bool tuned;
    Handle handle;
    Buffer<char> workspace;
    std::map<Product, Plan> plans;
};


template<class T>
Plan Products<T>::Impl::make(const Product& p)
{
    const cublasComputeType_t compute = isDouble ? CUBLAS_COMPUTE_64F
        : tf32 && std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const cudaDataType_t scale = isDouble ? CUDA_R_64F : CUDA_R_32F;

    Plan plan;
    check(cublasLtMatmulDescCreate(plan.description.address(), compute, scale), "description");
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value)
    {
        check(cublasLtMatmulDescSetAttribute(plan.description, attribute, &value, sizeof(value)),
            "attribute");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.reluBias)
    {
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
    }

    const auto layout = [&](Layout& l, cudaDataType_t type, long rows, long columns, long ld)
    {
        check(cublasLtMatrixLayoutCreate(l.address(), type, rows, columns, ld), "layout");
    };
    const long k = p.k;
    layout(plan.a, dataType<T>(), p.transposeA ? k : p.m, p.transposeA ? p.m : k, p.lda);
    layout(plan.b, dataType<T>(), p.transposeB ? p.n : k, p.transposeB ? k : p.n, p.ldb);
    layout(plan.d, p.toAccumulator ? scale : dataType<T>(), p.m, p.n, p.ldd);

    Preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.address()), "preference");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value)
    {
        check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
            "preference");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspaceBytes);
    // Parts of a long sum are added up in workspace, in order
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t(
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
    // States start on 16 bytes, whatever the width
    for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    {
        prefer(attribute, std::uint32_t(16));
    }

    plan.candidates.resize(tuned ? 8 : 1);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, plan.description, plan.a,
        plan.b, plan.d, plan.d, preference, static_cast<int>(plan.candidates.size()),
        plan.candidates.data(), &found);
    if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED)
    {
        check(status, "choice of an algorithm");
    }
    plan.candidates.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
    return plan;
}


template<class T>
void Products<T>::Impl::run(const Plan& plan, const cublasLtMatmulAlgo_t& algorithm,
    Stream stream, const Product& p, const Operands& o)
{
    using A = Accumulator<T>;
    const A one = 1;
    const A beta = p.add ? 1 : 0;
    check(cublasLtMatmul(handle, plan.description, &one, o.a, plan.a, o.b, plan.b, &beta, o.d,
        plan.d, o.d, plan.d, &algorithm, workspace.data(), workspaceBytes,
        static_cast<cudaStream_t>(stream)), "start");
}


//- The fastest of the candidates comes first. What D holds is lost, so not where it is added to.
template<class T>
void Products<T>::Impl::tune(Plan& plan, Stream stream, const Product& p, const Operands& o)
{
    const auto cudaStream = static_cast<cudaStream_t>(stream);
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(cudaStream, &capturing));
    if (!tuned || p.add || capturing != cudaStreamCaptureStatusNone || plan.candidates.size() < 2)
    {
        return;
    }
    constexpr int repetitions = 5;
    cudaEvent_t begin;
    cudaEvent_t end;
    C10_CUDA_CHECK(cudaEventCreate(&begin));
    C10_CUDA_CHECK(cudaEventCreate(&end));
    std::size_t best = 0;
    float least = 0;
    for (std::size_t i = 0; i < plan.candidates.size(); ++i)
    {
        run(plan, plan.candidates[i].algo, stream, p, o);
        C10_CUDA_CHECK(cudaEventRecord(begin, cudaStream));
        for (int repetition = 0; repetition < repetitions; ++repetition)
        {
            run(plan, plan.candidates[i].algo, stream, p, o);
        }
        C10_CUDA_CHECK(cudaEventRecord(end, cudaStream));
        C10_CUDA_CHECK(cudaEventSynchronize(end));
        float time = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&time, begin, end));
        if (i == 0 || time < least)
        {
            least = time;
            best = i;
        }
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::swap(plan.candidates.front(), plan.candidates[best]);
}


template<class T>
bool Products<T>::Impl::multiply(Stream stream, const Product& p, const Operands& o)
{
    auto found = plans.find(p);
    const bool isNew = found == plans.end();
    if (isNew)
    {
        found = plans.emplace(p, make(p)).first;
    }
    Plan& plan = found->second;
    if (plan.candidates.empty())
    {
        return false;
    }
    if (p.reluBias)
    {
        check(cublasLtMatmulDescSetAttribute(plan.description,
            CUBLASLT_MATMUL_DESC_BIAS_POINTER, &o.bias, sizeof(o.bias)), "bias");
    }
    if (isNew)
    {
        tune(plan, stream, p, o);
    }
    run(plan, plan.candidates.front().algo, stream, p, o);
    return true;
}


namespace
{

void require(bool done, long rows, int in, int out)
{
    if (!done)
    {
        throw Error("cuBLAS has no algorithm for a layer of " + std::to_string(in) + " to "
            + std::to_string(out) + " columns on " + std::to_string(rows) + " rows");
    }
}

}


template<class T>
Products<T>::Products(const at::Device& device, bool tf32, bool tuned)
:
    impl_(std::make_unique<Impl>())
{
    const at::DeviceGuard guard(device);
    impl_->tf32 = tf32;
    impl_->tuned = tuned;
    impl_->workspace.resize(workspaceBytes, device);
    check(cublasLtCreate(impl_->handle.address()), "handle");
}


template<class T>
Products<T>::~Products() = default;


// A matrix row by row is its transpose column by column: y' = w x'

template<class T>
bool Products<T>::forward(Stream stream, Rows<const T> x, Rows<const T> w, const T* reluBias,
    Rows<T> y, long rows, int in, int out)
{
    if (rows == 0)
    {
        return true;
    }
    Product p{out, rows, in, true, false, w.ld, x.ld, y.ld, false, false, reluBias != nullptr};
    // Epilogues of double are not documented
    if (reluBias && !Impl::isDouble
        && impl_->multiply(stream, p, {w.data, x.data, y.data, reluBias}))
    {
        return true;
    }
    p.reluBias = false;
    require(impl_->multiply(stream, p, {w.data, x.data, y.data, nullptr}), rows, in, out);
    return false;
}


template<class T>
void Products<T>::inputGradient(Stream stream, Rows<const T> dy, Rows<const T> w, Rows<T> dx,
    long rows, int in, int out, bool add)
{
    if (rows > 0)
    {
        const Product p{in, rows, out, false, false, w.ld, dy.ld, dx.ld, false, add, false};
        require(impl_->multiply(stream, p, {w.data, dy.data, dx.data, nullptr}), rows, in, out);
    }
}


template<class T>
void Products<T>::weightGradient(Stream stream, Rows<const T> dy, Rows<const T> x,
    Rows<Accumulator<T>> dw, long rows, int in, int out)
{
    if (rows == 0)
    {
        C10_CUDA_CHECK(cudaMemset2DAsync(dw.data, dw.ld*sizeof(*dw.data), 0,
            in*sizeof(*dw.data), out, static_cast<cudaStream_t>(stream)));
        return;
    }
    const Product p{in, out, rows, false, true, x.ld, dy.ld, dw.ld, true, false, false};
    require(impl_->multiply(stream, p, {x.data, dy.data, dw.data, nullptr}), rows, in, out);
}

template class Products<double>;
template class Products<float>;
template class Products<BFloat16>;
template class Products<Float16>;


Stream currentStream(const at::Device& device)
{
    return c10::cuda::getCurrentCUDAStream(device.index()).stream();
}

}
}
