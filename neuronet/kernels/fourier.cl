// fourier.cl: passes of the fast Fourier transform, for rows whose matrix of sines would be too large.
//
//   X[k] = sum_n x[n] exp(-2 pi i k n / length)
//
// FourierLoad, a stage for each factor of the length, FourierStore. A length with a large prime factor goes
// through a power of two (`padded`), as a convolution with the chirp exp(-pi i n n/length): load, stages,
// FourierMultiply, the stages again, store. The inverse is the conjugate of the transform of the conjugate:
// flip = -1. Complex numbers are pairs re, im.
//
// Used by   ops/fourier.py       Checked against   reference/fourier.py
// Source    Stockham's form of Cooley & Tukey, as in Van Loan, Computational Frameworks for the FFT (1992),
//           1.7 and 2.4; Bluestein, IEEE Trans. Audio Electroacoustics 18 (1970). NeuroNet FFT; errata A7.
// Overwrites y everywhere.

static float2 times(const float2 a, const float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Bins 1 .. (length-1)/2 of a real signal's spectrum stand for their mirror images too.
static float mirrored(const int bin, const int length, const int hermitian)
{
    return hermitian && bin > 0 && 2 * bin != length ? 2.0f : 1.0f;
}

// y = scale x chirp, and 0 behind the entries that there are
// grid: padded, rows
__kernel void FourierLoad(
    __global const float *x,        // [rows, inputs, parts]
    __global const float *chirp,    // [length, 2]
    __global float *y,              // [rows, padded, 2]
    const int inputs, const int parts, const int length, const int padded, const int hermitian,
    const int flip, const float scale)
{
    const int n = get_global_id(0), row = get_global_id(1), at = min(n, inputs - 1);
    x += (row * inputs + at) * parts;               // every work-item reads: a branch here costs CPUs tenfold
    const float2 value = (float2)(x[0], parts > 1 ? flip * x[1] : 0.0f);
    const float2 turned = scale * mirrored(at, length, hermitian) * times(value, vload2(at, chirp));
    vstore2(n < inputs ? turned : (float2)0.0f, row * padded + n, y);
}

// Radix 4: `stride` transforms side by side are done, each of padded/stride values is cut into four.
// grid: quarter, rows
__kernel void FourierStage4(
    __global const float *x,        // [rows, 4, quarter, 2]
    __global const float *roots,    // [4, quarter, 2]
    __global float *y,              // [rows, 4, quarter, 2]
    const int quarter, const int stride)
{
    const int i = get_global_id(0), row = get_global_id(1), q = i % stride, p = i - q;
    x += 8 * row * quarter;
    y += 8 * row * quarter;
    const float2 a = vload2(i, x), b = vload2(i + quarter, x);
    const float2 c = vload2(i + 2 * quarter, x), d = vload2(i + 3 * quarter, x);
    const float2 even = a + c, odd = a - c, sum = b + d, turned = (float2)(b.y - d.y, d.x - b.x);   // -i (b - d)
    const int to = 4 * p + q;
    vstore2(even + sum, to, y);
    vstore2(times(odd + turned, vload2(p, roots)), to + stride, y);
    vstore2(times(even - sum, vload2(2 * p, roots)), to + 2 * stride, y);
    vstore2(times(odd - turned, vload2(3 * p, roots)), to + 3 * stride, y);
}

// Any other radix
// grid: part, rows
__kernel void FourierStage(
    __global const float *x,        // [rows, radix, part, 2]
    __global const float *roots,    // [radix, part, 2]
    __global float *y,              // [rows, radix, part, 2]
    const int radix, const int part, const int stride)
{
    const int i = get_global_id(0), row = get_global_id(1), q = i % stride, p = i - q;
    x += 2 * row * radix * part;
    y += 2 * row * radix * part;
    for (int j = 0; j < radix; ++j) {
        float2 sum = vload2(i, x);
        int turn = 0;                               // k * j % radix
        for (int k = 1; k < radix; ++k) {
            turn += j;
            if (turn >= radix) turn -= radix;
            sum += times(vload2(i + k * part, x), vload2(turn * part, roots));
        }
        vstore2(times(sum, vload2(j * p, roots)), radix * p + q + j * stride, y);
    }
}

// y = conj(x spectrum), so that the next transform goes back
// grid: padded, rows
__kernel void FourierMultiply(
    __global const float *x,        // [rows, padded, 2]
    __global const float *spectrum, // [padded, 2]
    __global float *y,              // [rows, padded, 2]
    const int padded)
{
    const int k = get_global_id(0), at = get_global_id(1) * padded + k;
    const float2 value = times(vload2(at, x), vload2(k, spectrum));
    vstore2((float2)(value.x, -value.y), at, y);
}

// y = scale x chirp of the first entries; back = -1 takes conj(x)
// grid: outputs, rows
__kernel void FourierStore(
    __global const float *x,        // [rows, padded, 2]
    __global const float *chirp,    // [length, 2]
    __global float *y,              // [rows, outputs, parts]
    const int padded, const int length, const int outputs, const int parts, const int hermitian,
    const int back, const int flip, const float scale)
{
    const int k = get_global_id(0), row = get_global_id(1);
    float2 value = vload2(row * padded + k, x);
    value.y *= back;
    value = scale * mirrored(k, length, hermitian) * times(value, vload2(k, chirp));
    y += (row * outputs + k) * parts;
    y[0] = value.x;
    if (parts > 1) y[1] = flip * value.y;
}
