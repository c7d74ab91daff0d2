// conv.cl: one-dimensional convolution without padding; each variable has its own filters.
//
//   z[n,v,u,f] = b[v,f] + sum_k x[n, v, u*step + k] * w[v,f,k]       y = act(z)
//
// Used by   ops/conv.py, ops/dense.py     Checked against   reference/conv.py
// NeuroNet  FeedForwardConv, CalcHiddenGradientConv, UpdateWeightsConvAdam; errata F1-F4. There the bias is
//           the last tap of each filter.
// Overwrites y and dx (0 where no window reaches); adds to dw and db. Windows may overlap or leave holes.

// --- any device ----------------------------------------------------------------------------

// grid: window_out, units, batch*variables
__kernel void FeedForwardConv(
    __global const float *x,    // [batch, variables, length]
    __global const float *w,    // [variables, window_out, window]
    __global const float *b,    // [variables, window_out]
    __global float *y,          // [batch, variables, units, window_out]
    const int variables, const int length, const int window, const int units, const int window_out,
    const int step, const int activation)
{
    const int f = get_global_id(0), u = get_global_id(1), nv = get_global_id(2);
    const int filter = nv % variables * window_out + f;
    x += nv * length + u * step;
    w += filter * window;
    float z = b[filter];
    for (int k = 0; k < window; ++k)
        z += x[k] * w[k];
    y[(nv * units + u) * window_out + f] = activate(z, activation);
}

// grid: length, batch*variables
__kernel void CalcHiddenGradientConv(
    __global const float *dz,   // [batch, variables, units, window_out]
    __global const float *w,    // [variables, window_out, window]
    __global float *dx,         // [batch, variables, length]
    const int variables, const int length, const int window, const int units, const int window_out,
    const int step)
{
    const int i = get_global_id(0), nv = get_global_id(1);
    const int first = max(0, i - window + step) / step, last = min(units - 1, i / step);
    dz += nv * units * window_out;
    w += nv % variables * window_out * window + i;
    float sum = 0.0f;
    for (int u = first; u <= last; ++u)             // every window that holds this input
        for (int f = 0; f < window_out; ++f)
            sum += dz[u * window_out + f] * w[f * window - u * step];
    dx[nv * length + i] = sum;
}

// Gradient of tap k of filter f of variable v, or of the filter's bias for k = window.
static float weight_gradient(
    __global const float *x, __global const float *dz, const int v, const int f, const int k,
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    float sum = 0.0f;
    for (int n = 0; n < batch; ++n)
        for (int u = 0; u < units; ++u) {
            const float d = dz[((n * variables + v) * units + u) * window_out + f];
            sum += d * (k < window ? x[(n * variables + v) * length + u * step + k] : 1.0f);
        }
    return sum;
}

// grid: window + 1, window_out, variables
__kernel void WeightGradientConv(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *dw,         // [variables, window_out, window]
    __global float *db,         // [variables, window_out]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    const int k = get_global_id(0), f = get_global_id(1), v = get_global_id(2);
    const float g = weight_gradient(x, dz, v, f, k, batch, variables, length, window, units, window_out,
                                    step);
    const int filter = v * window_out + f;
    if (k < window) dw[filter * window + k] += g;
    else db[filter] += g;
}

// grid: window + 1, window_out, variables
__kernel void UpdateWeightsConvAdam(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *w,          // [variables, window_out, window]
    __global float *b,          // [variables, window_out]
    __global float *w_m,        // [variables, window_out, window]
    __global float *w_v,        // [variables, window_out, window]
    __global float *b_m,        // [variables, window_out]
    __global float *b_v,        // [variables, window_out]
    __global const float *hyper, // [9]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    const int k = get_global_id(0), f = get_global_id(1), v = get_global_id(2);
    const float g = weight_gradient(x, dz, v, f, k, batch, variables, length, window, units, window_out,
                                    step);
    const int filter = v * window_out + f, at = filter * window + k;
    if (k < window) adam(w + at, w_m + at, w_v + at, g, hyper);
    else adam(b + filter, b_m + filter, b_v + filter, g, hyper);
}

// --- CPU: sums of 6 x 16 results at a time in registers --------------------------------------------

#define CHUNK 256   // taps per pass over a panel; 16 filters of them stay in the L1 cache

// group: 1, 1, 1
// grid: batch*units/48, window_out/16, variables
__kernel void FeedForwardConvCPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *w,    // [variables, window_out, window]
    __global const float *b,    // [variables, window_out]
    __global float *y,          // [batch, variables, units, window_out]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step, const int activation)
{
    const int first = 48 * get_global_id(0), last = min(first + 48, batch * units);
    const int f = 16 * get_global_id(1), v = get_global_id(2), columns = window_out - f;
    w += (v * window_out + f) * window;
    b += v * window_out + f;
    float8 panel[2 * CHUNK];                        // taps x filters, zeros behind the last filter
    for (int k0 = 0; k0 < window; k0 += CHUNK) {
        const int depth = min(CHUNK, window - k0);
        for (int k = 0; k < depth; ++k) {
            panel[2 * k] = gather8(w + k0 + k, window, columns);
            panel[2 * k + 1] = gather8(w + 8 * window + k0 + k, window, columns - 8);
        }
        for (int r0 = first; r0 < last; r0 += 6) {
            __global const float *row[6];
            __global float *out[6];
            float8 lo[6], hi[6];
            #pragma unroll
            for (int r = 0; r < 6; ++r) {
                const int at = min(r0 + r, last - 1), nv = at / units * variables + v, u = at % units;
                row[r] = x + nv * length + u * step + k0;
                out[r] = y + (nv * units + u) * window_out + f;
                __global const float *start = k0 ? out[r] : b;
                lo[r] = load8(start, columns);
                hi[r] = load8(start + 8, columns - 8);
            }
            for (int k = 0; k < depth; ++k) {
                const float8 w_lo = panel[2 * k], w_hi = panel[2 * k + 1];
                #pragma unroll
                for (int r = 0; r < 6; ++r) {
                    lo[r] += row[r][k] * w_lo;
                    hi[r] += row[r][k] * w_hi;
                }
            }
            const int act = k0 + CHUNK < window ? ACT_NONE : activation;
            #pragma unroll
            for (int r = 0; r < 6; ++r)
                if (r0 + r < last) {
                    store8(activate8(lo[r], act), out[r], columns);
                    if (columns > 8) store8(activate8(hi[r], act), out[r] + 8, columns - 8);
                }
        }
    }
}

#define SPAN 256    // inputs per work-item of the hidden gradient
#define PANEL 128   // filters whose weights it holds at a time

// group: 1, 1
// grid: length/256, batch*variables
__kernel void CalcHiddenGradientConvCPU(
    __global const float *dz,   // [batch, variables, units, window_out]
    __global const float *w,    // [variables, window_out, window]
    __global float *dx,         // [batch, variables, length]
    const int variables, const int length, const int window, const int units, const int window_out,
    const int step)
{
    const int i0 = SPAN * get_global_id(0), i1 = min(i0 + SPAN, length), nv = get_global_id(1);
    const int first = max(0, i0 - window + step) / step, last = min(units - 1, (i1 - 1) / step);
    float8 panel[PANEL];
    dz += nv * units * window_out;
    w += nv % variables * window_out * window;
    dx += nv * length;
    for (int i = i0; i < i1; ++i)
        dx[i] = 0.0f;
    for (int k = 0; k < window; k += 8)
        for (int f0 = 0; f0 < window_out; f0 += PANEL) {
            const int filters = min(PANEL, window_out - f0);
            for (int f = 0; f < filters; ++f)
                panel[f] = load8(w + (f0 + f) * window + k, window - k);
            for (int u0 = first; u0 <= last; u0 += 8) {     // 8 windows x 8 of their taps
                __global const float *row[8];
                float8 sum[8];
                #pragma unroll
                for (int j = 0; j < 8; ++j) {
                    row[j] = dz + min(u0 + j, last) * window_out + f0;
                    sum[j] = 0.0f;
                }
                for (int f = 0; f < filters; ++f) {
                    const float8 taps = panel[f];
                    #pragma unroll
                    for (int j = 0; j < 8; ++j)
                        sum[j] += row[j][f] * taps;
                }
                for (int j = 0; j < min(8, last + 1 - u0); ++j) {
                    const int from = (u0 + j) * step + k;
                    if (from >= i0 && from + 8 <= i1 && k + 8 <= window) {
                        store8(load8(dx + from, 8) + sum[j], dx + from, 8);
                        continue;
                    }
                    float tap[8];
                    vstore8(sum[j], 0, tap);
                    for (int t = max(0, i0 - from); t < min(min(8, window - k), i1 - from); ++t)
                        dx[from + t] += tap[t];
                }
            }
        }
}

#define SPREAD 64   // taps per work-item of a weight gradient

// g[r][t] += sum over samples and units of dz[.., r] * x[.., t] for 4 filters x 16 taps
static void add_taps(__global const float *x, const int x_sample, const int step,
                     __global const float *dz, const int dz_sample, const int window_out,
                     const int last_filter, const int samples, const int units, float *g)
{
    float8 lo[4], hi[4];
    int at[4];
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
        at[r] = min(r, last_filter);
        lo[r] = vload8(0, g + r * SPREAD);
        hi[r] = vload8(1, g + r * SPREAD);
    }
    for (int n = 0; n < samples; ++n)
        for (int u = 0; u < units; ++u) {
            __global const float *xs = x + n * x_sample + u * step;
            __global const float *ds = dz + n * dz_sample + u * window_out;
            const float8 x_lo = load8(xs, 8), x_hi = load8(xs + 8, 8);
            #pragma unroll
            for (int r = 0; r < 4; ++r) {
                lo[r] += ds[at[r]] * x_lo;
                hi[r] += ds[at[r]] * x_hi;
            }
        }
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
        vstore8(lo[r], 0, g + r * SPREAD);
        vstore8(hi[r], 1, g + r * SPREAD);
    }
}

// The same for 8 filters x 8 taps: for the last taps of a window
static void add_last_taps(__global const float *x, const int x_sample, const int step,
                          __global const float *dz, const int dz_sample, const int window_out,
                          const int last_filter, const int samples, const int units, float *g)
{
    float8 sum[8];
    int at[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        at[r] = min(r, last_filter);
        sum[r] = vload8(0, g + r * SPREAD);
    }
    for (int n = 0; n < samples; ++n)
        for (int u = 0; u < units; ++u) {
            const float8 taps = load8(x + n * x_sample + u * step, 8);
            __global const float *ds = dz + n * dz_sample + u * window_out;
            #pragma unroll
            for (int r = 0; r < 8; ++r)
                sum[r] += ds[at[r]] * taps;
        }
    #pragma unroll
    for (int r = 0; r < 8; ++r)
        vstore8(sum[r], 0, g + r * SPREAD);
}

// The sums of 8 filters x 8 taps with lanes across filters: for windows shorter than 16
static void add_filters(__global const float *x, const int x_sample, const int step, const int last_tap,
                        __global const float *dz, const int dz_sample, const int window_out,
                        const int filters, const int samples, const int units, float *g)
{
    float8 sum[8];
    int at[8];
    #pragma unroll
    for (int t = 0; t < 8; ++t) {
        at[t] = min(t, last_tap);
        sum[t] = 0.0f;
    }
    for (int n = 0; n < samples; ++n)
        for (int u = 0; u < units; ++u) {
            __global const float *xs = x + n * x_sample + u * step;
            const float8 d = load8(dz + n * dz_sample + u * window_out, filters);
            #pragma unroll
            for (int t = 0; t < 8; ++t)
                sum[t] += xs[at[t]] * d;
        }
    for (int t = 0; t < 8; ++t) {
        float each[8];
        vstore8(sum[t], 0, each);
        for (int r = 0; r < 8; ++r)
            g[r * SPREAD + t] = each[r];
    }
}

// b[r] += sum over samples and units of dz[.., r]
static void add_biases(__global const float *dz, const int dz_sample, const int window_out, const int filters,
                       const int samples, const int units, float *b)
{
    for (int r = 0; r < filters; r += 8) {
        float8 sum = vload8(0, b + r);
        for (int n = 0; n < samples; ++n)
            for (int u = 0; u < units; ++u)
                sum += load8(dz + n * dz_sample + u * window_out + r, filters - r);
        vstore8(sum, 0, b + r);
    }
}

// Gradients of up to 32 filters x 64 taps from tap `first` on, at g[r * SPREAD + t], and of biases at b
static void weight_sums(__global const float *x, const int x_sample, const int step, const int first,
                        const int window, __global const float *dz, const int dz_sample, const int window_out,
                        const int filters, const int batch, const int units, float *g, float *b)
{
    for (int i = 0; i < UP8(filters) * SPREAD; ++i)
        g[i] = 0.0f;
    for (int r = 0; r < UP8(filters); ++r)
        b[r] = 0.0f;
    const int end = min(first + SPREAD, window), rest = (end - first) % 16;
    const int few = window >= 16 && rest <= 8 ? rest : 0;   // taps for a last block of 8 instead of 16
    const int some = max(1, 64 / units);            // samples whose rows stay in the L1 cache
    for (int n = 0; n < batch; n += some) {
        __global const float *xs = x + n * x_sample, *ds = dz + n * dz_sample;
        const int samples = min(some, batch - n);
        for (int k = first; window >= 16 && k < end - few; k += 16)
            for (int r = 0; r < filters; r += 4)
                add_taps(xs + min(k, window - 16), x_sample, step, ds + r, dz_sample, window_out,
                         filters - 1 - r, samples, units, g + r * SPREAD + k - first);
        for (int r = 0; few > 0 && r < filters; r += 8)
            add_last_taps(xs + window - 8, x_sample, step, ds + r, dz_sample, window_out, filters - 1 - r,
                          samples, units, g + r * SPREAD + end - few - first);
        if (first == 0) add_biases(ds, dz_sample, window_out, filters, samples, units, b);
    }
    if (window < 16) {
        for (int r = 0; r < filters; r += 8)
            for (int k = 0; k < window; k += 8)
                add_filters(x + k, x_sample, step, window - 1 - k, dz + r, dz_sample, window_out, filters - r,
                            batch, units, g + r * SPREAD + k);
        return;
    }
    const int early = (few > 0 ? 8 : 16) - rest;    // the last block began so many taps early, to be whole
    for (int r = 0; rest > 0 && r < filters; ++r)
        for (int t = end - first - rest; t < end - first; ++t)
            g[r * SPREAD + t] = g[r * SPREAD + t + early];
}

// Filters of a work-item: 32 where dz is long, so that it is read in whole lines, and enough work-items are
// left; the others then have nothing to do.
static int filters_each(const int samples, const int window, const int window_out, const int variables)
{
    const int items = (window + SPREAD - 1) / SPREAD * ((window_out + 31) / 32) * variables;
    return samples >= 2048 && items >= 8 ? 32 : 8;
}

// group: 1, 1, 1
// grid: window/64, window_out/8, variables
__kernel void WeightGradientConvCPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *dw,         // [variables, window_out, window]
    __global float *db,         // [variables, window_out]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    const int first = SPREAD * get_global_id(0), f = 8 * get_global_id(1), v = get_global_id(2);
    const int many = filters_each(batch * units, window, window_out, variables);
    if (f % many > 0) return;
    const int filter = v * window_out + f, filters = min(many, window_out - f);
    const int taps = min(SPREAD, window - first);
    float g[32 * SPREAD], bias[32];
    x += v * length;
    dz += v * units * window_out + f;
    weight_sums(x, variables * length, step, first, window, dz, variables * units * window_out, window_out,
                filters, batch, units, g, bias);
    for (int j = 0; j < filters; ++j)
        for (int k = 0; k < taps; k += 8) {
            __global float *to = dw + (filter + j) * window + first + k;
            store8(load8(to, taps - k) + vload8(0, g + j * SPREAD + k), to, taps - k);
        }
    for (int j = 0; first == 0 && j < filters; j += 8) {
        __global float *to = db + filter + j;
        store8(load8(to, filters - j) + vload8(0, bias + j), to, filters - j);
    }
}

// group: 1, 1, 1
// grid: window/64, window_out/8, variables
__kernel void UpdateWeightsConvAdamCPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *w,          // [variables, window_out, window]
    __global float *b,          // [variables, window_out]
    __global float *w_m,        // [variables, window_out, window]
    __global float *w_v,        // [variables, window_out, window]
    __global float *b_m,        // [variables, window_out]
    __global float *b_v,        // [variables, window_out]
    __global const float *hyper, // [9]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    const int first = SPREAD * get_global_id(0), f = 8 * get_global_id(1), v = get_global_id(2);
    const int many = filters_each(batch * units, window, window_out, variables);
    if (f % many > 0) return;
    const int filter = v * window_out + f, filters = min(many, window_out - f);
    const int taps = min(SPREAD, window - first);
    float g[32 * SPREAD], bias[32];
    x += v * length;
    dz += v * units * window_out + f;
    weight_sums(x, variables * length, step, first, window, dz, variables * units * window_out, window_out,
                filters, batch, units, g, bias);
    for (int j = 0; j < filters; ++j)
        for (int k = 0; k < taps; k += 8) {
            const int at = (filter + j) * window + first + k;
            adam8(w + at, w_m + at, w_v + at, vload8(0, g + j * SPREAD + k), taps - k, hyper);
        }
    for (int j = 0; first == 0 && j < filters; j += 8) {
        const int at = filter + j;
        adam8(b + at, b_m + at, b_v + at, vload8(0, bias + j), filters - j, hyper);
    }
}

// --- GPU -----------------------------------------------------------------------------------------

#define TILE 64     // results per side of a work-group's tile, 4 x 4 per work-item
#define DEPTH 16    // terms per pass over a tile
#define PITCH (TILE + 4)

// group: 16, 16, 1
// grid: window_out/64*16, batch*units/64*16, variables
__kernel void FeedForwardConvGPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *w,    // [variables, window_out, window]
    __global const float *b,    // [variables, window_out]
    __global float *y,          // [batch, variables, units, window_out]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step, const int activation)
{
    __local float x_tile[DEPTH * PITCH], w_tile[DEPTH * PITCH];
    const int lx = get_local_id(0), ly = get_local_id(1), v = get_group_id(2), rows = batch * units;
    const int row = TILE * get_group_id(1), filter = TILE * get_group_id(0);
    int x_at[4], w_at[4];                           // what this work-item loads
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int r = min(row + ly + 16 * j, rows - 1), f = min(filter + ly + 16 * j, window_out - 1);
        x_at[j] = (r / units * variables + v) * length + r % units * step;
        w_at[j] = (v * window_out + f) * window;
    }
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < window; k0 += DEPTH) {
        const bool inside = k0 + lx < window;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            x_tile[lx * PITCH + ly + 16 * j] = inside ? x[x_at[j] + k0 + lx] : 0.0f;
            w_tile[lx * PITCH + ly + 16 * j] = inside ? w[w_at[j] + k0 + lx] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 p = vload4(ly, x_tile + k * PITCH), q = vload4(lx, w_tile + k * PITCH);
            sum[0] += p.s0 * q;
            sum[1] += p.s1 * q;
            sum[2] += p.s2 * q;
            sum[3] += p.s3 * q;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + 4 * ly + i;
        if (r >= rows) break;
        const int out = ((r / units * variables + v) * units + r % units) * window_out;
        float z[4];
        vstore4(sum[i], 0, z);
        for (int j = 0; j < 4; ++j) {
            const int f = filter + 4 * lx + j;
            if (f < window_out) y[out + f] = activate(z[j] + b[v * window_out + f], activation);
        }
    }
}

// Gradients of 16 filters x 16 taps in a work-group of 16 x 16; with k = window, of 16 biases in column 0.
// Each of 16 lanes sums every 16th row, 4 x 4 weights per work-item; then the lanes are added in order.
static float weight_tile(
    __global const float *x, __global const float *dz, const int v, const int k, const int f,
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step, __local float *part)
{
    const int lx = get_local_id(0), lane = get_local_id(1);
    const int tap = 4 * (lx % 4), filter = 4 * (lx / 4);
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int r = lane; r < batch * units; r += 16) {
        const int nv = r / units * variables + v, u = r % units;
        float xs[4], ds[4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            xs[j] = k < window ? x[nv * length + u * step + min(k + tap + j, window - 1)] : 1.0f;
            ds[j] = dz[(nv * units + u) * window_out + min(f + filter + j, window_out - 1)];
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j)
            sum[j] += ds[j] * vload4(0, xs);
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        vstore4(sum[j], 0, part + lane * 256 + (filter + j) * 16 + tap);
    barrier(CLK_LOCAL_MEM_FENCE);
    float g = 0.0f;
    for (int i = 0; i < 16; ++i)
        g += part[i * 256 + lane * 16 + lx];        // filter `lane`, tap `lx`
    return g;
}

// group: 16, 16, 1
// grid: window/16*16 + 16, window_out/16*16, variables
__kernel void WeightGradientConvGPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *dw,         // [variables, window_out, window]
    __global float *db,         // [variables, window_out]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    __local float part[16 * 256];
    const int first = 16 * get_group_id(0), v = get_group_id(2);
    const float g = weight_tile(x, dz, v, first, 16 * get_group_id(1), batch, variables, length, window,
                                units, window_out, step, part);
    const int k = get_global_id(0), f = get_global_id(1), filter = v * window_out + f;
    if (f >= window_out) return;
    if (k < window) dw[filter * window + k] += g;
    else if (first >= window && k == first) db[filter] += g;
}

// group: 16, 16, 1
// grid: window/16*16 + 16, window_out/16*16, variables
__kernel void UpdateWeightsConvAdamGPU(
    __global const float *x,    // [batch, variables, length]
    __global const float *dz,   // [batch, variables, units, window_out]
    __global float *w,          // [variables, window_out, window]
    __global float *b,          // [variables, window_out]
    __global float *w_m,        // [variables, window_out, window]
    __global float *w_v,        // [variables, window_out, window]
    __global float *b_m,        // [variables, window_out]
    __global float *b_v,        // [variables, window_out]
    __global const float *hyper, // [9]
    const int batch, const int variables, const int length, const int window, const int units,
    const int window_out, const int step)
{
    __local float part[16 * 256];
    const int first = 16 * get_group_id(0), v = get_group_id(2);
    const float g = weight_tile(x, dz, v, first, 16 * get_group_id(1), batch, variables, length, window,
                                units, window_out, step, part);
    const int k = get_global_id(0), f = get_global_id(1), filter = v * window_out + f;
    const int at = filter * window + k;
    if (f >= window_out) return;
    if (k < window) adam(w + at, w_m + at, w_v + at, g, hyper);
    else if (first >= window && k == first) adam(b + filter, b_m + filter, b_v + filter, g, hyper);
}
