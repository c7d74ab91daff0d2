// channel_correlation.cl: a loss that keeps like channels open in the mask.
//
//   E[i,j]  = exp(c[i,j] / tau)      P[i] = sum_j E[i,j] m[i,j]      S[i] = sum_j E[i,j]
//   value   = weight (-mean_i log(P[i] / S[i]) + regular / (units (units - 1)) sum_{i != j} |m[i,j]|)
//
// for each row. c are cosines, as MaskAttentionComplex makes them; m[i,i] is 1 whatever the mask says.
//
// Used by   ops/channel_correlation.py      Checked against   reference/channel_correlation.py
// Source    Wu et al., CATCH, arXiv:2410.12261 (its channel correlation discovering). NeuroNet has none;
//           errata C19.
// Overwrites value, dcosines and dmask.

static float opened(__global const float *mask, const int i, const int j) { return i == j ? 1.0f : mask[j]; }

// P and S of one channel, of E divided by its largest
static float2 sums_of(__global const float *c, __global const float *mask, const int i, const int units,
                      const float tau, float *top)
{
    float2 sums = 0.0f;
    *top = c[0];
    for (int j = 1; j < units; ++j)
        *top = fmax(*top, c[j]);
    for (int j = 0; j < units; ++j) {
        const float e = exp((c[j] - *top) / tau);
        sums += (float2)(e * opened(mask, i, j), e);
    }
    return sums;
}

// -log(P / S) of each channel, then how many are open, of the row's work-items
// group: 32, 1
// grid: 32, rows
__kernel void ChannelCorrelation(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *value,          // [rows]
    const int units, const float tau, const float regular, const float weight)
{
    __local float clusters[32], opens[32];
    const int lane = get_local_id(0), r = get_global_id(1);
    float cluster = 0.0f, open = 0.0f, top;
    for (int i = lane; i < units; i += 32) {
        const int at = (r * units + i) * units;
        const float2 sums = sums_of(cosines + at, mask + at, i, units, tau, &top);
        cluster -= log(sums.x / sums.y);
        for (int j = 0; j < units; ++j)
            open += i == j ? 0.0f : fabs(mask[at + j]);
    }
    clusters[lane] = cluster;
    opens[lane] = open;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = 16; rest > 0; rest /= 2) {
        if (lane < rest) {
            clusters[lane] += clusters[lane + rest];
            opens[lane] += opens[lane + rest];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int pairs = max(1, units * (units - 1));              // none for one channel: the loss is 0
    if (lane == 0) value[r] = weight * (clusters[0] / units + regular * opens[0] / pairs);
}

// dcosines = dvalue/dc, dmask = dvalue/dm
// grid: units, rows
__kernel void ChannelCorrelationGradients(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *dcosines,       // [rows, units, units]
    __global float *dmask,          // [rows, units, units]
    const int units, const float tau, const float regular, const float weight)
{
    const int i = get_global_id(0), at = (get_global_id(1) * units + i) * units;
    const int pairs = max(1, units * (units - 1));
    float top;
    const float2 sums = sums_of(cosines + at, mask + at, i, units, tau, &top);
    for (int j = 0; j < units; ++j) {
        const float e = exp((cosines[at + j] - top) / tau), m = opened(mask + at, i, j);
        dcosines[at + j] = weight / (units * tau) * e * (1.0f / sums.y - m / sums.x);
        dmask[at + j] = i == j ? 0.0f : weight * (regular * sign(m) / pairs - e / sums.x / units);
    }
}

// --- CPU: 8 channels in the lanes -----------------------------------------------------------------------

#define LANES8 (int8)(0, 1, 2, 3, 4, 5, 6, 7)

// E of 8 channels from j on, divided by its largest; 0 behind the last
static float8 e8(__global const float *c, const int j, const int units, const float top, const float rate)
{
    const float8 e = exp((load8(c + j, units - j) - top) * rate);
    return units - j >= 8 ? e : LANES8 < units - j ? e : (float8)0.0f;
}

static float8 opened8(__global const float *mask, const int i, const int j, const int units)
{
    const float8 m = load8(mask + j, units - j);
    return i < j || i >= j + 8 ? m : LANES8 == i - j ? (float8)1.0f : m;
}

static float2 sums_of8(__global const float *c, __global const float *mask, const int i, const int units,
                       const float rate, float *top, float8 *open)
{
    float high = c[0];
    for (int j = 1; j < units; ++j)
        high = fmax(high, c[j]);
    *top = high;
    float8 inside = 0.0f, all = 0.0f;
    for (int j = 0; j < units; j += 8) {
        const float8 e = e8(c, j, units, high, rate), m = opened8(mask, i, j, units);
        inside += e * m;
        all += e;
        *open += fabs(m);
    }
    return (float2)(sum8(inside), sum8(all));
}

// group: 1
// grid: rows
__kernel BY8 void ChannelCorrelationCPU(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *value,          // [rows]
    const int units, const float tau, const float regular, const float weight)
{
    const int r = get_global_id(0), pairs = max(1, units * (units - 1));
    float cluster = 0.0f, top;
    float8 open = 0.0f;
    for (int i = 0; i < units; ++i) {
        const int at = (r * units + i) * units;
        const float2 sums = sums_of8(cosines + at, mask + at, i, units, 1.0f / tau, &top, &open);
        cluster -= log(sums.x / sums.y);
    }
    value[r] = weight * (cluster / units + regular * (sum8(open) - units) / pairs);
}

// group: 1
// grid: rows
__kernel BY8 void ChannelCorrelationGradientsCPU(
    __global const float *cosines,  // [rows, units, units]
    __global const float *mask,     // [rows, units, units]
    __global float *dcosines,       // [rows, units, units]
    __global float *dmask,          // [rows, units, units]
    const int units, const float tau, const float regular, const float weight)
{
    const int pairs = max(1, units * (units - 1));
    const float rate = 1.0f / tau, per_pair = weight * regular / pairs;
    for (int i = 0; i < units; ++i) {
        const int at = ((int)get_global_id(0) * units + i) * units;
        float top;
        float8 open = 0.0f;
        const float2 sums = sums_of8(cosines + at, mask + at, i, units, rate, &top, &open);
        for (int j = 0; j < units; j += 8) {
            const float8 e = e8(cosines + at, j, units, top, rate), m = opened8(mask + at, i, j, units);
            store8(weight / (units * tau) * e * (1.0f / sums.y - m / sums.x), dcosines + at + j, units - j);
            store8(per_pair * sign(m) - weight / units * e / sums.x, dmask + at + j, units - j);
        }
        dmask[at + i] = 0.0f;
    }
}
