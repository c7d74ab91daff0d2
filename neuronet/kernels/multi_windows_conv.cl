// multi_windows_conv.cl: convolutions of several windows over the same sequences, all in one launch.
//
//   z[n,u,q,f] = b[q,f] + sum_kd x[n, u*step + starts[q] + k, d] * w[k*dimension + d, f]      y = act(z)
//   k = 0 ... windows_in[q] - 1, d = 0 ... dimension - 1; x is 0 in front of the first position and behind the last
//
// w holds the taps of window 0, of window 1 and so on, each a row of all filters. Sequences, samples times
// variables, share the weights.
// Used by   ops/multi_windows_conv.py     Checked against   reference/multi_windows_conv.py
// NeuroNet  FeedForwardMultWinConvWPad, CalcHiddenGradientMultWinConvWPad;
//           errata D1-D7. There a filter's taps are neighbours, its bias the last of them.
// Overwrites y and dx, which is 0 where no window reaches. Gradients of w and b: multi_windows_weights.cl.

// --- any device ----------------------------------------------------------------------------

// The first row of w that belongs to window q
static int first_tap(__global const int *windows_in, const int q, const int dimension)
{
    int before = 0;
    for (int p = 0; p < q; ++p)
        before += windows_in[p];
    return before * dimension;
}

// grid: window_out, units*windows, batch
__kernel void FeedForwardMultWinConvWPad(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *w,            // [taps, window_out]
    __global const float *b,            // [windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *y,                  // [batch, units, windows, window_out]
    const int inputs, const int dimension, const int windows, const int window_out, const int units,
    const int step, const int activation)
{
    const int f = get_global_id(0), q = get_global_id(1) % windows, u = get_global_id(1) / windows;
    const int n = get_global_id(2), at = (u * step + starts[q]) * dimension;
    const int from = max(0, -at), to = min(windows_in[q] * dimension, inputs * dimension - at);
    x += n * inputs * dimension;
    w += first_tap(windows_in, q, dimension) * window_out + f;
    float z = b[q * window_out + f];
    for (int k = from; k < to; ++k)
        z += x[at + k] * w[k * window_out];
    y[((n * units + u) * windows + q) * window_out + f] = activate(z, activation);
}

// grid: dimension, inputs, batch
__kernel void CalcHiddenGradientMultWinConvWPad(
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const float *w,            // [taps, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *dx,                 // [batch, inputs, dimension]
    const int inputs, const int dimension, const int windows, const int window_out, const int units,
    const int step)
{
    const int d = get_global_id(0), i = get_global_id(1), n = get_global_id(2);
    float sum = 0.0f;
    for (int q = 0; q < windows; ++q) {
        const int window = windows_in[q], into = i - starts[q];
        const int last = into < 0 ? -1 : min(units - 1, into / step);
        for (int u = max(0, into - window + step) / step; u <= last; ++u) {     // every window that holds i
            __global const float *ds = dz + ((n * units + u) * windows + q) * window_out;
            __global const float *ws = w + ((into - u * step) * dimension + d) * window_out;
            for (int f = 0; f < window_out; ++f)
                sum += ds[f] * ws[f];
        }
        w += window * dimension * window_out;
    }
    dx[(n * inputs + i) * dimension + d] = sum;
}

// --- CPU: sums of 6 x 16 results at a time in registers --------------------------------------------

// Units first ... end - 1, numbered through all sequences, for up to 16 filters of one window
static void rows_forward(
    __global const float *x, __global const float *w, __global const float *b, __global float *y,
    const int first, const int end, const int columns, const int taps, const int start, const int size,
    const int dimension, const int row_out, const int window_out, const int units, const int step,
    const int activation)
{
    const float8 b_lo = load8(b, columns), b_hi = load8(b + 8, columns - 8);
    int n = first / units, u = first % units;       // of the next row
    for (int r0 = first; r0 < end; r0 += 6) {
        __global const float *row[6];
        float8 lo[6], hi[6];
        int at[6], lowest = 0, highest = 0;         // where the rows' first taps lie in their sequences
        #pragma unroll
        for (int r = 0; r < 6; ++r) {
            at[r] = (u * step + start) * dimension;
            row[r] = x + n * size + at[r];
            lowest = min(lowest, at[r]);
            highest = max(highest, at[r]);
            if (r0 + r + 1 < end && ++u == units) {
                u = 0;
                ++n;
            }
            lo[r] = b_lo;
            hi[r] = b_hi;
        }
        if (lowest >= 0 && highest + taps <= size)
            for (int k = 0; k < taps; ++k) {
                const float8 w_lo = load8(w + k * window_out, columns);
                const float8 w_hi = load8(w + k * window_out + 8, columns - 8);
                #pragma unroll
                for (int r = 0; r < 6; ++r) {
                    lo[r] += row[r][k] * w_lo;
                    hi[r] += row[r][k] * w_hi;
                }
            }
        else
            for (int k = 0; k < taps; ++k) {
                const float8 w_lo = load8(w + k * window_out, columns);
                const float8 w_hi = load8(w + k * window_out + 8, columns - 8);
                #pragma unroll
                for (int r = 0; r < 6; ++r) {
                    const float value = (uint)(at[r] + k) < (uint)size ? row[r][k] : 0.0f;
                    lo[r] += value * w_lo;
                    hi[r] += value * w_hi;
                }
            }
        float8 z[12];
        #pragma unroll
        for (int r = 0; r < 6; ++r) {
            z[2 * r] = lo[r];
            z[2 * r + 1] = hi[r];
        }
        for (int r = 0; r < min(6, end - r0); ++r) {
            __global float *out = y + (r0 + r) * row_out;
            store8(activate8(z[2 * r], activation), out, columns);
            store8(activate8(z[2 * r + 1], activation), out + 8, columns - 8);
        }
    }
}

// group: 1
// grid: batch*units/48
__kernel void FeedForwardMultWinConvWPadCPU(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *w,            // [taps, window_out]
    __global const float *b,            // [windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *y,                  // [batch, units, windows, window_out]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step, const int activation)
{
    const int first = 48 * get_global_id(0), end = min(first + 48, batch * units);
    for (int q = 0; q < windows; ++q) {
        const int taps = windows_in[q] * dimension;
        for (int f = 0; f < window_out; f += 16)
            rows_forward(x, w + f, b + f, y + f, first, end, window_out - f, taps, starts[q],
                         inputs * dimension, dimension, windows * window_out, window_out, units, step,
                         activation);
        w += taps * window_out;
        b += window_out;
        y += window_out;
    }
}

#define SPAN 128    // positions per work-item of the hidden gradient
#define PANEL 128   // filters whose weights it holds at a time

// group: 1, 1
// grid: inputs/128, batch
__kernel void CalcHiddenGradientMultWinConvWPadCPU(
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const float *w,            // [taps, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *dx,                 // [batch, inputs, dimension]
    const int inputs, const int dimension, const int windows, const int window_out, const int units,
    const int step)
{
    const int i0 = SPAN * get_global_id(0), i1 = min(i0 + SPAN, inputs), n = get_global_id(1);
    const int begin = i0 * dimension, end = i1 * dimension;
    float8 panel[PANEL];
    dx += n * inputs * dimension;
    dz += n * units * windows * window_out;
    for (int i = begin; i < end; ++i)
        dx[i] = 0.0f;
    for (int q = 0; q < windows; ++q) {
        const int window = windows_in[q], taps = window * dimension, start = starts[q];
        const int first = max(0, i0 - start - window + step) / step;
        const int last = i1 - 1 < start ? -1 : min(units - 1, (i1 - 1 - start) / step);
        for (int k = 0; k < taps; k += 8)
            for (int f0 = 0; f0 < window_out; f0 += PANEL) {
                const int filters = min(PANEL, window_out - f0);
                for (int f = 0; f < filters; ++f)
                    panel[f] = gather8(w + k * window_out + f0 + f, window_out, taps - k);
                for (int u0 = first; u0 <= last; u0 += 8) {     // 8 units x 8 taps
                    __global const float *row[8];
                    float8 sum[8];
                    #pragma unroll
                    for (int j = 0; j < 8; ++j) {
                        row[j] = dz + (min(u0 + j, last) * windows + q) * window_out + f0;
                        sum[j] = 0.0f;
                    }
                    for (int f = 0; f < filters; ++f) {
                        const float8 tap = panel[f];
                        #pragma unroll
                        for (int j = 0; j < 8; ++j)
                            sum[j] += row[j][f] * tap;
                    }
                    for (int j = 0; j < min(8, last + 1 - u0); ++j) {
                        const int at = ((u0 + j) * step + start) * dimension + k;
                        if (at >= begin && at + 8 <= end) {     // zeros behind the last tap
                            store8(load8(dx + at, 8) + sum[j], dx + at, 8);
                            continue;
                        }
                        float each[8];
                        vstore8(sum[j], 0, each);
                        for (int t = max(0, begin - at); t < min(min(8, taps - k), end - at); ++t)
                            dx[at + t] += each[t];
                    }
                }
            }
        w += taps * window_out;
    }
}

// --- GPU -----------------------------------------------------------------------------------------

#define DEPTH 16    // terms per pass over a tile

// A work-group's 128 rows x 32 filters, 4 x 4 per work-item
// group: 8, 32, 1
// grid: window_out/32*8, batch*units/128*32, windows
__kernel void FeedForwardMultWinConvWPadGPU(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *w,            // [taps, window_out]
    __global const float *b,            // [windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *y,                  // [batch, units, windows, window_out]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step, const int activation)
{
    __local float x_tile[DEPTH * 132], w_tile[DEPTH * 36];
    const int lx = get_local_id(0), ly = get_local_id(1), q = get_group_id(2), lane = ly * 8 + lx;
    const int row = 128 * get_group_id(1), filter = 32 * get_group_id(0), rows = batch * units;
    const int taps = windows_in[q] * dimension, size = inputs * dimension, k_x = lane % 16;
    int at[8], base[8];                             // of the 8 rows that this work-item loads
    #pragma unroll
    for (int j = 0; j < 8; ++j) {
        const int r = min(row + lane / 16 + 16 * j, rows - 1);
        at[j] = (r % units * step + starts[q]) * dimension;
        base[j] = r / units * size;
    }
    w += first_tap(windows_in, q, dimension) * window_out;
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < taps; k0 += DEPTH) {
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
            const int i = at[j] + k0 + k_x;
            x_tile[k_x * 132 + lane / 16 + 16 * j] = k0 + k_x < taps && i >= 0 && i < size ? x[base[j] + i] : 0.0f;
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int k = lane / 32 + 8 * j, f = filter + lane % 32;
            w_tile[k * 36 + lane % 32] = k0 + k < taps && f < window_out ? w[(k0 + k) * window_out + f] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 p = vload4(ly, x_tile + k * 132), c = vload4(lx, w_tile + k * 36);
            sum[0] += p.s0 * c;
            sum[1] += p.s1 * c;
            sum[2] += p.s2 * c;
            sum[3] += p.s3 * c;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + 4 * ly + i;
        if (r >= rows) break;
        float z[4];
        vstore4(sum[i], 0, z);
        for (int j = 0; j < 4; ++j) {
            const int f = filter + 4 * lx + j;
            if (f < window_out)
                y[(r * windows + q) * window_out + f] = activate(z[j] + b[q * window_out + f], activation);
        }
    }
}

// A work-group's 64 positions x 32 of their values, 4 x 2 per work-item
// group: 16, 16
// grid: dimension/32*16, batch*inputs/64*16
__kernel void CalcHiddenGradientMultWinConvWPadGPU(
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const float *w,            // [taps, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *dx,                 // [batch, inputs, dimension]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step)
{
    __local float dz_tile[DEPTH * 68], w_tile[DEPTH * 34];
    const int lx = get_local_id(0), ly = get_local_id(1), rows = batch * inputs;
    const int row = 64 * get_group_id(1), d0 = 32 * get_group_id(0);
    float2 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int q = 0; q < windows; ++q) {
        const int window = windows_in[q];
        for (int k = 0; k < window; ++k)
            for (int f0 = 0; f0 < window_out; f0 += DEPTH) {
                const bool inside = f0 + lx < window_out;
                #pragma unroll
                for (int j = 0; j < 4; ++j) {           // the unit whose tap k lies on the position, if any
                    const int r = min(row + ly + 16 * j, rows - 1), into = r % inputs - starts[q] - k;
                    const int u = into / step;
                    const bool hit = inside && into >= 0 && u * step == into && u < units;
                    dz_tile[lx * 68 + ly + 16 * j] =
                        hit ? dz[((r / inputs * units + u) * windows + q) * window_out + f0 + lx] : 0.0f;
                }
                #pragma unroll
                for (int j = 0; j < 2; ++j) {
                    const int d = d0 + ly + 16 * j;
                    w_tile[lx * 34 + ly + 16 * j] =
                        inside && d < dimension ? w[(k * dimension + d) * window_out + f0 + lx] : 0.0f;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                #pragma unroll
                for (int f = 0; f < DEPTH; ++f) {
                    const float4 p = vload4(ly, dz_tile + f * 68);
                    const float2 c = vload2(lx, w_tile + f * 34);
                    sum[0] += p.s0 * c;
                    sum[1] += p.s1 * c;
                    sum[2] += p.s2 * c;
                    sum[3] += p.s3 * c;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        w += window * dimension * window_out;
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + 4 * ly + i, d = d0 + 2 * lx;
        if (r >= rows) break;
        if (d < dimension) dx[r * dimension + d] = sum[i].s0;
        if (d + 1 < dimension) dx[r * dimension + d + 1] = sum[i].s1;
    }
}
