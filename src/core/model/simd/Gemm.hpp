// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simd/Vector.hpp"

namespace inSitu
{
namespace
{

//- One product a·b of a sum of products. a is [m, k], b is [k, n] with padded rows.
//  Ordinary: a(i, l) = a[i*lda + l]; transposed: a(i, l) = a[l*lda + i].
template<class T>
struct Product
{
    const T* a;
    long lda;
    const T* b;
    long ldb;
    long k;
};


//- Rows x vectors of the sum, kept in registers; each element is a sequential sum over k
template<class T, bool transposed, int nRows, int nVectors, class Finish>
INSITU_INLINE void block(const Product<T>* products, int nProducts, long row, long vector,
    const Finish& finish)
{
    Vector<T> c[nRows][nVectors];
#pragma GCC unroll 16
    for (int i = 0; i < nRows; ++i)
    {
#pragma GCC unroll 16
        for (int j = 0; j < nVectors; ++j)
        {
            c[i][j] = Vector<T>{};
        }
    }

    for (int p = 0; p < nProducts; ++p)
    {
        const long lda = products[p].lda;
        const long ldb = products[p].ldb;
        const T* b = products[p].b + vector*lanes<T>;
        const T* a = products[p].a + (transposed ? row : row*lda);

        // One base per three rows: few address registers
        const T* base[(nRows + 2)/3];
#pragma GCC unroll 16
        for (int g = 0; g < (nRows + 2)/3; ++g)
        {
            base[g] = a + 3*g*lda;
        }

        for (long l = 0; l < products[p].k; ++l)
        {
            Vector<T> bl[nVectors];
#pragma GCC unroll 16
            for (int j = 0; j < nVectors; ++j)
            {
                bl[j] = load(b + j*lanes<T>);
            }
#pragma GCC unroll 16
            for (int i = 0; i < nRows; ++i)
            {
                const T ail = transposed ? a[i] : base[i/3][(i % 3)*lda];
#pragma GCC unroll 16
                for (int j = 0; j < nVectors; ++j)
                {
                    c[i][j] += ail*bl[j];
                }
            }
            b += ldb;
            a += lda;
#pragma GCC unroll 16
            for (int g = 0; g < (nRows + 2)/3; ++g)
            {
                ++base[g];
            }
        }
    }

#pragma GCC unroll 16
    for (int i = 0; i < nRows; ++i)
    {
#pragma GCC unroll 16
        for (int j = 0; j < nVectors; ++j)
        {
            finish(row + i, (vector + j)*lanes<T>, c[i][j]);
        }
    }
}


template<class T, bool transposed, int nVectors, class Finish>
INSITU_INLINE void panel(const Product<T>* products, int nProducts, long m, long vector,
    const Finish& finish)
{
    long row = 0;
    for (; row + blockRows <= m; row += blockRows)
    {
        block<T, transposed, blockRows, nVectors>(products, nProducts, row, vector, finish);
    }
    if (blockRows > 8 && row + 8 <= m)
    {
        block<T, transposed, 8, nVectors>(products, nProducts, row, vector, finish);
        row += 8;
    }
    if (blockRows > 4 && row + 4 <= m)
    {
        block<T, transposed, 4, nVectors>(products, nProducts, row, vector, finish);
        row += 4;
    }
    if (row + 2 <= m)
    {
        block<T, transposed, 2, nVectors>(products, nProducts, row, vector, finish);
        row += 2;
    }
    if (row < m)
    {
        block<T, transposed, 1, nVectors>(products, nProducts, row, vector, finish);
    }
}


//- Sum of products [m, n]; finish(row, column, vector) takes each vector of it once.
//  n counts padded columns.
template<class T, bool transposed, class Finish>
__attribute__((noinline)) void gemm(const Product<T>* products, int nProducts, long m, long n,
    const Finish finish)
{
    const long nVectors = n/lanes<T>;
    long vector = 0;
    for (; vector + 2 <= nVectors; vector += 2)
    {
        panel<T, transposed, 2>(products, nProducts, m, vector, finish);
    }
    if (vector < nVectors)
    {
        panel<T, transposed, 1>(products, nProducts, m, vector, finish);
    }
}

}
}
