// SPDX-License-Identifier: GPL-3.0-or-later
#include "MpiComm.hpp"

#include "MpiChannel.hpp"
#include "MpiExchange.hpp"
#include "MpiWindow.hpp"
#include "base/Error.hpp"
#include "base/agree.hpp"
#include "mpiCheck.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <list>

namespace inSitu
{

namespace
{

MPI_Datatype typeOf(float) { return MPI_FLOAT; }
MPI_Datatype typeOf(double) { return MPI_DOUBLE; }


//- MPI_MAX leaves open what becomes of a not-a-number; here one stays
void largest(void* in, void* inOut, int* length, MPI_Datatype*)
{
    const auto* a = static_cast<const double*>(in);
    auto* b = static_cast<double*>(inOut);
    for (int i = 0; i < *length; ++i)
    {
        b[i] = a[i] > b[i] || a[i] != a[i] ? a[i] : b[i];
    }
}

}


struct MpiComm::Impl
{
    //- A call on its way, with the memory that MPI works on
    struct Operation
    {
        std::vector<MPI_Request> requests;
        std::vector<Bytes> memory;
    };

    using Operations = std::list<Operation>;

    //- A sum or maximum, and where the result goes
    struct Reduction
    {
        Operations::iterator operation;
        void* values;
        std::size_t nBytes;
    };

    //- arguments: of the channel
    template<class... Arguments>
    explicit Impl(std::size_t piece, const Arguments&... arguments)
    :
        channel(arguments...),
        piece(std::min<std::size_t>(piece, INT_MAX))
    {
        mpiCheck(MPI_Op_create(&largest, 1, &max), "MPI_Op_create");
    }

    ~Impl()
    {
        if (mpiRuns())
        {
            MPI_Op_free(&max);
        }
    }

    Operations::iterator begin()
    {
        return active.emplace(active.end());
    }

    //- With memory for so many bytes, that of an earlier one if possible
    Operations::iterator begin(std::size_t nBytes)
    {
        auto found = std::find_if(idle.begin(), idle.end(), [nBytes](const Operation& operation)
        {
            return operation.memory[0].capacity() >= nBytes;
        });
        if (found == idle.end())
        {
            found = idle.emplace(idle.end());
            found->memory.resize(1);
        }
        active.splice(active.end(), idle, found);
        found->memory[0].resize(nBytes);
        found->requests.clear();
        return found;
    }

    void count(std::size_t nBytes)
    {
        ++channel.traffic.sums;
        channel.traffic.summedBytes += nBytes;
    }

    template<class T>
    Reduction reduce(Span<T> values, MPI_Op operation)
    {
        if (values.size() > INT_MAX)
        {
            throw Error("a sum of " + std::to_string(values.size())
              + " values is more than MPI counts; several sums are needed");
        }
        const std::size_t nBytes = values.size()*sizeof(T);
        count(nBytes);

        const Reduction reduction{begin(nBytes), values.data(), nBytes};
        Bytes& memory = reduction.operation->memory[0];
        if (nBytes > 0)
        {
            std::memcpy(memory.data(), values.data(), nBytes);
        }
        mpiCheck(MPI_Iallreduce(MPI_IN_PLACE, memory.data(), static_cast<int>(values.size()),
            typeOf(T()), operation, channel.comm(), request(*reduction.operation)),
            "MPI_Iallreduce");
        return reduction;
    }

    void finish(const Reduction& reduction)
    {
        channel.wait(reduction.operation->requests, "MPI_Iallreduce");
        if (reduction.nBytes > 0)
        {
            std::memcpy(reduction.values, reduction.operation->memory[0].data(),
                reduction.nBytes);
        }
        idle.splice(idle.end(), active, reduction.operation);
    }

    //- A new one; valid until the next
    static MPI_Request* request(Operation& operation)
    {
        operation.requests.push_back(MPI_REQUEST_NULL);
        return &operation.requests.back();
    }

    //- Call body(first byte, number of bytes) for each piece of a message
    template<class Body>
    void inPieces(Bytes& bytes, const Body& body) const
    {
        for (std::size_t first = 0; first < bytes.size(); first += piece)
        {
            body(bytes.data() + first, static_cast<int>(std::min(piece, bytes.size() - first)));
        }
    }

    void send(Operation& operation, Bytes& bytes, int to)
    {
        inPieces(bytes, [&](std::uint8_t* first, int n)
        {
            mpiCheck(MPI_Isend(first, n, MPI_BYTE, to, MpiChannel::collectiveTag, channel.comm(),
                request(operation)), "MPI_Isend");
        });
    }

    void receive(Operation& operation, Bytes& bytes, int from)
    {
        inPieces(bytes, [&](std::uint8_t* first, int n)
        {
            mpiCheck(MPI_Irecv(first, n, MPI_BYTE, from, MpiChannel::collectiveTag,
                channel.comm(), request(operation)), "MPI_Irecv");
        });
    }

    MpiChannel channel;
    const std::size_t piece;
    MPI_Op max = MPI_OP_NULL;
    Operations active;
    Operations idle;                    //!< with memory for sums
    std::vector<Reduction> sums;        //!< started and not finished
};


MpiComm::MpiComm(MPI_Comm parent, std::size_t piece)
:
    impl_(std::make_unique<Impl>(piece, parent))
{}


MpiComm::MpiComm(std::unique_ptr<Impl> impl)
:
    impl_(std::move(impl))
{}


MpiComm::~MpiComm()
{
    if (!impl_->channel.sound() || !impl_->active.empty())
    {
        abandon(std::move(impl_));
    }
}


int MpiComm::rank() const
{
    return impl_->channel.rank();
}


int MpiComm::size() const
{
    return impl_->channel.size();
}


int MpiComm::nodeSize() const
{
    return impl_->channel.nodeSize();
}


int MpiComm::node() const
{
    return impl_->channel.node();
}


int MpiComm::numberOf(int rank) const
{
    return impl_->channel.numberOf(rank);
}


std::shared_ptr<Comm> MpiComm::part(int number, Waiting waiting) const
{
    impl_->channel.check();
    MPI_Comm comm = MPI_COMM_NULL;
    mpiCheck(MPI_Comm_split(impl_->channel.comm(), number < 0 ? MPI_UNDEFINED : number, 0, &comm),
        "MPI_Comm_split");
    if (comm == MPI_COMM_NULL)
    {
        return nullptr;
    }
    return std::shared_ptr<Comm>(new MpiComm(
        std::make_unique<Impl>(impl_->piece, impl_->channel, comm, waiting)));
}


std::unique_ptr<SharedWindow> MpiComm::shared(std::size_t bytes) const
{
    // Where there is no room MPI lets those wait for ever that are not the first to notice. What
    // other groups of the node ask for at the same moment is not known here.
    const std::string fault = textOfMaster(*this,
        rank() == 0 ? MpiWindow::complaintAboutRoom(bytes) : std::string());
    if (!fault.empty())
    {
        throw AgreedError(fault);
    }
    return std::make_unique<MpiWindow>(impl_->channel, bytes);
}


void MpiComm::sum(Span<double> values) const
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
    impl_->finish(impl_->reduce(values, MPI_SUM));
}


void MpiComm::max(Span<double> values) const
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
    impl_->finish(impl_->reduce(values, impl_->max));
}


void MpiComm::startSum(Span<float> values)
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
    impl_->sums.push_back(impl_->reduce(values, MPI_SUM));
}


void MpiComm::startSum(Span<double> values)
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
    impl_->sums.push_back(impl_->reduce(values, MPI_SUM));
}


void MpiComm::finishSums()
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
    for (const Impl::Reduction& sum : impl_->sums)
    {
        impl_->finish(sum);
    }
    impl_->sums.clear();
}


void MpiComm::broadcast(Bytes& bytes) const
{
    Impl& impl = *impl_;
    const TrafficTimer timer(impl.channel.traffic);
    impl.channel.check();
    impl.count(isMaster() ? bytes.size() : 0);

    const auto operation = impl.begin();
    std::vector<Bytes>& memory = operation->memory;
    memory.resize(2);

    std::uint64_t size = bytes.size();
    memory[0].resize(sizeof(size));
    std::memcpy(memory[0].data(), &size, sizeof(size));
    mpiCheck(MPI_Ibcast(memory[0].data(), 1, MPI_UINT64_T, 0, impl.channel.comm(),
        Impl::request(*operation)), "MPI_Ibcast");
    impl.channel.wait(operation->requests, "MPI_Ibcast");
    std::memcpy(&size, memory[0].data(), sizeof(size));

    if (isMaster())
    {
        memory[1].swap(bytes);
    }
    else
    {
        memory[1].resize(size);
    }
    operation->requests.clear();
    impl.inPieces(memory[1], [&](std::uint8_t* first, int n)
    {
        mpiCheck(MPI_Ibcast(first, n, MPI_BYTE, 0, impl.channel.comm(),
            Impl::request(*operation)), "MPI_Ibcast");
    });
    impl.channel.wait(operation->requests, "MPI_Ibcast");

    bytes.swap(memory[1]);
    impl.active.erase(operation);
}


std::vector<Comm::Bytes> MpiComm::gather(const Bytes& bytes) const
{
    Impl& impl = *impl_;
    const TrafficTimer timer(impl.channel.traffic);
    impl.channel.check();
    impl.count(bytes.size());

    const std::uint64_t size = bytes.size();
    const auto nRanks = static_cast<std::size_t>(impl.channel.size());
    const auto operation = impl.begin();
    std::vector<Bytes>& memory = operation->memory;
    memory.resize(3);

    memory[0].resize(sizeof(size));
    memory[1].resize(isMaster() ? nRanks*sizeof(size) : 0);
    std::memcpy(memory[0].data(), &size, sizeof(size));
    mpiCheck(MPI_Igather(memory[0].data(), 1, MPI_UINT64_T, memory[1].data(), 1, MPI_UINT64_T, 0,
        impl.channel.comm(), Impl::request(*operation)), "MPI_Igather");
    impl.channel.wait(operation->requests, "MPI_Igather");
    operation->requests.clear();

    std::vector<Bytes> all;
    if (isMaster())
    {
        std::vector<std::uint64_t> sizes(nRanks);
        std::memcpy(sizes.data(), memory[1].data(), memory[1].size());
        memory.resize(nRanks);
        memory[0] = bytes;
        for (std::size_t from = 1; from < nRanks; ++from)
        {
            memory[from].resize(sizes[from]);
            impl.receive(*operation, memory[from], static_cast<int>(from));
        }
    }
    else
    {
        memory[2] = bytes;
        impl.send(*operation, memory[2], 0);
    }
    impl.channel.wait(operation->requests, "a gather");

    if (isMaster())
    {
        all.swap(memory);
    }
    impl.active.erase(operation);
    return all;
}


std::vector<Comm::Bytes> MpiComm::swap(const std::vector<Bytes>& outgoing) const
{
    Impl& impl = *impl_;
    const TrafficTimer timer(impl.channel.traffic);
    impl.channel.check();

    const auto nRanks = static_cast<std::size_t>(impl.channel.size());
    const auto self = static_cast<std::size_t>(impl.channel.rank());
    if (outgoing.size() != nRanks)
    {
        throw Error("messages for " + std::to_string(outgoing.size()) + " ranks of "
          + std::to_string(nRanks));
    }

    std::vector<std::uint64_t> sizes(nRanks);
    std::uint64_t toOthers = 0;
    for (std::size_t to = 0; to < nRanks; ++to)
    {
        sizes[to] = outgoing[to].size();
        toOthers += to == self ? 0 : sizes[to];
    }
    impl.count(toOthers);

    // Sizes to and from the ranks, then messages to and from them
    const auto operation = impl.begin();
    std::vector<Bytes>& memory = operation->memory;
    memory.resize(2*nRanks + 2);
    Bytes& sizesOut = memory[2*nRanks];
    Bytes& sizesIn = memory[2*nRanks + 1];
    sizesOut.resize(nRanks*sizeof(std::uint64_t));
    sizesIn.resize(sizesOut.size());
    std::memcpy(sizesOut.data(), sizes.data(), sizesOut.size());
    mpiCheck(MPI_Ialltoall(sizesOut.data(), 1, MPI_UINT64_T, sizesIn.data(), 1, MPI_UINT64_T,
        impl.channel.comm(), Impl::request(*operation)), "MPI_Ialltoall");
    impl.channel.wait(operation->requests, "MPI_Ialltoall");
    operation->requests.clear();
    std::memcpy(sizes.data(), sizesIn.data(), sizesIn.size());

    for (std::size_t from = 0; from < nRanks; ++from)
    {
        if (from != self)
        {
            memory[nRanks + from].resize(sizes[from]);
            impl.receive(*operation, memory[nRanks + from], static_cast<int>(from));
        }
    }
    for (std::size_t to = 0; to < nRanks; ++to)
    {
        if (to != self)
        {
            memory[to] = outgoing[to];
            impl.send(*operation, memory[to], static_cast<int>(to));
        }
    }
    impl.channel.wait(operation->requests, "a swap");

    std::vector<Bytes> incoming
    (
        std::make_move_iterator(memory.begin() + nRanks),
        std::make_move_iterator(memory.begin() + 2*nRanks)
    );
    incoming[self] = outgoing[self];
    impl.active.erase(operation);
    return incoming;
}


std::unique_ptr<Exchange> MpiComm::exchange(const std::vector<Neighbour>& neighbours)
{
    return std::make_unique<MpiExchange>(impl_->channel, neighbours);
}


void MpiComm::progress()
{
    const TrafficTimer timer(impl_->channel.traffic);
    impl_->channel.check();
}


void MpiComm::leave(const std::string& reason) noexcept
{
    impl_->channel.leave(reason);
}


Traffic MpiComm::traffic() const
{
    return impl_->channel.traffic;
}


std::shared_ptr<Comm> MpiComm::forThread()
{
    if (size() == 1)
    {
        return std::make_shared<SerialComm>();
    }
    if (!impl_->channel.anyThread())
    {
        throw Error("MPI does not let two threads of a rank work at a time here, since OpenFOAM has"
            " not started it for that (MPI_THREAD_MULTIPLE); it does with '-fileHandler collated'"
            " and OptimisationSwitches { maxThreadFileBufferSize 1e9; } in its etc/controlDict");
    }
    // A communicator is made without looking out for who has left: so all come here first
    double nHere = 1;
    sum(Span<double>(&nHere, 1));
    return std::shared_ptr<Comm>(new MpiComm(
        std::make_unique<Impl>(impl_->piece, impl_->channel, MpiChannel::ForThread())));
}


void MpiComm::interrupt() noexcept
{
    impl_->channel.interrupt();
}

}
