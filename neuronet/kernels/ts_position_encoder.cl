// ts_position_encoder.cl: harmonics of where a time lies in each of several periods.
//
//   y[r,p,j] = x[r,p,j] + (sin a, cos a)     a = 2 pi 2^j phases[r,p]     j = 0 ... freqs - 1
//
// Used by   ops/ts_position_encoder.py   Checked against   reference/ts_position_encoder.py
// NeuroNet  CNeuronTSPositionEncoder, whose source is not public
// A phase is a share of a period; 2^j times it, and whole turns off that, are exact in float. y may be x.

#define TWO_PI 6.283185307179586f

static float angle_of(const float phase, const int j)
{
    const float turns = phase * (float)(1 << j);
    return TWO_PI * (turns - rint(turns));
}

// grid: freqs, periods, rows
__kernel void TimeHarmonics(
    __global const float *x,        // [rows, periods, freqs, 2]
    __global const float *phases,   // [rows, periods]
    __global float *y,              // [rows, periods, freqs, 2]
    const int periods, const int freqs)
{
    const int j = get_global_id(0), rp = get_global_id(2) * periods + get_global_id(1);
    const int at = 2 * (rp * freqs + j);
    const float angle = angle_of(phases[rp], j);
    y[at] = x[at] + sin(angle);
    y[at + 1] = x[at + 1] + cos(angle);
}

// grid: periods, rows
__kernel void TimeHarmonicsGradient(
    __global const float *phases,   // [rows, periods]
    __global const float *dy,       // [rows, periods, freqs, 2]
    __global float *dphases,        // [rows, periods]
    const int periods, const int freqs)
{
    const int rp = get_global_id(1) * periods + get_global_id(0);
    float sum = 0.0f;
    for (int j = 0; j < freqs; ++j) {
        const int at = 2 * (rp * freqs + j);
        const float angle = angle_of(phases[rp], j);
        sum += TWO_PI * (float)(1 << j) * (cos(angle) * dy[at] - sin(angle) * dy[at + 1]);
    }
    dphases[rp] = sum;
}

#define PAIRS 512   // of a sine and a cosine per work-item

// group: 1
// grid: rows*periods*freqs/512
__kernel void TimeHarmonicsCPU(
    __global const float *x,        // [rows, periods, freqs, 2]
    __global const float *phases,   // [rows, periods]
    __global float *y,              // [rows, periods, freqs, 2]
    const int rows, const int periods, const int freqs)
{
    const int first = PAIRS * get_global_id(0), end = min(first + PAIRS, rows * periods * freqs);
    int rp = first / freqs, j = first % freqs;      // of the next pair
    for (int i = first; i < end; i += 8) {
        const int count = min(8, end - i);
        float angle[8] = {0.0f}, pair[16];
        for (int k = 0; k < count; ++k) {
            angle[k] = angle_of(phases[rp], j);
            if (++j == freqs) {
                j = 0;
                ++rp;
            }
        }
        const float8 a = vload8(0, angle), s = sin(a), c = cos(a);
        vstore8((float8)(s.s0, c.s0, s.s1, c.s1, s.s2, c.s2, s.s3, c.s3), 0, pair);
        vstore8((float8)(s.s4, c.s4, s.s5, c.s5, s.s6, c.s6, s.s7, c.s7), 1, pair);
        for (int k = 2 * i; k < 2 * (i + count); ++k)
            y[k] = x[k] + pair[k - 2 * i];
    }
}
