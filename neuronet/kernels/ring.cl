// ring.cl: the last ``capacity`` rows of a stream, a new one in place of the oldest.
//
// count[0] is how many rows have come in all; row t lies in slot t % capacity.
//
// Used by   ops/ring.py          Checked against   reference/ring.py

// grid: window, batch
__kernel void RingAppend(
    __global const float *row,      // [batch, window]
    __global const int *count,      // [1]
    __global float *memory,         // [batch, capacity, window]   one row is written
    const int window, const int capacity)
{
    const int k = get_global_id(0), n = get_global_id(1);
    memory[(n * capacity + count[0] % capacity) * window + k] = row[n * window + k];
}

// What attention needs to know of the row that comes now: it is seen, and newer than all others.
// grid: queries, batch
__kernel void RingSeen(
    __global const int *count,      // [1]
    __global int *limits,           // [batch, queries, pair]   pair = 2: from, up to
    __global float *ages,           // [batch, capacity]        the row's is written
    const float step,               // by which a row is newer than the one before
    const int queries, const int pair, const int capacity)
{
    const int q = get_global_id(0), n = get_global_id(1);
    limits[(n * queries + q) * pair] = 0;
    limits[(n * queries + q) * pair + 1] = min(count[0] + 1, capacity);
    if (q == 0) ages[n * capacity + count[0] % capacity] = -step * (float)count[0];
}

// grid: 1
__kernel void RingAdvance(
    __global int *count)            // [1]
{
    count[0] += 1;
}
