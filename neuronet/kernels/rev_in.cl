// rev_in.cl: reversible instance normalisation: each feature of a sample over its own units (time).
//
//   RevIN         y[b,u,f] = gamma[f] * (x[b,u,f] - mean[b,f]) / deviation[b,f] + beta[f]
//   RevINDenorm   x[b,u,c] = (y[b,u,c] - beta[f]) / gamma[f] * deviation[b,f] + mean[b,f]
//
// with deviation = sqrt(variance + eps) over the units, and f = feature + c.
// Kim et al., ICLR 2022, "Reversible Instance Normalization for Accurate Time-Series Forecasting".
//
// Used by   ops/rev_in.py        Checked against   reference/rev_in.py
// NeuroNet  RevInFeedForward, RevInHiddenGraddient: RevINDenorm; errata F14
// Overwrites mean, deviation, y, x, dx, dy, sums, dmean, ddeviation; adds to dgamma and dbeta.

#define UNITS 8   // per work-item, where each does the same to its units

// --- RevIN -------------------------------------------------------------------------------

// grid: window, batch
__kernel void RevInStatistics(
    __global const float *x,            // [batch, units, window]
    __global float *mean,               // [batch, window]
    __global float *deviation,          // [batch, window]
    const int units, const int window, const float eps)
{
    const int f = get_global_id(0), b = get_global_id(1);
    x += b * units * window + f;
    float sum = 0.0f, squares = 0.0f;
    for (int u = 0; u < units; ++u)
        sum += x[u * window];
    const float m = sum / units;
    for (int u = 0; u < units; ++u)
        squares += (x[u * window] - m) * (x[u * window] - m);
    mean[b * window + f] = m;
    deviation[b * window + f] = sqrt(squares / units + eps);
}

// grid: window, units/8, batch
__kernel void RevInNormalize(
    __global const float *x,            // [batch, units, window]
    __global const float *mean,         // [batch, window]
    __global const float *deviation,    // [batch, window]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *y,                  // [batch, units, window]
    const int units, const int window)
{
    const int f = get_global_id(0), first = get_global_id(1) * UNITS, b = get_global_id(2);
    const float m = mean[b * window + f], scale = gamma[f] / deviation[b * window + f], shift = beta[f];
    x += b * units * window + f;
    y += b * units * window + f;
    for (int u = first; u < min(units, first + UNITS); ++u)
        y[u * window] = (x[u * window] - m) * scale + shift;
}

// sums[b,0] = sum of dy, sums[b,1] = sum of dy * nx, over the units.
// grid: window, batch
__kernel void RevInGradientSums(
    __global const float *x,            // [batch, units, window]
    __global const float *dy,           // [batch, units, window]
    __global const float *mean,         // [batch, window]
    __global const float *deviation,    // [batch, window]
    __global float *sums,               // [batch, 2, window]
    const int units, const int window)
{
    const int f = get_global_id(0), b = get_global_id(1);
    const float m = mean[b * window + f];
    x += b * units * window + f;
    dy += b * units * window + f;
    float s0 = 0.0f, s1 = 0.0f;
    for (int u = 0; u < units; ++u) {
        s0 += dy[u * window];
        s1 += dy[u * window] * (x[u * window] - m);
    }
    sums[2 * b * window + f] = s0;
    sums[(2 * b + 1) * window + f] = s1 / deviation[b * window + f];
}

// dmean and ddeviation are what RevINDenorm adds through the statistics; 0 without one.
// grid: window, units/8, batch
__kernel void RevInNormalizeGradient(
    __global const float *x,            // [batch, units, window]
    __global const float *dy,           // [batch, units, window]
    __global const float *mean,         // [batch, window]
    __global const float *deviation,    // [batch, window]
    __global const float *gamma,        // [window]
    __global const float *sums,         // [batch, 2, window]
    __global const float *dmean,        // [batch, window]
    __global const float *ddeviation,   // [batch, window]
    __global float *dx,                 // [batch, units, window]
    const int units, const int window)
{
    const int f = get_global_id(0), first = get_global_id(1) * UNITS, b = get_global_id(2);
    const int s = b * window + f;
    const float m = mean[s], inverse = 1.0f / deviation[s], scale = gamma[f] * inverse;
    const float shift = (dmean[s] - scale * sums[2 * b * window + f]) / units;
    const float slope = (ddeviation[s] - scale * sums[(2 * b + 1) * window + f]) * inverse / units;
    x += b * units * window + f;
    dy += b * units * window + f;
    dx += b * units * window + f;
    for (int u = first; u < min(units, first + UNITS); ++u)
        dx[u * window] = scale * dy[u * window] + shift + slope * (x[u * window] - m);
}

// grid: window
__kernel void RevInWeightGradient(
    __global const float *sums,         // [batch, 2, window]
    __global float *dgamma,             // [window]
    __global float *dbeta,              // [window]
    const int batch, const int window)
{
    const int f = get_global_id(0);
    float s0 = 0.0f, s1 = 0.0f;
    for (int b = 0; b < batch; ++b) {
        s0 += sums[2 * b * window + f];
        s1 += sums[(2 * b + 1) * window + f];
    }
    dbeta[f] += s0;
    dgamma[f] += s1;
}

// --- RevINDenorm ---------------------------------------------------------------------------

// grid: columns, units/8, batch
__kernel void RevInFeedForward(
    __global const float *y,            // [batch, units, columns]
    __global const float *mean,         // [batch, window]
    __global const float *deviation,    // [batch, window]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *x,                  // [batch, units, columns]
    const int units, const int columns, const int window, const int feature)
{
    const int c = get_global_id(0), first = get_global_id(1) * UNITS, b = get_global_id(2), f = feature + c;
    const float m = mean[b * window + f], scale = deviation[b * window + f] / gamma[f], shift = beta[f];
    x += b * units * columns + c;
    y += b * units * columns + c;
    for (int u = first; u < min(units, first + UNITS); ++u)
        x[u * columns] = (y[u * columns] - shift) * scale + m;
}

// grid: columns, units/8, batch
__kernel void RevInHiddenGradient(
    __global const float *dx,           // [batch, units, columns]
    __global const float *deviation,    // [batch, window]
    __global const float *gamma,        // [window]
    __global float *dy,                 // [batch, units, columns]
    const int units, const int columns, const int window, const int feature)
{
    const int c = get_global_id(0), first = get_global_id(1) * UNITS, b = get_global_id(2), f = feature + c;
    const float scale = deviation[b * window + f] / gamma[f];
    dx += b * units * columns + c;
    dy += b * units * columns + c;
    for (int u = first; u < min(units, first + UNITS); ++u)
        dy[u * columns] = dx[u * columns] * scale;
}

// Columns of dmean and ddeviation that are not forecast stay as they are.
// grid: columns, batch
__kernel void RevInStatisticsGradient(
    __global const float *y,            // [batch, units, columns]
    __global const float *dx,           // [batch, units, columns]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *dmean,              // [batch, window]
    __global float *ddeviation,         // [batch, window]
    const int units, const int columns, const int window, const int feature)
{
    const int c = get_global_id(0), b = get_global_id(1), f = feature + c;
    y += b * units * columns + c;
    dx += b * units * columns + c;
    float s0 = 0.0f, s1 = 0.0f;
    for (int u = 0; u < units; ++u) {
        s0 += dx[u * columns];
        s1 += dx[u * columns] * (y[u * columns] - beta[f]);
    }
    dmean[b * window + f] = s0;
    ddeviation[b * window + f] = s1 / gamma[f];
}

// grid: columns
__kernel void RevInDenormWeightGradient(
    __global const float *deviation,    // [batch, window]
    __global const float *gamma,        // [window]
    __global const float *dmean,        // [batch, window]
    __global const float *ddeviation,   // [batch, window]
    __global float *dgamma,             // [window]
    __global float *dbeta,              // [window]
    const int batch, const int window, const int columns, const int feature)
{
    const int f = feature + get_global_id(0);
    float s0 = 0.0f, s1 = 0.0f;
    for (int b = 0; b < batch; ++b) {
        s0 += deviation[b * window + f] * dmean[b * window + f];
        s1 += deviation[b * window + f] * ddeviation[b * window + f];
    }
    dbeta[f] -= s0 / gamma[f];
    dgamma[f] -= s1 / gamma[f];
}
